"""`sci-rag note` and `sci-rag source`: the same as the pages, and the import of a legacy base."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from django.contrib.auth.models import User
from django.db import connections
from django.test.utils import CaptureQueriesContext

from answers.notebook import legacy_import
from answers.notebook.cli_note import note
from answers.notebook.cli_source import source
from answers.notebook.models import Observation, ObservationSource
from corpus.actions.editorial import record_event
from corpus.enrichment import running
from corpus.models import Source, SourceCheck
from tests.integration.answers.notebooks import answered, held, kept
from tests.loopback.crossref_server import CrossrefServer, update

pytestmark = pytest.mark.django_db


def run(command: Any, *arguments: str, given: str | None = None, code: int = 0) -> Result:
    outcome = CliRunner().invoke(command, list(arguments), input=given)
    assert outcome.exit_code == code, outcome.output
    return outcome


def told(command: Any, *arguments: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(run(command, *arguments, "--json").stdout)
    return found


def test_a_note_is_added_cited_shown_listed_and_deleted(asker: User) -> None:
    added = told(
        note, "add", "Biochar holds water.", "--cite", "10.1000/A", "--kind", "method", "--user", "asker"
    )
    key = added["id"]
    assert (added["owner"], added["kind"], added["sources"][0]["identifier"]) == (
        "asker",
        "method",
        "doi:10.1000/a",
    )

    run(note, "cite", key, "978-3-16-148410-0", "A title", "--relationship", "inferred", "--user", "asker")
    record_event(source=Source.objects.get(identifier_value="10.1000/a"), kind="retraction", origin="manual",
                 happened_on=date(2021, 1, 1), by=asker)  # fmt: skip
    shown = run(note, "show", key, "--user", "asker").output
    assert "Not to be relied on any more: [1]." in shown
    assert "[1] Cited: DOI 10.1000/a · RETRACTED" in shown
    assert "[2] Inferred from: ISBN 9783161484100" in shown
    assert "[3] Inferred from: A title" in shown
    assert (
        told(note, "list", "--search", "water", "--kind", "method", "--mine", "--user", "asker")["total"] == 1
    )
    assert "NOT TO BE RELIED ON" in run(note, "list", "--user", "asker").output
    assert told(note, "list", "--search", "other", "--user", "asker") == {"total": 0, "notes": []}

    assert "Aborted" in run(note, "delete", key, "--user", "asker", given="n\n", code=1).output
    assert told(note, "delete", key, "--yes", "--user", "asker") == {"note": key, "links": 3}
    assert not Observation.objects.exists()


def test_the_operator_keeps_notes_of_their_own_and_reads_nobodys_private_ones(asker: User) -> None:
    private, shared = kept(asker), kept(asker, is_shared=True)
    run(note, "add", "-", given="From the input\n")

    assert {row["id"] for row in told(note, "list")["notes"]} == {
        str(shared.pk), str(Observation.objects.get(owner=None).pk),
    }  # fmt: skip
    assert Observation.objects.get(owner=None).text == "From the input"
    for command in ("show", "cite", "delete"):
        rest = {"show": [], "cite": ["10.1000/a"], "delete": ["--yes"]}[command]
        refused = run(note, command, str(private.pk), *rest, code=1)
        assert "There is no note" in refused.output
    assert "There is no note" in run(note, "delete", str(shared.pk), "--yes", code=1).output


def test_a_note_links_what_was_retrieved_for_ones_own_answer(asker: User, expert: User) -> None:
    answer, operators = answered(asker, held("One", "10.1000/1")), answered(None, held("Two", "10.1000/2"))

    linked = told(note, "add", "x", "--from-answer", str(answer.pk), "--user", "asker")
    assert [(row["number"], row["relationship"], row["title"]) for row in linked["sources"]] == [
        (1, "retrieved", "One")
    ]
    assert told(note, "add", "x", "--from-answer", str(operators.pk))["sources"][0]["title"] == "Two"
    for arguments in (["--user", "expert"], []):
        refused = run(note, "add", "x", "--from-answer", str(answer.pk), *arguments, code=1)
        assert "Say with --user whose it is" in refused.output


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["add", ""], 2, "TEXT is empty"),
        (["add", "x" * 20_001], 2, "20,000 characters"),
        (["add", "x", "--title", "y" * 201], 2, "200 characters"),
        (["add", "x", "--cite", "10.1"], 2, "'10.1' is not a DOI"),
        (["add", "x", "--user", "nobody"], 1, "no active account called 'nobody'"),
        (["show", "not-an-id"], 2, "Invalid value for 'NOTE'"),
    ],
)
def test_what_cannot_be_kept_is_refused_with_the_way_out(arguments: list[str], code: int, said: str) -> None:
    assert said in run(note, *arguments, code=code).output
    assert not Observation.objects.exists()


def test_a_source_is_registered_once_listed_and_shown() -> None:
    first = told(source, "add", "https://doi.org/10.1000/A", "--title", "A work")
    again = told(source, "add", "10.1000/a")
    assert (first["new"], again["new"], first["id"]) == (True, False, again["id"])
    assert again["title"] == "A work"
    run(source, "add", "--title", "A title alone")
    kept(None, "10.1000/a")

    assert told(source, "list")["total"] == 2
    assert [row["value"] for row in told(source, "list", "--noted")["sources"]] == ["10.1000/a"]
    assert told(source, "list", "--kind", "title", "--search", "alone")["total"] == 1
    assert "A work · DOI 10.1000/a" in run(source, "show", "10.1000/A").output
    shown = told(source, "show", first["id"])
    assert (shown["notes"], shown["held"], shown["events"], shown["checks"]) == (1, 0, [], [])
    assert "No work is registered as 10.1000/b" in run(source, "show", "10.1000/b", code=1).output


def test_a_source_in_use_cannot_be_deleted_and_one_that_is_not_can(asker: User) -> None:
    kept(asker, "10.1000/a")
    held("Held", "10.1000/held")

    refused = run(source, "delete", "10.1000/a", "--yes", code=1).output
    assert "The work cannot be deleted: it is used by 1 note." in refused
    assert "1 document." in run(source, "delete", "10.1000/held", "--yes", code=1).output
    Observation.objects.all().delete()
    assert "Removed: DOI 10.1000/a" in run(source, "delete", "10.1000/a", "--yes").output
    assert list(Source.objects.values_list("identifier_value", flat=True)) == ["10.1000/held"]


@pytest.fixture
def crossref(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[CrossrefServer]:
    monkeypatch.setattr(running, "PAUSE_SECONDS", 0.01)
    with CrossrefServer() as server:
        settings.SCI_RAG_CONTACT_EMAIL = "library@lab.example"
        settings.SCI_RAG_CROSSREF_URL = server.base_url
        settings.SCI_RAG_OUTBOUND_HOSTS = [server.host]
        yield server


@pytest.mark.django_db(transaction=True)
def test_a_source_is_checked_now_though_it_is_not_held(crossref: CrossrefServer, asker: User) -> None:
    crossref.add("10.1000/a", **{"updated-by": [update("retraction", "10.1000/notice", (2021, 3, 4))]})
    kept(asker, "10.1000/a")

    assert told(source, "check", "10.1000/a", "--dry-run")["checked"] == 0
    assert not SourceCheck.objects.exists()
    checked = told(source, "check", "10.1000/a")

    assert (checked["checked"], checked["sources"][0]["retracted"]) == (1, True)
    assert checked["sources"][0]["checks"][0]["outcome"] == "good"
    told(source, "add", "10.1000/unknown")
    assert "the check failed, not found" in run(source, "check", "10.1000/unknown", code=1).output


def test_only_a_work_with_a_doi_can_be_checked() -> None:
    run(source, "add", "A title")

    assert (
        "Only works with a DOI can be checked: A title has none."
        in run(source, "check", "A title", code=1).output
    )


ROWS: list[tuple[object, ...]] = [
    ("Biochar holds water.", "10.1000/A", "First"),
    ("Two sources.", "https://doi.org/10.1000/a; 10.1000/b", None),
    ("No source.", None, ""),
    ("Said by somebody.", "Smith et al.", None),
    ("Biochar holds water.", "10.1000/A", "A repetition"),
    ("  ", "10.1000/c", None),
    (b"\xff\xfe", "10.1000/d", None),
    ("x" * 20_001, "10.1000/e", None),
]


@pytest.fixture
def base(tmp_path: Path) -> Path:
    path = tmp_path / "kb.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE observations (id INTEGER PRIMARY KEY, content, source_doi, title)")
        connection.executemany("INSERT INTO observations (content, source_doi, title) VALUES (?, ?, ?)", ROWS)
    connection.close()
    return path


def test_a_legacy_base_becomes_notes_that_cite_and_a_second_import_changes_nothing(
    base: Path, asker: User
) -> None:
    rehearsed = json.loads(run(note, "import-legacy", str(base), "--dry-run", "--json", code=1).stdout)
    assert (rehearsed["imported"], Observation.objects.count(), Source.objects.count()) == (4, 0, 0)
    arguments = ("import-legacy", str(base), "--user", "asker", "--kind", "method", "--json")

    first = json.loads(run(note, *arguments, code=1).stdout)
    before = list(Observation.objects.order_by("id").values())
    second = json.loads(run(note, *arguments, code=1).stdout)

    assert (first["table"], first["text_column"]) == ("observations", "content")
    assert (first["rows"], first["imported"], first["known"], first["works"]) == (8, 4, 0, 2)
    assert first["left_out"] == {
        "no_doi": 1, "not_a_doi": 1, "repeated": 1, "no_text": 1, "not_text": 1, "too_long": 1,
    }  # fmt: skip
    assert (second["imported"], second["known"]) == (0, 4)
    assert list(Observation.objects.order_by("id").values()) == before
    links = ObservationSource.objects.order_by("observation__text", "number")
    assert list(
        links.values_list("observation__text", "relationship", "source__identifier_type", "named")
    ) == [
        ("Biochar holds water.", "cited", "doi", "doi:10.1000/a"),
        ("Said by somebody.", "cited", "", ""),
        ("Two sources.", "cited", "doi", "doi:10.1000/a"),
        ("Two sources.", "cited", "doi", "doi:10.1000/b"),
    ]
    assert Observation.objects.get(text="Biochar holds water.").title == "First"
    assert set(Observation.objects.values_list("owner", "kind", "is_shared")) == {(asker.pk, "method", False)}


def test_a_note_that_was_changed_or_is_somebody_elses_does_not_hinder_an_import(
    base: Path, asker: User, expert: User
) -> None:
    legacy_import.import_file(base, by=asker)
    Observation.objects.update(text="Changed since")

    assert legacy_import.import_file(base, by=asker).imported == 0
    assert legacy_import.import_file(base, by=expert, share=True).imported == 4
    assert Source.objects.filter(identifier_type="doi").count() == 2
    assert Observation.objects.filter(is_shared=True).count() == 4


def test_an_import_takes_as_many_statements_for_twenty_rows_as_for_ten(tmp_path: Path, asker: User) -> None:
    def statements(count: int) -> int:
        path = tmp_path / f"{count}.sqlite"
        with sqlite3.connect(path) as connection:
            connection.execute("CREATE TABLE notes (content, source_doi)")
            rows = [
                (
                    f"Note {count}-{row}.",
                    f"10.1000/{count}-{row}; 10.1000/shared" if row % 2 else f"Book {row} of {count}",
                )
                for row in range(count)
            ]
            connection.executemany("INSERT INTO notes VALUES (?, ?)", rows)
        connection.close()
        with CaptureQueriesContext(connections["default"]) as captured:
            assert legacy_import.import_file(path, by=asker).imported == count
        return len(captured)

    assert statements(10) == statements(20) < 30
    assert Source.objects.filter(identifier_type="doi").count() == 16
    assert Source.objects.filter(identifier_value="").count() == 15
    assert set(Observation.objects.values_list("last_number", flat=True)) == {1, 2}


def test_imported_notes_name_works_as_those_written_by_hand_do(tmp_path: Path, asker: User) -> None:
    by_hand = kept(asker, "10.1000/a", "A title")
    record_event(source=Source.objects.get(identifier_value="10.1000/a"), kind="retraction", origin="manual",
                 happened_on=date(2021, 1, 1), by=asker)  # fmt: skip
    path = tmp_path / "kb.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE notes (content, source_doi)")
        rows = [
            ("First.", "10.1000/A"),
            ("Second.", "a TITLE"),
            ("Third.", "New title"),
            ("Last.", "NEW TITLE"),
        ]
        connection.executemany("INSERT INTO notes VALUES (?, ?)", rows)
    connection.close()

    legacy_import.import_file(path, by=asker)

    links = {link.observation.text: link for link in ObservationSource.objects.exclude(observation=by_hand)}
    assert {links["First."].source_id, links["Second."].source_id} == set(
        by_hand.links.values_list("source_id", flat=True)
    )
    assert links["Third."].source_id == links["Last."].source_id
    assert (links["First."].standing_then, links["First."].named) == (["retracted"], "doi:10.1000/a")
    assert links["Last."].named_title == "NEW TITLE"
    newest = Observation.objects.order_by("-changed_at").values_list("text", flat=True)
    assert list(newest[:4]) == ["Last.", "Third.", "Second.", "First."]


@pytest.mark.django_db(transaction=True)
def test_two_imports_at_once_import_each_row_once(base: Path, asker: User) -> None:
    def once(_: int) -> int:
        try:
            return legacy_import.import_file(base, by=asker).imported
        finally:
            connections.close_all()

    with ThreadPoolExecutor(3) as pool:
        assert sum(pool.map(once, range(3))) == 4

    assert Observation.objects.count() == 4


def test_a_file_that_is_no_base_is_refused_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("no base")

    assert (
        run(note, "import-legacy", str(path), code=1).output
        == f"Error: {path}: It is not a SQLite database.\n"
    )
