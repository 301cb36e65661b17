"""The commands: what they print, what they refuse, and their exit codes."""

import json
import uuid
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from corpus import cli, intake
from corpus.gateways import embedding
from corpus.models import Document, IngestionRun
from tests.factories.corpus import DocumentFactory
from tests.integration.corpus.ingesting import HashEmbedder, paper, write

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def installation(tmp_path: Path, settings, monkeypatch) -> None:
    settings.MEDIA_ROOT = tmp_path / "media"
    monkeypatch.setattr("corpus.ingestion.active_embedder", HashEmbedder)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "in").mkdir()
    return tmp_path / "in"


def run(command, *arguments: object) -> Result:
    return CliRunner().invoke(command, [str(item) for item in arguments])


def as_json(result: Result) -> dict:
    return json.loads(result.stdout)


def test_ingest_prints_one_object_with_the_run_counts_and_every_file(folder):
    write(folder, "a.md", paper("90 days"))
    write(folder, "b.xyz", "x")

    result = run(cli.ingest, folder, "--json")

    report = as_json(result)
    assert result.exit_code == 0
    assert report["run"] == str(IngestionRun.objects.get().pk)
    assert report["counts"] == {"ready": 1, "duplicate": 0, "needs_ocr": 0, "failed": 1}
    first, second = report["items"]
    assert (first["outcome"], first["document"]) == ("ready", str(Document.objects.get().pk))
    assert (second["outcome"], second["reason"], second["document"]) == (
        "failed",
        "unsupported_file_type",
        None,
    )
    assert second["path"] == str(folder / "b.xyz")


def test_ingest_prints_a_line_a_file_and_no_bar_when_piped(folder):
    write(folder, "a.md", paper("90 days"))

    result = run(cli.ingest, folder)

    lines = result.stdout.splitlines()
    assert lines[0].split("\t")[:2] == [str(folder / "a.md"), "ready"]
    assert lines[1].startswith("1 files ended: 1 ready, 0 duplicate")
    assert result.stderr == ""


def test_options_describe_a_single_file(folder):
    path = write(folder, "a.md", paper("90 days"))

    result = run(
        cli.ingest, path, "--title", "Told", "--doi", "10.1000/abc", "--url", "https://example.org",
        "--version", "2", "--rights", "CC BY 4.0", "--license", "open_commercial", "--bucket", "mine",
    )  # fmt: skip

    document = Document.objects.get()
    assert result.exit_code == 0
    assert (document.title, document.doi, document.url) == ("Told", "10.1000/abc", "https://example.org")
    assert (document.version_label, document.license_source) == ("2", "CC BY 4.0")
    assert (document.license_class, document.bucket) == ("open_commercial", "mine")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "Give files and folders, or --manifest"),
        (["a.md", "--manifest", "a.md"], "not both"),
        (["a.md", ""], "An empty name is no file"),
        (["a.md", "b.md", "--title", "T"], "exactly one file"),
        ([".", "--doi", "10.1000/abc"], "exactly one file"),
        (["a.md", "--license", "free"], "'free' is none of public, open_commercial"),
        (["a.md", "--license", ""], "is empty"),
        (["a.md", "--doi", "none"], "is not a DOI"),
        (["a.md", "--url", "javascript:alert(1)"], "must be an address"),
        (["a.md", "--chunk-tokens", "100", "--overlap-tokens", "90"], "at most half"),
    ],
)
def test_what_makes_no_sense_is_a_usage_error_before_anything_happens(folder, monkeypatch, arguments, said):
    monkeypatch.chdir(folder)
    for name in ("a.md", "b.md"):
        write(folder, name, paper(name))

    result = run(cli.ingest, *arguments)

    assert result.exit_code == 2
    assert said in result.stderr
    assert not IngestionRun.objects.exists()


def test_the_exit_code_is_1_when_every_file_failed(folder):
    path = write(folder, "a.xyz", "x")

    assert run(cli.ingest, path, folder / "nowhere.md").exit_code == 1
    assert "every single file failed" in " ".join(run(cli.ingest, "--help").stdout.split())


def test_an_empty_folder_and_an_unreadable_manifest_are_one_line(folder):
    empty = run(cli.ingest, folder)
    broken = run(cli.ingest, "--manifest", folder)

    assert (empty.exit_code, broken.exit_code) == (1, 1)
    assert empty.stderr.count("\n") == broken.stderr.count("\n") == 1
    assert "There are no files" in empty.stderr
    assert "cannot be read" in broken.stderr


def test_a_bad_profile_is_named_with_its_line(folder, settings, tmp_path):
    settings.DOMAIN_DIR = tmp_path
    write(tmp_path, "domain.yaml", "name: A\nchunk_tokens: many\n")

    result = run(cli.ingest, write(folder, "a.md", paper("90 days")))

    assert result.exit_code == 1
    assert "domain.yaml line 2: chunk_tokens" in result.stderr


def test_a_provider_that_does_not_fit_the_corpus_is_one_line(folder, monkeypatch):
    run(cli.ingest, write(folder, "a.md", paper("90 days")))
    other = type("Other", (HashEmbedder,), {"version": "other@8"})
    monkeypatch.setattr("corpus.ingestion.active_embedder", other)

    result = run(cli.ingest, write(folder, "b.md", paper("30 days")))

    assert result.exit_code == 1
    assert "hash@8" in result.stderr
    assert "Traceback" not in result.output


def test_a_dry_run_touches_neither_rows_nor_files_nor_the_embedder(folder, tmp_path, monkeypatch):
    monkeypatch.setattr("corpus.ingestion.active_embedder", lambda: pytest.fail("asked for an embedder"))
    write(folder, "a.md", paper("90 days"))

    result = run(cli.ingest, folder, "--dry-run", "--json")

    report = as_json(result)
    assert (report["run"], report["dry_run"], report["counts"]["ready"]) == (None, True, 1)
    assert report["items"][0]["passages"] == 3
    assert not IngestionRun.objects.exists()
    assert not (tmp_path / "media").exists()


def test_passages_are_cut_as_the_options_say(folder):
    run(
        cli.ingest,
        write(folder, "a.md", "Straw was dried well. " * 100),
        "--chunk-tokens",
        50,
        "--overlap-tokens",
        0,
    )

    document = Document.objects.get()
    assert document.chunk_count >= 10
    assert document.extra["chunking"]["chunk_tokens"] == 50


def test_lint_names_every_problem_with_its_line_and_fails(folder):
    path = write(folder, "m.jsonl", '{"path": "no.md", "title": "N"}\n{broken\n')

    plain, structured = run(cli.manifest, "lint", path), run(cli.manifest, "lint", path, "--json")

    assert plain.exit_code == structured.exit_code == 1
    assert f"{path}:1: error missing_file: The file does not exist." in plain.stdout
    assert f"{path}:2: error invalid_json:" in plain.stdout
    assert [item["code"] for item in as_json(structured)["problems"]] == ["missing_file", "invalid_json"]


def test_lint_passes_with_a_warning(folder):
    write(folder, "a.md", paper("90 days"))
    path = write(folder, "m.jsonl", '{"path": "a.md", "title": "A", "colour": 1}\n')

    result = run(cli.manifest, "lint", path, "--json")

    assert result.exit_code == 0
    assert as_json(result)["problems"][0]["severity"] == "warning"


def test_stats_count_what_is_there(folder):
    run(cli.ingest, write(folder, "a.md", paper("90 days")), "--license", "public")
    DocumentFactory(state="needs_ocr", chunk_count=0, license_class="unknown")

    counts = as_json(run(cli.corpus, "stats", "--json"))

    assert (counts["documents"], counts["passages"], counts["tables"]) == (2, 3, 1)
    assert counts["by_state"]["needs_ocr"] == 1
    assert counts["by_license_class"] == {
        "public": 1, "open_commercial": 0, "open_noncommercial": 0, "restricted": 0, "unknown": 1,
    }  # fmt: skip
    assert counts["embedding"] == {"version": "hash@8", "passages": 3, "missing": 0}
    assert len(counts["fingerprint"]) == 64
    assert "passages: 3" in run(cli.corpus, "stats").stdout


def test_stats_of_an_empty_corpus_are_zeros():
    counts = as_json(run(cli.corpus, "stats", "--json"))

    assert (counts["documents"], counts["passages"], counts["embedding"]["version"]) == (0, 0, None)


def test_the_license_report_shows_shares_and_fails_strictly_on_the_undeclared():
    DocumentFactory(license_class="public", chunk_count=3)
    DocumentFactory(license_class="unknown", chunk_count=1, bucket="campaign:x")

    plain = run(cli.corpus, "license-report")
    report = as_json(run(cli.corpus, "license-report", "--json"))

    assert plain.exit_code == 0
    assert "Safe to publish: 50.0% of documents, 75.0% of passages." in plain.stdout
    assert report["classes"]["public"] == {"documents": 1, "passages": 3}
    assert report["undeclared"] == {"documents": 1, "by_bucket": {"campaign:x": 1}}
    assert run(cli.corpus, "license-report", "--strict").exit_code == 1
    Document.objects.filter(license_class="unknown").delete()
    assert run(cli.corpus, "license-report", "--strict").exit_code == 0


def test_delete_prints_a_certificate_and_all_or_nothing(folder):
    run(cli.ingest, write(folder, "a.md", paper("90 days")))
    document = Document.objects.get()

    missing = run(cli.corpus, "delete", document.pk, uuid.uuid4(), "--json")
    preview = run(cli.corpus, "delete", document.pk, "--dry-run", "--json")

    assert missing.exit_code == 1
    assert "Nothing was deleted" in missing.stderr
    assert as_json(preview)["certificates"][0]["before"]["chunks (document)"] == 3
    assert Document.objects.exists()


def test_the_default_bucket_is_local(folder):
    run(cli.ingest, write(folder, "a.md", paper("90 days")))

    assert Document.objects.get().bucket == intake.DEFAULT_BUCKET == "local"


def test_the_real_embedder_of_the_settings_is_what_a_run_uses():
    assert embedding.configured_embedder().version == "all-MiniLM-L6-v2@384"
