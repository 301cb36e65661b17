"""A site of its own for each test: database server, workers, and a process to ask."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from reportlab.pdfgen.canvas import Canvas

from tests.integration.site.conftest import ROOT, var  # noqa: F401 a fixture
from tests.loopback.prepared_site import copy_prepared

FILES = 40
PATIENCE = 240.0


class Site:
    """A site on one machine: everything it keeps lies below `folder`, which is empty."""

    def __init__(self, folder: Path, **settings: str) -> None:
        self.folder = folder
        self.environment = {
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "sci_rag_site.settings",
            "SCI_RAG_VAR_DIR": str(folder),
            "SCI_RAG_LEASE_SECONDS": "5",
            "SCI_RAG_LOG_LEVEL": "WARNING",
            "PYTHONPATH": str(ROOT),
            **settings,
        }
        self.workers: list[subprocess.Popen[bytes]] = []
        copy_prepared(folder)
        self._controller = subprocess.Popen(
            [sys.executable, "-m", "tests.reliability.controller"],
            cwd=ROOT, env=self.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip

    def ask(self, do: str, *arguments: Any) -> Any:
        """Let the controller do something and return what it says."""
        self._controller.stdin.write(json.dumps({"do": do, "with": arguments}) + "\n")
        self._controller.stdin.flush()
        return json.loads(self._controller.stdout.readline())

    def start_worker(self) -> subprocess.Popen[bytes]:
        """Start a real worker in a process group of its own."""
        with (self.folder / "worker.log").open("ab") as log:
            worker = subprocess.Popen(
                [sys.executable, "-m", "sci_rag_site.worker"],
                cwd=ROOT, env=self.environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                start_new_session=True,
            )  # fmt: skip
        self.workers.append(worker)
        return worker

    def kill(self, worker: subprocess.Popen[bytes]) -> None:
        """Kill a worker, its pool and what belongs to its group, without a word."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(worker.pid, signal.SIGKILL)
        worker.wait()
        self.workers.remove(worker)

    def postmaster(self) -> int:
        """Return the process of the database server."""
        return int((self.folder / "postgres" / "data" / "postmaster.pid").read_text().splitlines()[0])

    def until(self, run: str, **wanted: Any) -> dict[str, Any]:
        """Wait until the run's status says what is wanted."""
        deadline = time.monotonic() + PATIENCE
        while True:
            status = self.ask("status", run)
            if all(status[name] == value for name, value in wanted.items()):
                return status
            assert time.monotonic() < deadline, f"it did not happen in time: {status}, {self.ask('broken')}"
            time.sleep(0.2)

    def finish(self, run: str) -> dict[str, Any]:
        """Let workers end the run, and retry what fell to killed workers until everything is in."""
        worker = self.start_worker()
        while True:
            status = self.until(run, state="finished")
            if set(status["outcomes"]) == {"ready"}:
                break
            assert set(status["reasons"]) == {"worker_lost"}, status
            assert self.ask("retry", run) > 0
        self.kill(worker)
        return status

    def close(self) -> None:
        """End everything."""
        for worker in list(self.workers):
            self.kill(worker)
        self._controller.stdin.close()
        self._controller.wait(timeout=30)
        self._controller.stdout.close()


@pytest.fixture
def site(var: Path) -> Iterator[Site]:  # noqa: F811
    site = Site(var)
    yield site
    site.close()


@pytest.fixture(scope="session")
def papers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Forty small files of four kinds."""
    folder = tmp_path_factory.mktemp("papers")
    writers = (_text, _markdown, _html, _pdf)
    for number in range(FILES):
        writers[number % len(writers)](folder, number)
    return folder


def _sentences(number: int) -> list[str]:
    return [
        f"Straw was stored for {number} days in shed {number * 7} before it was weighed again.",
        f"Losses rose to {number + 2} percent where rain came through the roof.",
        f"The moisture of lot {number} stood at {number % 9 + 8} percent in the end.",
    ]


def _text(folder: Path, number: int) -> None:
    (folder / f"{number:02}.txt").write_text(f"Storage of lot {number}\n\n{' '.join(_sentences(number))}\n")


def _markdown(folder: Path, number: int) -> None:
    table = f"| Day | Loss |\n|---|---|\n| {number} | 2.5 |\n"
    text = "\n\n".join(
        [f"# Storage of lot {number}", "## 1 Methods", *_sentences(number), "## 2 Results", table]
    )
    (folder / f"{number:02}.md").write_text(text)


def _html(folder: Path, number: int) -> None:
    paragraphs = "".join(f"<p>{sentence}</p>" for sentence in _sentences(number))
    head = f"<head><title>Lot {number}</title></head>"
    body = f"<body><h1>Lot {number}</h1>{paragraphs}</body>"
    (folder / f"{number:02}.html").write_text(f"<!doctype html><html>{head}{body}</html>")


def _pdf(folder: Path, number: int) -> None:
    canvas = Canvas(str(folder / f"{number:02}.pdf"), invariant=True)
    canvas.setFont("Helvetica-Bold", 16)
    canvas.drawString(72, 760, f"Storage of lot {number}")
    canvas.setFont("Helvetica", 11)
    for line, sentence in enumerate(_sentences(number)):
        canvas.drawString(72, 720 - 16 * line, sentence)
    canvas.save()
