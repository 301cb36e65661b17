"use strict";

// Grading by number keys. Without this file the radio buttons and the button do the same by Tab, arrows and Enter.
const form = document.querySelector("[data-grading]");
const groups = [...form.querySelectorAll("[data-dimension]")];
let current = 0;

function isGraded(group) {
  return group.querySelector("input:checked") !== null;
}

function show(index) {
  current = Math.max(0, Math.min(index, groups.length - 1));
  groups.forEach((group, place) => group.toggleAttribute("data-current", place === current));
  groups[current].scrollIntoView({ block: "nearest" });
}

function grade(key) {
  const choice = groups[current].querySelector(`input[value="${key}"]`);
  if (!choice) return;
  choice.checked = true;
  choice.focus({ preventScroll: true });
  if (current < groups.length - 1) show(current + 1);
}

function isElsewhere(target) {
  return target.closest("input:not([type=radio]), textarea, select, summary, a, button") !== null;
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey || event.isComposing || isElsewhere(event.target)) return;
  if (["0", "1", "2"].includes(event.key)) {
    event.preventDefault();
    grade(event.key);
  } else if (event.key === "Backspace") {
    event.preventDefault();
    show(current - 1);
  } else if (event.key === "Enter" && !event.repeat) {
    event.preventDefault();
    form.requestSubmit();
  }
});

form.addEventListener("change", (event) => {
  show(groups.indexOf(event.target.closest("[data-dimension]")));
});

form.addEventListener("focusin", (event) => {
  const place = groups.indexOf(event.target.closest("[data-dimension]"));
  if (place !== -1 && event.target.matches(":focus-visible") && !isGraded(groups[place])) show(place);
});

form.querySelector("[data-keys]").hidden = false;
const first = groups.findIndex((group) => !isGraded(group));
show(first === -1 ? 0 : first);
