"use strict";

// A queue by keyboard, without leaving the list. Without this file every button is a plain form.
// Which keys decide stands on the buttons of each row.
const OFF = "sci-rag-single-keys-off";
const find = (selector) => document.querySelector(selector);
const rows = () => [...document.querySelectorAll("[data-row]")];
let current = 0;
let sending = false;

function keysAreOff() {
  try {
    return localStorage.getItem(OFF) === "1";
  } catch {
    return false;
  }
}

function switchKeys(on) {
  try {
    localStorage.setItem(OFF, on ? "" : "1");
  } catch {
    // A browser that keeps nothing asks again on the next page.
  }
}

function mark(index) {
  const all = rows();
  current = Math.max(0, Math.min(index, all.length - 1));
  all.forEach((row, place) => row.toggleAttribute("data-current", place === current));
  return all[current];
}

function goTo(index) {
  const row = mark(index);
  row?.focus({ preventScroll: true });
  row?.scrollIntoView({ block: "nearest" });
}

function complain(text) {
  const line = find("[data-alert]");
  if (!line) return;
  line.textContent = text;
  line.hidden = !text;
}

// Sends a form and puts the list it leads to in the place of the one that is shown.
async function send(form, submitter) {
  if (sending) return;
  sending = true;
  const shown = find("[data-queue]");
  shown.setAttribute("aria-busy", "true");
  complain("");
  try {
    const answer = await fetch(form.action, { method: "POST", body: new FormData(form, submitter) });
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const next = page.querySelector("[data-queue]");
    if (!next) throw new Error("not the queue");
    shown.replaceWith(next);
    begin();
    const told = [...next.querySelectorAll("[data-message], [role=alert]:not([hidden])")];
    find("[data-status]").textContent = told.map((one) => one.textContent.trim()).join(" ");
    if (answer.status === 422) find("#id_evidence")?.focus();
    else if (rows().length) goTo(current);
    else next.querySelector(".empty-desk a")?.focus();
  } catch {
    shown.removeAttribute("aria-busy");
    complain(shown.dataset.trouble);
  } finally {
    sending = false;
  }
}

const boxes = () => [...document.querySelectorAll("[data-row] input[type=checkbox]")];

function isDecision(key) {
  return [...document.querySelectorAll("[data-row] [data-key]")].some((one) => one.dataset.key === key);
}

function press(key) {
  const selected = boxes().some((box) => box.checked);
  const everything = find("input[name=all_matching]")?.checked;
  const button = rows()[current]?.querySelector(`[data-key="${key}"]`);
  if (!selected && !everything) {
    button?.click();
    return;
  }
  find("[data-choice]").value = find(`[data-choice-key="${key}"]`)?.value ?? "";
  find("[data-preview]").click();
}

const ACTIONS = {
  j: () => goTo(current + 1),
  ArrowDown: () => goTo(current + 1),
  k: () => goTo(current - 1),
  ArrowUp: () => goTo(current - 1),
  x: () => rows()[current]?.querySelector("input[type=checkbox]")?.click(),
  "*": () => {
    const all = boxes().every((box) => box.checked);
    for (const box of boxes()) box.checked = !all;
  },
  u: () => find("[data-undo] button")?.click(),
  e: () => find("#id_evidence")?.focus(),
  o: () => rows()[current]?.querySelector("[data-open]")?.click(),
  n: () => find(".queue-pages [rel=next]")?.click(),
  p: () => find(".queue-pages [rel=prev]")?.click(),
  "/": () => find("[data-search]")?.focus(),
  "?": () => {
    const help = find("[data-help]");
    help.open = !help.open;
    help.querySelector("summary").focus();
  },
};

function isTyping(target) {
  return target.matches("textarea, select, input:not([type=checkbox])") || target.isContentEditable;
}

document.addEventListener("keydown", (event) => {
  if (!find("[data-queue]") || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  if (isTyping(event.target)) {
    if (event.key === "Escape") goTo(current);
    return;
  }
  const act = ACTIONS[event.key] ?? (isDecision(event.key) ? () => press(event.key) : null);
  if (!act || keysAreOff()) return;
  event.preventDefault();
  act();
});

document.addEventListener("submit", (event) => {
  const decides = event.target.matches("[data-decisions]") && event.submitter?.name === "one";
  if (!decides && !event.target.matches("[data-undo]")) return;
  event.preventDefault();
  const row = event.submitter.closest("[data-row]");
  if (row) mark(rows().indexOf(row));
  send(event.target, event.submitter);
});

document.addEventListener("focusin", (event) => {
  const row = event.target.closest("[data-row]");
  if (row) mark(rows().indexOf(row));
});

document.addEventListener("change", (event) => {
  if (event.target.closest("[data-switch]")) switchKeys(event.target.checked);
});

function begin() {
  const line = find("[data-switch]");
  if (!line) return;
  line.hidden = false;
  line.querySelector("input").checked = !keysAreOff();
  mark(current);
}

begin();
if (find("[data-queue]") && document.activeElement === document.body) goTo(0);
// What a decision does is read before it is made; then Enter makes it.
(find("[data-apply]") ?? find("[data-effects] textarea"))?.focus({ preventScroll: true });
