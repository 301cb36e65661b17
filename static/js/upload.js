"use strict";

// Files one by one, each with its own progress. Without this script the form sends them all at once.
(() => {
  const form = document.querySelector("[data-upload-form]");
  if (!form) return;

  const AT_ONCE = 2;
  const input = form.elements.files;
  const zone = form.querySelector("[data-drop-zone]");
  const list = form.querySelector("[data-lines]");
  const template = form.querySelector("[data-line-template]");
  const words = form.querySelector("[data-words]").dataset;
  const entries = [];
  let run = "";
  let active = 0;
  let started = false;

  form.noValidate = true;
  form.querySelector("[data-plain]").hidden = true;
  form.querySelector("[data-enhanced]").hidden = false;

  function fill(text, values) {
    return text.replace(/\{(\w+)\}/g, (_, name) => String(values[name]));
  }

  function summarise() {
    const count = (state) => entries.filter((entry) => entry.state === state).length;
    const waiting = count("chosen");
    const values = {
      all: entries.length,
      done: entries.length - waiting - count("sending"),
      accepted: count("accepted"),
      duplicate: count("duplicate"),
      refused: count("refused"),
    };
    const busy = active > 0;
    const text = fill(busy ? words.going : waiting ? words.waiting : words.done, values);
    form.querySelector("[data-summary]").textContent = text;
    form.querySelector("[data-chosen]").hidden = entries.length === 0;
    form.querySelector("[data-send]").disabled = busy;
    if (started) document.getElementById("status").textContent = text;
  }

  function add(file) {
    const line = template.content.firstElementChild.cloneNode(true);
    line.querySelector(".file-name").textContent = file.name;
    for (const part of line.querySelectorAll("[data-of]")) part.textContent = ` ${file.name}`;
    const entry = { file, line, state: "chosen" };
    line.querySelector("[data-remove]").addEventListener("click", () => {
      entries.splice(entries.indexOf(entry), 1);
      line.remove();
      summarise();
      input.focus();
    });
    line.querySelector("[data-again]").addEventListener("click", () => {
      show(entry, "chosen", "");
      line.querySelector("[data-again]").hidden = true;
      proceed();
    });
    entries.push(entry);
    list.append(line);
  }

  function choose(files) {
    for (const file of files) add(file);
    input.value = "";
    summarise();
  }

  function show(entry, state, verdict, detail) {
    entry.state = state;
    entry.line.className = `upload-line ${state}`;
    entry.line.querySelector(".verdict").textContent = verdict;
    entry.line.querySelector("progress").hidden = state !== "sending";
    entry.line.querySelector("[data-remove]").hidden = state !== "chosen";
    entry.line.querySelector(".detail")?.remove();
    if (detail) {
      const note = document.createElement("span");
      note.className = "detail";
      note.textContent = detail;
      entry.line.append(note);
    }
  }

  function settle(entry, request) {
    active -= 1;
    const parsed = new DOMParser().parseFromString(request.responseText, "text/html");
    const line = [200, 413, 422, 503].includes(request.status) ? parsed.querySelector("li.upload-line") : null;
    if (line) {
      entry.state = ["accepted", "duplicate"].find((name) => line.classList.contains(name)) ?? "refused";
      if (line.dataset.run) {
        run = line.dataset.run;
        const runLine = form.querySelector("[data-run-line]");
        runLine.hidden = false;
        runLine.firstElementChild.href = line.dataset.address;
      }
      const fresh = document.importNode(line, true);
      fresh.querySelector(".file-name").textContent = entry.file.name;
      entry.line.replaceWith(fresh);
      entry.line = fresh;
    } else {
      const answered = request.status === 507 ? words.noRoom : `${words.answered} ${request.status}`;
      const reason = request.status ? answered : words.broken;
      show(entry, "refused", words.refused, reason);
      entry.line.querySelector("[data-again]").hidden = false;
    }
    proceed();
  }

  function send(entry) {
    active += 1;
    show(entry, "sending", words.sending);
    const bar = entry.line.querySelector("progress");
    bar.value = 0;
    bar.setAttribute("aria-label", `${words.progress} ${entry.file.name}`);
    const body = new FormData(form);
    body.delete("files");
    // Last, so that whatever else is said is known when the file arrives.
    body.append("run", run);
    body.append("single", entries.length === 1 ? "1" : "");
    body.append("files", entry.file, entry.file.name);
    const request = new XMLHttpRequest();
    request.upload.addEventListener("progress", (event) => {
      if (event.lengthComputable) bar.value = (100 * event.loaded) / event.total;
    });
    request.upload.addEventListener("load", () => {
      bar.removeAttribute("value");
      entry.line.querySelector(".verdict").textContent = words.checking;
    });
    request.addEventListener("loadend", () => settle(entry, request));
    request.open("POST", form.dataset.fileAddress);
    request.send(body);
  }

  function proceed() {
    // Until the first accepted file has begun a run, one at a time: all are to join the same.
    while (active < (run ? AT_ONCE : 1)) {
      const next = entries.find((entry) => entry.state === "chosen");
      if (!next) break;
      if (next.file.size > Number(form.dataset.maxBytes)) show(next, "refused", words.refused, words.tooLarge);
      else send(next);
    }
    summarise();
  }

  input.addEventListener("change", () => choose([...input.files]));
  // Chosen before this script had loaded, or kept by the browser over a reload.
  if (input.files.length > 0) choose([...input.files]);

  for (const name of ["dragenter", "dragover"]) {
    zone.addEventListener(name, (event) => {
      if (!event.dataTransfer.types.includes("Files")) return;
      event.preventDefault();
      zone.classList.add("over");
    });
  }
  for (const name of ["dragleave", "drop"]) zone.addEventListener(name, () => zone.classList.remove("over"));
  zone.addEventListener("drop", (event) => {
    if (!event.dataTransfer.files.length) return;
    event.preventDefault();
    choose([...event.dataTransfer.files]);
  });

  form.addEventListener("submit", (event) => {
    if (!entries.length) return;
    event.preventDefault();
    started = true;
    proceed();
  });

  window.addEventListener("beforeunload", (event) => {
    if (active > 0) event.preventDefault();
  });
})();
