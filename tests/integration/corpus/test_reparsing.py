"""Reading a document again: its id stays, its text is another, and what did not change keeps everything."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from corpus import pipeline, reparsing, storage
from corpus.actions import reparse as action
from corpus.cli_reparse import reparse_command
from corpus.ingestion import ingest
from corpus.inputs import from_manifest, read_by
from corpus.jobs import Kind
from corpus.manifest import Entry
from corpus.models import Chunk, ChunkEmbedding, Document, EmbeddingVersion, IngestionItem, IngestionRun
from corpus.parsing.blocks import Block, BlockKind, ParsedDocument
from tests.integration.corpus.ingesting import OPTIONS, HashEmbedder, only, paper, take, write

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def offline_vectors(monkeypatch: pytest.MonkeyPatch) -> HashEmbedder:
    """Let reading again embed as the ingest of these tests does."""
    embedder = HashEmbedder()
    monkeypatch.setattr(reparsing, "embedder_of", lambda name: embedder)
    return embedder


def _held(folder: Path, text: str = paper("ninety days"), name: str = "a.md") -> Document:
    return Document.objects.get(pk=only(take(write(folder, name, text))).document)


def _reads(monkeypatch: pytest.MonkeyPatch, *blocks: Block, parser: str = "better 2", **more: object) -> None:
    """Let the parser find these blocks the next time."""
    found = ParsedDocument(blocks, parser, "text/markdown", **more)  # type: ignore[arg-type]
    monkeypatch.setattr("corpus.preparation.parse", lambda path, **options: found)


def _heading(text: str, level: int = 2) -> Block:
    return Block(BlockKind.HEADING, text, level=level)


def _prose(text: str) -> Block:
    return Block(BlockKind.PARAGRAPH, text)


def test_a_document_keeps_its_id_and_gets_the_text_of_the_other_parser(tmp_path: Path) -> None:
    document = _held(tmp_path)

    report = reparsing.reparse(document_id=document.pk, parser="text-segmenter", options=OPTIONS)

    now = Document.objects.get(pk=document.pk)
    assert (report.outcome, report.document) == ("ready", document.pk)
    assert now.parser.startswith("text-segmenter")
    assert now.content_sha256 != document.content_sha256
    assert now.chunk_count == now.chunks.count() == report.passages
    assert (now.title, now.license_class, now.source_id) == (
        document.title, document.license_class, document.source_id,
    )  # fmt: skip


def test_unchanged_passages_keep_row_id_and_vector(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, offline_vectors: HashEmbedder
) -> None:
    document = _held(tmp_path)
    before = {chunk.content: chunk for chunk in document.chunks.all()}
    vectors = dict(ChunkEmbedding.objects.values_list("chunk_id", "id"))
    introduction = next(chunk for chunk in before.values() if "Straw was stored" in chunk.body)
    _reads(
        monkeypatch, _heading("2 Results"), _prose("Losses rose, and this sentence is new to the document."),
        _heading("1 Introduction"), _prose("Straw was stored for ninety days."),
    )  # fmt: skip

    report = reparsing.reparse(document_id=document.pk, options=OPTIONS)

    now = list(document.chunks.order_by("ordinal"))
    assert [chunk.ordinal for chunk in now] == list(range(len(now)))
    kept = next(chunk for chunk in now if chunk.pk == introduction.pk)
    assert (kept.public_id, kept.body) == (introduction.public_id, introduction.body)
    assert kept.ordinal == 1
    assert vectors[kept.pk] == ChunkEmbedding.objects.get(chunk=kept).pk
    assert all("Straw" not in text for text in offline_vectors.embedded)
    assert "1 of them unchanged" in report.detail


def test_every_passage_has_its_vector_and_the_order_of_the_new_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = _held(tmp_path)
    _reads(monkeypatch, _heading("1 Introduction"), _prose("Straw was stored for ninety days."))

    report = reparsing.reparse(document_id=document.pk, options=OPTIONS)

    assert report.outcome == "ready", report.detail
    rows = ChunkEmbedding.objects.filter(document=document).select_related("chunk")
    assert rows.count() == document.chunks.count() == 1
    assert all(row.rank_key == row.chunk.rank_key for row in rows)
    assert Chunk.objects.filter(document=document).exclude(ordinal__lt=1_000).count() == 0


def test_words_under_another_heading_keep_the_public_id(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = _held(tmp_path)
    old = next(chunk for chunk in document.chunks.all() if "Straw was stored" in chunk.body)
    _reads(monkeypatch, _heading("Storage of straw"), _prose(old.body))

    reparsing.reparse(document_id=document.pk, options=OPTIONS)

    new = document.chunks.get()
    assert (new.public_id, new.section_path) == (old.public_id, ["Storage of straw"])


def test_the_text_of_another_document_is_refused_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    document, other = (
        _held(tmp_path),
        _held(tmp_path, "The text of the other document. It is short.", "b.txt"),
    )
    _reads(monkeypatch, _prose("The text of the other document. It is short."))

    report = reparsing.reparse(document_id=document.pk, options=OPTIONS)

    assert (report.outcome, report.reason) == ("failed", "already_held")
    assert other.title in report.detail
    assert Document.objects.get(pk=document.pk).content_sha256 == document.content_sha256


def test_what_finds_no_text_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    document = _held(tmp_path)
    _reads(monkeypatch, quality={"needs_ocr": 1})

    report = reparsing.reparse(document_id=document.pk, options=OPTIONS)

    assert report.reason == "no_text"
    assert document.chunks.count() == document.chunk_count


def test_a_document_that_needed_ocr_becomes_ready(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _reads(monkeypatch, quality={"needs_ocr": 1})
    document = _held(tmp_path)
    assert document.state == Document.State.NEEDS_OCR
    _reads(monkeypatch, _prose("Now the words of the page are known to the parser."))

    reparsing.reparse(document_id=document.pk, options=OPTIONS)

    document.refresh_from_db()
    assert (document.state, document.state_reason) == (Document.State.READY, "")
    assert document.chunk_count == 1


def test_a_missing_or_changed_original_is_not_read(tmp_path: Path) -> None:
    document = _held(tmp_path)
    original = storage.path_of(document.file_sha256)
    original.write_text("Something else than what was taken in.")

    assert reparsing.reparse(document_id=document.pk, options=OPTIONS).reason == "original_changed"
    original.unlink()
    assert reparsing.reparse(document_id=document.pk, options=OPTIONS).reason == "original_missing"
    assert document.chunks.count() == document.chunk_count


def test_a_parser_for_other_files_is_refused(tmp_path: Path) -> None:
    document = _held(tmp_path)

    assert reparsing.reparse(document_id=document.pk, parser="pypdf", options=OPTIONS).reason == (
        "parser_unsuitable"
    )


def test_of_two_readings_at_once_the_second_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = _held(tmp_path)
    _reads(monkeypatch, _prose("The words of the first reading of this document."))
    late = reparsing.read(document_id=document.pk, parser="", options=OPTIONS)
    _reads(monkeypatch, _prose("The words of the second reading of this document."))
    reparsing.reparse(document_id=document.pk, options=OPTIONS)

    with pytest.raises(reparsing.ParseFailure) as failure:
        reparsing.keep(late, by=None)

    assert failure.value.code == "changed_meanwhile"
    assert "second reading" in document.chunks.get().body


def test_a_failure_in_the_middle_leaves_everything(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    document = _held(tmp_path)
    before = list(document.chunks.order_by("ordinal").values_list("pk", "content", "ordinal"))
    _reads(monkeypatch, _prose("Other words altogether stand in this document."))

    def fail(**_: object) -> None:
        raise RuntimeError

    monkeypatch.setattr(action.vectors, "store", fail)
    report = reparsing.reparse(document_id=document.pk, options=OPTIONS)

    assert report.reason == "internal_error"
    assert list(document.chunks.order_by("ordinal").values_list("pk", "content", "ordinal")) == before


def test_the_run_says_what_was_read_with_what(tmp_path: Path, librarian: User) -> None:
    document = _held(tmp_path)

    reparsing.reparse(document_id=document.pk, parser="text-segmenter", options=OPTIONS, by=librarian)

    item = IngestionItem.objects.get(run__origin=reparsing.ORIGIN)
    assert (item.document_id, item.outcome) == (document.pk, "ready")
    assert "text-segmenter 1 instead of markdown-it 1" in item.detail
    assert (item.run.started_by, item.run.state) == (librarian, "finished")


def test_workers_read_again_too(tmp_path: Path, librarian: User) -> None:
    document = _held(tmp_path)
    run = reparsing.enqueue(document_ids=[document.pk], parser="text-segmenter", by=librarian)

    while pipeline.work(kind=Kind.PARSE) or pipeline.work(kind=Kind.SETTLE):
        pass

    run.refresh_from_db()
    document.refresh_from_db()
    assert run.state == IngestionRun.State.FINISHED
    assert document.parser.startswith("text-segmenter")
    assert run.items.get().outcome == "ready"


def test_workers_read_nothing_for_who_may_not_any_more(tmp_path: Path, librarian: User) -> None:
    document = _held(tmp_path)
    run = reparsing.enqueue(document_ids=[document.pk], parser="", by=librarian)
    librarian.is_active = False
    librarian.save()

    pipeline.work(kind=Kind.PARSE)

    assert run.items.get().reason == "not_allowed"


def test_a_rehearsal_writes_nothing(tmp_path: Path) -> None:
    document = _held(tmp_path)
    runs = IngestionRun.objects.count()

    report = reparsing.rehearse(document_id=document.pk, parser="text-segmenter", options=OPTIONS)

    assert "read by text-segmenter 1 instead of markdown-it 1" in report.detail
    assert Document.objects.get(pk=document.pk).parser == document.parser
    assert IngestionRun.objects.count() == runs


def test_other_versions_of_vectors_stay_with_what_did_not_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = _held(tmp_path)
    other = EmbeddingVersion.objects.create(name="other@8", dimensions=8)
    straw = next(chunk for chunk in document.chunks.all() if "Straw was stored" in chunk.body)
    held = ChunkEmbedding.objects.get(chunk=straw)
    ChunkEmbedding.objects.create(
        version=other, chunk=straw, document=document, rank_key=straw.rank_key, vector=held.vector
    )
    _reads(monkeypatch, _heading("1 Introduction"), _prose("Straw was stored for ninety days."))

    reparsing.reparse(document_id=document.pk, options=OPTIONS)

    assert ChunkEmbedding.objects.filter(chunk_id=straw.pk).count() == 2


def test_a_librarian_asks_for_it_and_an_asker_may_not(
    tmp_path: Path, client: Client, librarian: User, asker: User
) -> None:
    document = _held(tmp_path)
    address = reverse("admin:corpus_document_read_again", args=[document.pk])
    client.force_login(librarian)

    assert b"It was read by markdown-it 1" in client.get(address).content
    assert client.post(address, {"parser": "pypdf"}).status_code == 422
    answer = client.post(address, {"parser": "text-segmenter"})

    run = IngestionRun.objects.get(origin="Read again with text-segmenter")
    assert answer.headers["Location"] == reverse("admin:corpus_ingestionrun_change", args=[run.pk])
    assert (run.started_by, run.items.get().document_id) == (librarian, document.pk)
    client.force_login(asker)
    assert client.post(address, {"parser": "text-segmenter"}).status_code in (302, 403)
    assert IngestionRun.objects.filter(origin__startswith="Read again").count() == 1


def test_the_command_reads_again_and_reports(tmp_path: Path) -> None:
    document = _held(tmp_path)

    result = CliRunner().invoke(reparse_command, [str(document.pk), "--parser", "text-segmenter", "--json"])

    assert result.exit_code == 0, result.output
    (told,) = json.loads(result.output)["documents"]
    assert (told["document"], told["outcome"]) == (str(document.pk), "ready")
    document.refresh_from_db()
    assert document.parser.startswith("text-segmenter")


def test_the_command_fails_when_nothing_could_be_read(tmp_path: Path) -> None:
    document = _held(tmp_path)

    result = CliRunner().invoke(reparse_command, [str(document.pk), "--parser", "pypdf"])

    assert result.exit_code == 1
    assert "parser_unsuitable" in result.output


def test_a_manifest_and_a_command_choose_the_parser_of_a_file(tmp_path: Path) -> None:
    write(tmp_path, "a.md", paper("ninety days"))
    write(tmp_path, "b.md", paper("ten days"))
    (tmp_path / "m.jsonl").write_text(
        '{"path": "a.md", "title": "A", "parser": "text-segmenter"}\n{"path": "b.md", "title": "B"}\n'
        '{"path": "a.md", "title": "A", "parser": "nobody"}\n'
    )

    batch = from_manifest(tmp_path / "m.jsonl")
    report = ingest(batch, options=OPTIONS, embedder=HashEmbedder())

    assert [item.reason for item in report.reports] == ["", "", "invalid_field"]
    assert [document.parser for document in Document.objects.order_by("title")] == [
        "text-segmenter 1",
        "markdown-it 1",
    ]
    chosen = read_by(batch, "pypdf").files[1]
    assert isinstance(chosen, Entry)
    assert chosen.described.parser == ""
    chosen = read_by(batch, "text-segmenter").files[1]
    assert isinstance(chosen, Entry)
    assert chosen.described.parser == "text-segmenter"
