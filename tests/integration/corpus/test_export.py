"""Export: what the scope allows and nothing else, of one moment, whole or not at all."""

import builtins
import hashlib
import json

import pytest
from click.testing import CliRunner

from corpus.cli import corpus as commands
from corpus.export import files, rows
from corpus.export.files import COLUMNS, Form
from corpus.export.writing import ExportRefused, export
from corpus.fingerprint import fingerprint
from corpus.models import DocumentCitation
from corpus.scope import RetrievalScope, scope
from tests.factories.corpus import ChunkFactory, DocumentFactory, SourceFactory

pytestmark = pytest.mark.django_db(transaction=True)

PUBLIC = scope(license_classes=["public"])


@pytest.fixture
def papers():
    """An open paper, superseded by and citing a restricted one."""
    closed = DocumentFactory(title="Closed", license_class="restricted", doi="10.1000/closed")
    opened = DocumentFactory(
        title="Open", license_class="public", doi="10.1000/OPEN", source=SourceFactory(is_corrected=True),
        status="superseded", superseded_by=closed,
    )  # fmt: skip
    for document in (opened, closed):
        ChunkFactory(
            document=document, ordinal=0, body=f"Text of {document.title}, 5 µm.", section_path=["2 Methods"],
            boxes=[[1, 0.1, 0.2, 0.9, 0.3]], page_start=1, page_end=1,
        )  # fmt: skip
        DocumentCitation.objects.create(citing=document, ordinal=1, text="A", doi_normalised="10.1000/closed")
        DocumentCitation.objects.create(citing=document, ordinal=2, text="B", doi_normalised="10.1000/open")
    return {"open": opened, "closed": closed}


def lines(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_a_scope_is_honoured_in_every_file_and_in_what_points_elsewhere(papers, tmp_path):
    manifest = export(target=tmp_path / "out", scope=PUBLIC, form=Form.JSONL)

    (document,) = lines(tmp_path / "out/documents.jsonl")
    (passage,) = lines(tmp_path / "out/passages.jsonl")
    citations = lines(tmp_path / "out/citations.jsonl")
    assert (document["title"], document["status"], document["superseded_by"]) == ("Open", "superseded", "")
    assert (document["doi"], document["corrected"]) == ("10.1000/open", True)
    assert (passage["text"], passage["boxes"]) == ("Text of Open, 5 µm.", [[1.0, 0.1, 0.2, 0.9, 0.3]])
    assert [entry["cites"] for entry in citations] == ["", document["id"]]
    assert manifest["counts"] == {"documents": 1, "passages": 1, "citations": 2}
    assert manifest["fingerprint"] == fingerprint(PUBLIC)
    assert manifest["licenses"]["safe_to_publish"] is True


def test_the_manifest_describes_the_files_as_they_are(papers, tmp_path):
    export(target=tmp_path / "out", scope=RetrievalScope(), form=Form.JSONL)

    manifest = json.loads((tmp_path / "out/manifest.json").read_text())
    assert manifest["scope"]["license_classes"] is None
    assert manifest["licenses"]["safe_to_publish"] is False
    assert manifest["licenses"]["documents"]["restricted"] == 1
    for name, described in manifest["files"].items():
        content = (tmp_path / "out" / name).read_bytes()
        assert described == {"sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)}
    assert {path.name for path in tmp_path.iterdir()} == {"out"}


def test_the_same_corpus_gives_the_same_files(papers, tmp_path):
    one = export(target=tmp_path / "one", scope=RetrievalScope(), form=Form.JSONL)
    two = export(target=tmp_path / "two", scope=RetrievalScope(), form=Form.JSONL)

    assert one["files"] == two["files"]


@pytest.mark.parametrize("part", ["license_classes", "buckets", "authors", "journals"])
def test_a_scope_that_allows_nothing_leaves_nothing_behind(papers, tmp_path, part):
    with pytest.raises(ExportRefused, match="allows nothing"):
        export(target=tmp_path / "out", scope=scope(**{part: []}), form=Form.JSONL)

    assert list(tmp_path.iterdir()) == []


def test_a_folder_with_something_in_it_is_left_alone(papers, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out/mine.txt").write_text("mine")

    with pytest.raises(ExportRefused, match="not empty"):
        export(target=tmp_path / "out", scope=PUBLIC, form=Form.JSONL)

    assert (tmp_path / "out/mine.txt").read_text() == "mine"


def test_what_breaks_off_leaves_no_part_behind(papers, tmp_path, monkeypatch):
    monkeypatch.setattr(rows, "citations", lambda *_: (_ for _ in ()).throw(OSError("no space left")))

    with pytest.raises(OSError, match="no space"):
        export(target=tmp_path / "out", scope=PUBLIC, form=Form.JSONL)

    assert list(tmp_path.iterdir()) == []


def test_a_row_outside_the_scope_ends_the_export(papers, tmp_path, monkeypatch):
    everything = rows.passages

    monkeypatch.setattr(rows, "passages", lambda _, within: everything(RetrievalScope(), within))

    with pytest.raises(rows.OutOfScope):
        export(target=tmp_path / "out", scope=PUBLIC, form=Form.JSONL)
    assert list(tmp_path.iterdir()) == []


def test_every_row_has_the_documented_columns(papers):
    within = rows.held(RetrievalScope())
    for name, make in (
        ("documents", rows.documents),
        ("passages", rows.passages),
        ("citations", rows.citations),
    ):
        assert {tuple(row) for row in make(RetrievalScope(), within)} == {COLUMNS[name]}


def test_parquet_holds_what_jsonl_holds(papers, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    export(target=tmp_path / "text", scope=RetrievalScope(), form=Form.JSONL)
    manifest = export(target=tmp_path / "out", scope=RetrievalScope(), form=Form.PARQUET)

    for name in ("documents", "passages", "citations"):
        table = parquet.read_table(tmp_path / f"out/{name}.parquet")
        assert table.to_pylist() == lines(tmp_path / f"text/{name}.jsonl")
        assert table.num_rows == manifest["counts"][name]


def test_without_pyarrow_the_command_says_what_to_install(papers, tmp_path, monkeypatch):
    imported = builtins.__import__

    def without_pyarrow(name, *arguments, **named):
        if name.startswith("pyarrow"):
            raise ImportError(name)
        return imported(name, *arguments, **named)

    monkeypatch.setattr(builtins, "__import__", without_pyarrow)

    result = CliRunner().invoke(commands, ["export", str(tmp_path / "out"), "--format", "parquet"])

    assert result.exit_code == 1
    assert "pip install 'sci-rag[parquet]'" in result.stderr
    assert list(tmp_path.iterdir()) == []
    assert files.Form("jsonl") is Form.JSONL


def test_the_command_reports_counts_and_refusals(papers, tmp_path):
    def run(*arguments):
        return CliRunner().invoke(commands, ["export", *arguments])

    done = run(str(tmp_path / "all"))
    public = run(str(tmp_path / "public"), "--license", "public", "--json")

    assert "2 documents, 2 passages, 4 citations" in done.stdout
    assert "may be published" in done.stdout
    assert json.loads(public.stdout)["counts"]["documents"] == 1
    assert run(str(tmp_path / "none"), "--license", "").exit_code == 1
    assert run(str(tmp_path / "none"), "--license", "opne").exit_code == 2
    assert run(str(tmp_path / "all")).exit_code == 1
