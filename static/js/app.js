"use strict";

// The theme switch: the server keeps the choice, this shows it without a reload.
document.addEventListener("submit", (event) => {
  const form = event.target.closest("[data-theme-switch]");
  const chosen = event.submitter;
  if (!form || !chosen) return;
  document.documentElement.dataset.theme = chosen.value;
  for (const button of form.querySelectorAll("button")) {
    button.setAttribute("aria-pressed", String(button === chosen));
  }
});

// The answer stream: one at a time, with a button that stops it.
const asking = { form: null, connection: null };

function setAsking(form, busy) {
  form.toggleAttribute("data-asking", busy);
  document.getElementById("result")?.setAttribute("aria-busy", String(busy));
  const stop = document.getElementById("stop");
  if (stop) stop.hidden = !busy;
}

function say(text) {
  const status = document.getElementById("status");
  if (status) status.textContent = text;
}

document.addEventListener("htmx:before:request", (event) => {
  const form = event.target.closest?.("[data-ask-form]");
  if (!form || event.detail.ctx.sourceElement !== form) return;
  asking.connection?.reader?.cancel();
  asking.form = form;
  asking.connection = null;
  form.setAttribute("data-asked", "");
  const trouble = document.getElementById("connection-trouble");
  if (trouble) trouble.hidden = true;
  setAsking(form, true);
});

document.addEventListener("htmx:before:sse:connection", (event) => {
  if (event.target === asking.form) asking.connection = event.detail.connection;
});

document.addEventListener("htmx:sse:close", (event) => {
  // A stream that gave way to a newer one has nothing to say any more.
  if (event.target !== asking.form || event.detail.connection !== asking.connection) return;
  setAsking(asking.form, false);
  const ended = document.querySelector("#result [data-ended]");
  if (ended) return;
  const unfinished = document.getElementById("unfinished");
  if (unfinished) unfinished.hidden = false;
  say(unfinished?.dataset.announce ?? "");
});

for (const name of ["htmx:error", "htmx:response:error"]) {
  document.addEventListener(name, (event) => {
    if (asking.form && event.detail.ctx?.sourceElement === asking.form) {
      setAsking(asking.form, false);
      const trouble = document.getElementById("connection-trouble");
      if (trouble && name === "htmx:error") trouble.hidden = false;
    }
  });
}

document.addEventListener("click", (event) => {
  if (!event.target.closest("#stop")) return;
  asking.connection?.reader?.cancel();
});

// Enter asks, Shift+Enter makes a new line; an input method that is composing keeps its Enter.
document.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
  if (!event.target.matches("[data-enter-submits]")) return;
  event.preventDefault();
  event.target.form.requestSubmit();
});

// Ticking a class or a collection means "only these".
document.addEventListener("change", (event) => {
  const choices = event.target.closest("[data-narrows]");
  if (!choices) return;
  const only = document.querySelector(`input[name="${choices.dataset.narrows}"][value="chosen"]`);
  if (only) only.checked = true;
}, true);
