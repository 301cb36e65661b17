"use strict";

// Deciding by letter keys. Without this file the buttons do the same by Tab and Enter.
function isTyping(target) {
  return target.closest("input:not([type=hidden]), textarea, select") !== null;
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey || event.isComposing || event.repeat) return;
  if (isTyping(event.target)) return;
  const control = document.querySelector(`[data-key="${CSS.escape(event.key)}"]`);
  if (!control) return;
  event.preventDefault();
  control.click();
});

document.querySelector("[data-keys]")?.removeAttribute("hidden");
