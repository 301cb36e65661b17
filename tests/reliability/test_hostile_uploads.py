"""Hostile inputs through the upload pages of a served site: no failure of the server, no death of a worker.

Each file is either refused on the spot by name, or stands on the page of its run with what became of it. The
sample runs with every test; all of them are `long`.
"""

from __future__ import annotations

import re
import stat
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.site.conftest import var  # noqa: F401 a fixture
from tests.reliability.browsing import Librarian, ServedSite, lines_of
from tests.reliability.conftest import Site
from tests.reliability.hostile import every_case
from tests.reliability.hostile.cases import Case
from tests.reliability.test_hostile import EXPENSIVE, NAMED

CASES = every_case()
# Those that use up what one file may cost are for the long test.
SLOW = (*EXPENSIVE, "tall", "rows", "emphasis", ".tex")
SAMPLE = [case for case in CASES[::9] if not any(word in case.name for word in SLOW)]
# What only the pages say, before a worker looks.
AT_THE_DOOR = NAMED | {"already_held", "no_file", "duplicate_name", "too_many_files"}
LOST = {"worker_lost", "internal_error"}
PATIENCE = 1_800.0


@pytest.fixture
def served(var: Path) -> Iterator[ServedSite]:  # noqa: F811
    site = Site(var, SCI_RAG_MAX_UPLOAD_MB="3", SCI_RAG_UPLOAD_MB_PER_DAY="100000")
    served = ServedSite(site)
    yield served
    served.close()
    site.close()


# Takes a minute and more on a busy machine; what the service makes of hostile files is tried in every run.
@pytest.mark.long
def test_a_sample_of_hostile_files_is_taken_or_refused_by_name_on_the_pages(
    served: ServedSite, tmp_path: Path
) -> None:
    assert len(SAMPLE) >= 30
    _survives(served, tmp_path, SAMPLE)


@pytest.mark.long
def test_every_hostile_file_is_taken_or_refused_by_name_on_the_pages(
    served: ServedSite, tmp_path: Path
) -> None:
    _survives(served, tmp_path, CASES)


def _survives(served: ServedSite, tmp_path: Path, cases: list[Case]) -> None:
    workers = served.workers()
    counts: Counter[str] = Counter()
    with Librarian(served.address) as librarian:
        troubles = list(_sent(librarian, tmp_path, cases, served, counts))
    print(f"{len(cases)} inputs, {len(librarian.statuses)} requests: {dict(counts)}")  # noqa: T201 - figures
    assert "\n".join(troubles) == ""
    assert [status for status in librarian.statuses if status >= 500] == []
    assert librarian.unnumbered == []
    assert served.site.ask("broken") == []
    assert served.is_alive()
    assert served.workers() == workers
    assert "Traceback" not in served.log.read_text(errors="replace")


def _sent(
    librarian: Librarian, tmp_path: Path, cases: list[Case], served: ServedSite, counts: Counter[str]
) -> Iterator[str]:
    """Send every case, wait for the runs, and yield what went wrong with which."""
    runs: set[str] = set()
    for number, case in enumerate(cases):
        folder = tmp_path / f"{number}"
        folder.mkdir()
        path = case.make(folder)
        if path.name == "manifest.jsonl":
            found = _of_manifest(librarian, path, runs)
        else:
            found = _of_file(librarian, path, runs, counts)
        yield from (f"{case.name}: {trouble}" for trouble in found)
    for run in sorted(runs):
        _wait_for(served, run)
        yield from _of_run(librarian, served, run, counts)


def _wait_for(served: ServedSite, run: str) -> None:
    """Wait until a run has ended; what is hostile may use up its limits first."""
    deadline = time.monotonic() + PATIENCE
    while served.site.ask("status", run)["state"] != "finished":
        assert time.monotonic() < deadline, served.site.ask("status", run)
        time.sleep(0.5)


def _of_file(librarian: Librarian, path: Path, runs: set[str], counts: Counter[str]) -> list[str]:
    """Send one file to the upload page and to the page for libraries; say what is wrong with the answers."""
    if not _can_be_sent(path):
        counts["no file that could be sent"] += 1
        return []
    name, content = bytes(path.name, "utf-8", "surrogateescape"), path.read_bytes()
    response = librarian.post(
        "/documents/upload/file/", [("files", name, content)], run=next(iter(sorted(runs)), "")
    )
    troubles = _of_library(librarian, name, content)
    lines = lines_of(response.text)
    if len(lines) != 1:
        return [*troubles, f"{response.status_code}, {len(lines)} lines"]
    counts[f"{lines[0].verdict} at the door"] += 1
    if lines[0].verdict != "accepted" and lines[0].code not in AT_THE_DOOR:
        troubles.append(f"is no named reason: {lines[0].words}")
    if run := re.search(r'data-run="([0-9a-f-]{36})"', response.text):
        runs.add(run[1])
    return troubles


def _of_library(librarian: Librarian, name: bytes, content: bytes) -> list[str]:
    """Look at the file as if it were a library, under its own name and as a ZIP."""
    response = librarian.post("/documents/upload/library/", [("library", name, content)])
    is_told = "preview-title" in response.text or 'role="alert"' in response.text
    return [] if is_told else [f"the page of libraries says nothing: {response.status_code}"]


def _of_manifest(librarian: Librarian, path: Path, runs: set[str]) -> list[str]:
    """Send a manifest with the files beside it and ask for its good lines."""
    files = [("manifest_file", b"manifest.jsonl", path.read_bytes())]
    files += [
        ("files", bytes(beside.name, "utf-8", "surrogateescape"), beside.read_bytes())
        for beside in path.parent.iterdir()
        if beside != path and _can_be_sent(beside)
    ]
    response = librarian.post("/documents/upload/manifest/", files, do="take_good")
    if run := re.search(r"/runs/([0-9a-f-]{36})/", response.text):
        runs.add(run[1])
        return []
    is_told = '<p class="problem"><code>' in response.text or 'role="alert"' in response.text
    return [] if is_told else [f"{response.status_code}, and nothing is said of it"]


def _can_be_sent(path: Path) -> bool:
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except OSError:
        return False


def _of_run(librarian: Librarian, served: ServedSite, run: str, counts: Counter[str]) -> list[str]:
    """Read the page of a run that has ended; say what is missing on it."""
    status = served.site.ask("status", run)
    told = librarian.files_of(run)
    troubles = []
    if len(told) != sum(status["outcomes"].values()):
        troubles.append(f"the page of run {run} shows {len(told)} of {status['outcomes']}")
    if status["most_attempts"] > 1 or LOST & set(status["reasons"]):
        troubles.append(f"a worker was lost: {status}")
    for file in told:
        counts[f"{file.verdict} {file.code}".strip()] += 1
        if file.verdict == "failed" and file.code not in NAMED:
            troubles.append(f"is no named reason on the run page: {file.words}")
        if file.verdict not in ("failed", "ready", "duplicate", "needs_ocr"):
            troubles.append(f"has not ended: {file.words}")
    return troubles
