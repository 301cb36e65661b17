"""The pipeline: a document is stored whole or not at all, once, with its rights and its record."""

import json
import os
from pathlib import Path

import pytest
from django.conf import settings

from corpus import storage, vectors
from corpus.actions import documents as documents_actions
from corpus.egress import NOTHING_HELD
from corpus.gateways.embedding import EmbeddingError
from corpus.ingestion import default_options, ingest, rehearse, sweep_originals
from corpus.inputs import from_manifest, from_paths
from corpus.models import (
    Chunk,
    ChunkEmbedding,
    Document,
    IngestionItem,
    IngestionRun,
    RightsDecision,
    Source,
)
from corpus.reports import Outcome
from tests.integration.corpus.ingesting import OPTIONS, HashEmbedder, only, outcomes, paper, take, write

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def media(tmp_path: Path, settings) -> Path:
    settings.MEDIA_ROOT = tmp_path / "media"
    return settings.MEDIA_ROOT


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "in").mkdir()
    return tmp_path / "in"


def manifest(folder: Path, *rows: dict) -> Path:
    return write(folder, "manifest.jsonl", "\n".join(json.dumps(row) for row in rows))


def take_manifest(path: Path):
    return ingest(from_manifest(path), options=OPTIONS, embedder=HashEmbedder())


def test_a_document_is_stored_with_passages_vectors_original_and_record(folder):
    path = write(folder, "straw.md", paper("90 days"))
    embedder = HashEmbedder()

    report = take(path, embedder=embedder)

    item = only(report)
    document = Document.objects.get(pk=item.document)
    passages = list(document.chunks.order_by("ordinal"))
    assert item.outcome is Outcome.READY
    assert (document.title, document.state, document.license_class) == ("A paper", "ready", "unknown")
    assert document.chunk_count == len(passages) == item.passages == 3
    assert [passage.is_table for passage in passages] == [False, True, False]
    assert passages[0].content == "A paper\n1 Introduction\n\nStraw was stored for 90 days."
    assert embedder.embedded == [passage.content for passage in passages]
    assert ChunkEmbedding.objects.filter(document=document, version__is_active=True).count() == 3
    assert storage.path_of(document.file_sha256).read_bytes() == path.read_bytes()
    row = IngestionItem.objects.get(run=report.run)
    assert (row.outcome, row.document_id, row.path) == ("ready", document.pk, str(path))
    assert row.run.state == IngestionRun.State.FINISHED
    assert row.run.finished_at is not None


def test_passages_rank_by_document_then_place_the_same_after_a_new_ingest(folder):
    path = write(folder, "straw.md", paper("90 days"))

    def ranks() -> list[tuple[int, int]]:
        passages = Document.objects.get(pk=only(take(path)).document).chunks
        return list(passages.order_by("ordinal").values_list("ordinal", "rank_key"))

    first = ranks()
    Document.objects.all().delete()

    assert first == ranks()
    assert [key for _, key in sorted(first)] == sorted(key for _, key in first)
    assert all(0 < key < 2**63 for _, key in first)


def test_a_second_run_changes_nothing(folder):
    write(folder, "a.md", paper("90 days"))
    write(folder, "b.md", paper("30 days"))
    first = take(folder)
    before = (Document.objects.count(), Chunk.objects.count(), ChunkEmbedding.objects.count())
    embedder = HashEmbedder()

    second = take(folder, embedder=embedder)

    assert [item.outcome for item in second.reports] == [Outcome.DUPLICATE, Outcome.DUPLICATE]
    assert [item.document for item in second.reports] == [item.document for item in first.reports]
    assert embedder.embedded == []
    assert (Document.objects.count(), Chunk.objects.count(), ChunkEmbedding.objects.count()) == before


def test_the_same_text_under_another_name_format_and_cut_is_a_duplicate(folder):
    text = "Straw was stored for ninety days in a shed and lost a tenth of its dry matter."
    first = write(folder, "one.md", text)
    second = write(folder, "two.html", f"<html><body><main><p>{text}</p></main></body></html>")
    third = write(folder, "three.txt", text.replace("days in", "days\nin"))

    report = take(first, second, third)

    assert outcomes(report) == [("one.md", "ready"), ("two.html", "duplicate"), ("three.txt", "duplicate")]
    assert {item.document for item in report.reports} == {report.reports[0].document}
    assert "one" in report.reports[1].detail


def test_two_files_of_the_same_name_are_two_documents(folder):
    one = write(folder, "a/main.md", paper("90 days"))
    two = write(folder, "b/main.md", paper("91 days"))

    assert [item.outcome for item in take(one, two).reports] == [Outcome.READY, Outcome.READY]
    assert Document.objects.filter(file_name="main.md").count() == 2


def test_folders_are_taken_in_full_depth_in_order_without_hidden_files(folder):
    for name in ("b.md", "a/z.md", ".hidden.md", ".git/x.md"):
        write(folder, name, paper(name))

    assert outcomes(take(folder)) == [("b.md", "ready"), ("z.md", "ready")]


def test_one_failing_file_does_not_stop_the_others(folder):
    write(folder, "a.md", paper("the cursed 90 days"))
    write(folder, "b.md", paper("30 days"))
    write(folder, "c.xyz", "no parser reads this")

    report = take(folder, embedder=HashEmbedder(failing=["cursed"]))

    assert [(item.outcome.value, item.reason) for item in report.reports] == [
        ("failed", "embedding_failed"),
        ("ready", ""),
        ("failed", "unsupported_file_type"),
    ]
    assert Document.objects.count() == 1
    assert not report.is_lost


def test_something_unforeseen_is_one_failed_file_that_tells_no_content(folder, monkeypatch, caplog):
    def broken(**_: object) -> None:
        raise ZeroDivisionError("90 days of secret text")

    monkeypatch.setattr(documents_actions, "store_references", lambda *_: broken())

    item = only(take(write(folder, "a.md", paper("90 days"))))

    assert (item.outcome, item.reason) == (Outcome.FAILED, "internal_error")
    assert "secret" not in item.detail + caplog.text
    assert Document.objects.count() == Chunk.objects.count() == RightsDecision.objects.count() == 0


def test_a_failure_at_the_last_step_leaves_no_row_behind(folder, monkeypatch):
    def failing(**_: object) -> None:
        raise EmbeddingError("The vectors are not of this version.")

    monkeypatch.setattr(vectors, "store", failing)

    item = only(take(write(folder, "a.md", paper("90 days"))))

    assert item.reason == "embedding_failed"
    assert [model.objects.count() for model in (Document, Chunk, ChunkEmbedding, Source)] == [0, 0, 0, 0]


def test_an_interrupted_run_is_cancelled_keeps_what_it_stored_and_is_resumed(folder):
    for name in ("a.md", "b.md", "c.md"):
        write(folder, name, paper(name))

    class Impatient(HashEmbedder):
        def embed(self, texts, *, task, carries):
            if "b.md" in texts[0]:
                raise KeyboardInterrupt
            return super().embed(texts, task=task, carries=carries)

    with pytest.raises(KeyboardInterrupt):
        take(folder, embedder=Impatient())

    run = IngestionRun.objects.get()
    assert run.state == IngestionRun.State.CANCELLED
    assert list(run.items.order_by("id").values_list("outcome", flat=True)) == ["ready", "waiting", "waiting"]
    assert outcomes(take(folder)) == [("a.md", "duplicate"), ("b.md", "ready"), ("c.md", "ready")]


def test_a_run_of_a_process_that_died_is_closed_by_the_next(folder):
    take(write(folder, "a.md", paper("90 days")))
    run = IngestionRun.objects.get()
    run.state, run.finished_at = IngestionRun.State.RUNNING, None
    run.parameters["process"]["pid"] = 2**22 + 1
    run.save()

    take(write(folder, "b.md", paper("30 days")))

    run.refresh_from_db()
    assert run.state == IngestionRun.State.FAILED


def test_a_corpus_embedded_with_something_else_refuses_before_the_first_file(folder):
    take(write(folder, "a.md", paper("90 days")))

    class Other(HashEmbedder):
        version = "other@8"

    with pytest.raises(EmbeddingError):
        take(write(folder, "b.md", paper("30 days")), embedder=Other())

    assert IngestionRun.objects.count() == 1


def test_a_dry_run_says_what_would_happen_and_writes_nothing(folder, media):
    take(write(folder, "a.md", paper("90 days")))
    write(folder, "b.md", paper("30 days"))
    write(folder, "c.txt", "")
    write(folder, "d.md", paper("30 days"))
    held = storage.path_of(Document.objects.get().file_sha256)

    report = rehearse(from_paths([folder]), options=OPTIONS)

    assert report.run is None
    assert outcomes(report) == [
        ("a.md", "duplicate"), ("b.md", "ready"), ("c.txt", "failed"), ("d.md", "duplicate"),
    ]  # fmt: skip
    assert report.reports[1].passages == 3
    assert (Document.objects.count(), IngestionRun.objects.count()) == (1, 1)
    assert [path for path in media.rglob("*") if path.is_file()] == [held]


def test_the_manifest_decides_over_the_file_and_rights_are_recorded(folder):
    write(folder, "a.md", paper("90 days"))
    path = manifest(
        folder,
        {
            "path": "a.md", "title": "Declared", "authors": ["Ann Bee"], "year": 2020, "doi": "10.1000/ABC",
            "journal": "J", "license_class": "open_noncommercial", "license_source": "CC BY-NC-ND 4.0",
            "bucket": "reports", "version": "2",
        },
    )  # fmt: skip

    take_manifest(path)

    document = Document.objects.get()
    decision = RightsDecision.objects.get()
    assert (document.title, document.authors, document.year) == ("Declared", ["Ann Bee"], 2020)
    assert (document.doi, document.doi_normalised) == ("10.1000/ABC", "10.1000/abc")
    assert (document.bucket, document.version_label, document.no_derivatives) == ("reports", "2", True)
    assert (document.source.identifier_type, document.source.identifier_value) == ("doi", "10.1000/abc")
    assert (decision.from_class, decision.to_class) == ("unknown", "open_noncommercial")
    assert (decision.process, decision.signal) == ("manifest", "CC BY-NC-ND 4.0")


def test_a_license_that_the_file_states_is_kept_as_a_signal_and_decides_nothing(folder):
    jats = (
        '<?xml version="1.0"?><article><front><article-meta><title-group><article-title>T</article-title>'
        "</title-group><permissions><license><license-p>CC BY 4.0, free for all.</license-p></license>"
        "</permissions></article-meta></front><body><p>Straw was stored for ninety days.</p></body></article>"
    )

    take(write(folder, "a.xml", jats))

    document = Document.objects.get()
    assert document.license_class == "unknown"
    assert "CC BY 4.0" in document.rights_statement
    assert "CC BY 4.0" in document.license_source
    assert not RightsDecision.objects.exists()


def test_a_stricter_license_declared_for_a_held_document_is_applied_and_audited(folder):
    write(folder, "a.md", paper("90 days"))
    row = {"path": "a.md", "title": "A", "license_class": "open_commercial"}
    take_manifest(manifest(folder, row))

    report = take_manifest(
        manifest(folder, row | {"license_class": "restricted", "license_source": "letter"})
    )

    item = only(report)
    assert (item.outcome, item.reason) == (Outcome.DUPLICATE, "license_lowered")
    assert Document.objects.get().license_class == "restricted"
    decision = RightsDecision.objects.order_by("id").last()
    assert (decision.from_class, decision.to_class) == ("open_commercial", "restricted")
    assert (decision.process, decision.signal) == ("manifest", "letter")


@pytest.mark.parametrize("held", ["unknown", "restricted", "open_noncommercial"])
def test_a_looser_license_declared_for_a_held_document_is_left_to_a_person(folder, held):
    write(folder, "a.md", paper("90 days"))
    row = {"path": "a.md", "title": "A"}
    take_manifest(manifest(folder, row | {"license_class": held}))
    decisions = RightsDecision.objects.count()

    item = only(take_manifest(manifest(folder, row | {"license_class": "public"})))

    assert (item.outcome, item.reason) == (Outcome.DUPLICATE, "looser_license_declared")
    assert "a person must raise it" in item.detail
    assert Document.objects.get().license_class == held
    assert RightsDecision.objects.count() == decisions


@pytest.mark.parametrize("old_name", ["old.md", "10.1000/old"])
def test_supersedes_links_versions_in_whatever_order_they_stand(folder, old_name):
    write(folder, "new.md", paper("the new 90 days"))
    write(folder, "old.md", paper("the old 90 days"))
    path = manifest(
        folder,
        {"path": "new.md", "title": "New", "supersedes": old_name},
        {"path": "old.md", "title": "Old", "doi": "10.1000/OLD"},
    )

    report = take_manifest(path)
    again = take_manifest(path)

    old, new = Document.objects.get(title="Old"), Document.objects.get(title="New")
    assert (old.status, old.superseded_by, new.status) == ("superseded", new, "current")
    assert "It supersedes “Old”." in report.reports[0].detail
    assert IngestionItem.objects.get(run=report.run, path="new.md").detail == report.reports[0].detail
    assert [item.outcome for item in again.reports] == [Outcome.DUPLICATE, Outcome.DUPLICATE]


def test_superseding_what_is_not_held_is_said_and_the_document_is_stored(folder):
    write(folder, "new.md", paper("90 days"))

    item = only(take_manifest(manifest(folder, {"path": "new.md", "title": "N", "supersedes": "10.1/x"})))

    assert (item.outcome, item.reason) == (Outcome.READY, "superseded_not_found")


def test_another_text_of_the_same_work_shares_its_source_and_is_pointed_out(folder):
    write(folder, "one.md", paper("90 days"))
    write(folder, "two.md", paper("91 days"))

    report = take_manifest(
        manifest(
            folder,
            {"path": "one.md", "title": "One", "doi": "10.1000/abc"},
            {"path": "two.md", "title": "Two", "doi": "https://doi.org/10.1000/ABC"},
        )
    )

    assert Source.objects.count() == 1
    assert Document.objects.filter(status="current").count() == 2
    assert "“One” is the older version of the same work" in report.reports[1].detail
    assert report.reports[1].reason == "supersession_proposed"


def test_passages_that_an_earlier_version_has_are_not_embedded_again(folder):
    write(folder, "one.md", paper("90 days"))
    write(folder, "two.md", paper("90 days") + "\nOne sentence is new.\n")
    row = {"title": "T", "doi": "10.1000/abc"}
    take_manifest(manifest(folder, row | {"path": "one.md"}))
    embedder = HashEmbedder()

    report = ingest(
        from_manifest(manifest(folder, row | {"path": "two.md"})), options=OPTIONS, embedder=embedder
    )

    document = Document.objects.get(pk=only(report).document)
    assert [text.splitlines()[-1] for text in embedder.embedded] == ["One sentence is new."]
    again = HashEmbedder().embed(
        [chunk.content for chunk in document.chunks.order_by("ordinal")], task="", carries=NOTHING_HELD
    )
    rows = ChunkEmbedding.objects.filter(document=document).order_by("chunk__ordinal")
    assert [row.vector for row in rows] == [pytest.approx(list(v), abs=1e-3) for v in again]


def test_bad_manifest_lines_are_failed_items_in_their_place(folder):
    write(folder, "a.md", paper("90 days"))
    text = '{"path": "a.md", "title": "A"}\n{broken\n{"path": "no.md", "title": "N", "year": "x"}\n'

    report = take_manifest(write(folder, "manifest.jsonl", text))

    assert [(item.path, item.outcome.value, item.reason) for item in report.reports] == [
        ("a.md", "ready", ""),
        ("manifest.jsonl line 2", "failed", "invalid_json"),
        ("no.md", "failed", "invalid_field"),
    ]
    assert "Line 3: year must be a year" in report.reports[2].detail
    assert IngestionItem.objects.filter(run=report.run).count() == 3


def test_a_scan_is_visible_as_needs_ocr_once_and_has_no_passages(folder, shared_data):
    scan = shared_data / "pdf" / "ocrmypdf_francais.pdf"

    first, second = only(take(scan)), only(take(scan))

    document = Document.objects.get()
    assert (first.outcome, second.outcome) == (Outcome.NEEDS_OCR, Outcome.DUPLICATE)
    assert (document.state, document.state_reason, document.chunk_count) == ("needs_ocr", "no_text", 0)
    assert document.content_sha256 == document.file_sha256
    assert storage.path_of(document.file_sha256).exists()


def test_the_sweep_removes_old_originals_without_a_document_and_nothing_else(folder, media):
    take(write(folder, "a.md", paper("90 days")))
    kept = storage.path_of(Document.objects.get().file_sha256)
    orphan = storage.store(write(folder, "b.md", "orphan"), storage.hash_file(folder / "b.md"))
    fresh = storage.store(write(folder, "c.md", "fresh"), storage.hash_file(folder / "c.md"))
    part = write(media, "originals/ab/cd/.part-xyz", "half")
    for path in (kept, orphan, part):
        os.utime(path, (1, 1))

    assert sweep_originals() == 2
    assert (kept.exists(), orphan.exists(), fresh.exists(), part.exists()) == (True, False, True, False)


def test_the_profile_of_the_installation_is_what_a_run_uses_by_default():
    options = default_options(bucket="x", chunk_tokens=400)

    assert (options.chunking.chunk_tokens, options.chunking.overlap_tokens, options.bucket) == (400, 150, "x")
    assert options.limits.max_bytes == settings.SCI_RAG_MAX_UPLOAD_MB * 1_000_000
