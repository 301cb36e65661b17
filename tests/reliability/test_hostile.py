"""Hostile inputs through the whole way of taking files in: each ends in a named reason or a bounded document.

Nothing crashes, nothing escapes its limits, nothing refused leaves a row behind, nothing reaches out of the
file, and the process that asked keeps its size. The sample runs with every test; all of them are `long`.
"""

from __future__ import annotations

from pathlib import Path
from time import monotonic

import pytest

from corpus.chunking import ChunkingLimits
from corpus.gateways.embedding import EmbeddingError
from corpus.ingestion import ingest
from corpus.inputs import Batch, NothingFound, from_manifest, from_paths
from corpus.intake import Options
from corpus.models import Chunk, Document
from corpus.parsing import sandbox
from corpus.parsing.registry import ParseLimits
from corpus.reports import Outcome, Report
from tests.contents import contents
from tests.integration.corpus.ingesting import HashEmbedder, paper, write
from tests.reliability.hostile import COUNT, every_case
from tests.reliability.hostile.cases import Case

pytestmark = pytest.mark.django_db

LIMITS = ParseLimits(max_bytes=3_000_000, wall_seconds=20, cpu_seconds=20, memory_bytes=700_000_000)
OPTIONS = Options(ChunkingLimits(), LIMITS)
# Beyond the parser: cutting, hashing and storing what one file may hold.
MOST_SECONDS = LIMITS.wall_seconds + 25
MOST_GROWTH = 150_000_000
CORPUS = ("corpus_document", "corpus_source", "corpus_chunk", "corpus_chunkembedding")
NAMED = {
    "missing_file", "empty_file", "too_large", "unsupported_file_type", "wrong_signature", "encrypted",
    "damaged", "too_many_pages", "nested_too_deep", "no_text", "time_limit", "memory_limit",
    "invalid_json", "not_an_object", "invalid_field", "unknown_license_class", "missing_title",
    "outside_folder", "duplicate_path", "unreadable", "unsafe_archive", "macros", "parser_missing",
}  # fmt: skip
CASES = every_case()
SAMPLE = CASES[::12]
EXPENSIVE = ("operators", "letters", "bomb", "swelling", "rules-200", "grid-of", "table-of")


@pytest.fixture(autouse=True)
def media(tmp_path: Path, settings) -> Path:
    settings.MEDIA_ROOT = tmp_path / "media"
    return settings.MEDIA_ROOT


def test_there_are_three_hundred_of_them_and_every_one_is_another():
    assert len(CASES) >= COUNT
    assert len({case.name for case in CASES}) == len(CASES)


def test_a_sample_of_hostile_inputs_is_refused_by_name_or_read_within_limits(tmp_path):
    sample = [case for case in SAMPLE if not any(word in case.name for word in EXPENSIVE)]
    assert "\n".join(_troubles(tmp_path, sample)) == ""


@pytest.mark.long
def test_every_hostile_input_is_refused_by_name_or_read_within_limits(tmp_path):
    assert "\n".join(_troubles(tmp_path, CASES)) == ""


def _troubles(tmp_path: Path, cases: list[Case]) -> list[str]:
    """Take every case in, one after another, and say what went wrong with which."""
    ingest(from_paths([write(tmp_path, "honest.md", paper("ninety days"))]), embedder=HashEmbedder())
    resident = _resident()
    found = []
    for number, case in enumerate(cases):
        folder = tmp_path / f"{number}"
        folder.mkdir()
        found += [f"{case.name}: {trouble}" for trouble in _troubles_of(case, folder)]
    sandbox.close_idle()
    growth = _resident() - resident
    if growth > MOST_GROWTH:
        found.append(f"this process grew by {growth / 1e6:.0f} MB")
    return found


def _troubles_of(case: Case, folder: Path) -> list[str]:
    before, started = contents(CORPUS), monotonic()
    try:
        reports = ingest(_batch(case.make(folder)), options=OPTIONS, embedder=HashEmbedder()).reports
    except NothingFound:
        reports = []
    except EmbeddingError as error:
        return [f"the embedder was asked for too much: {error}"]
    except Exception as error:  # noqa: BLE001 - any other is what this looks for
        return [f"{type(error).__name__}: {error}"[:300]]
    found = [trouble for report in reports[:50] for trouble in _of_report(report)]
    if monotonic() - started > MOST_SECONDS:
        found.append(f"took {monotonic() - started:.0f} s")
    if case.refused and [report.reason for report in reports] != [case.refused]:
        found.append(
            f"should be {case.refused}, is {[report.reason or report.outcome for report in reports]}"
        )
    if all(report.outcome == Outcome.FAILED for report in reports) and contents(CORPUS) != before:
        found.append("was refused and left rows behind")
    if Chunk.objects.filter(body__contains="root:x:0:0").exists():
        found.append("reached a file of the machine")
        Document.objects.filter(chunks__body__contains="root:x:0:0").delete()
    return found


def _batch(path: Path) -> Batch:
    return from_manifest(path) if path.name == "manifest.jsonl" else from_paths([path])


def _of_report(report: Report) -> list[str]:
    found = []
    if report.outcome == Outcome.FAILED and report.reason not in NAMED:
        found.append(f"is no named reason: {report.reason} {report.detail}")
    if "Traceback" in report.detail or "\n" in report.detail or len(report.detail) > 600:
        found.append(f"is not said in a sentence: {report.detail[:200]!r}")
    if report.outcome == Outcome.READY and not report.passages:
        found.append("is ready and has no passage")
    return found


def _resident() -> int:
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * 4096
