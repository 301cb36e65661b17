"""Importing Retraction Watch's file: what is kept of it, in whatever form it comes."""

import csv
import io
import json
import time
from datetime import date
from pathlib import Path

import pytest
from click.testing import CliRunner

from corpus import cli
from corpus.enrichment.retraction_watch import UnreadableFile, import_file
from corpus.models import DocumentCitation, EditorialEvent, Source
from tests.factories.corpus import DocumentFactory, SourceFactory

pytestmark = pytest.mark.django_db

COLUMNS = (
    "Record ID,Title,Subject,Institution,Journal,Publisher,Country,Author,URLS,ArticleType,RetractionDate,"
    "RetractionDOI,RetractionPubMedID,OriginalPaperDate,OriginalPaperDOI,OriginalPaperPubMedID,RetractionNature,"
    "Reason,Paywalled,Notes"
).split(",")
DOI, NOTICE = "10.1000/paper", "10.1000/notice"


def row(**values: str) -> dict[str, str]:
    usual = {
        "Record ID": "7", "RetractionDate": "3/12/2025 0:00", "RetractionDOI": NOTICE,
        "OriginalPaperDOI": DOI, "OriginalPaperPubMedID": "0",
        "RetractionNature": "Retraction", "Reason": "+Plagiarism;",
    }  # fmt: skip
    return usual | values


def as_csv(*rows: dict[str, str]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, restval="")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


@pytest.fixture
def file(tmp_path: Path):
    def write(*rows: dict[str, str], encoding: str = "utf-8") -> Path:
        path = tmp_path / "retractions.csv"
        path.write_bytes(as_csv(*rows).encode(encoding))
        return path

    return write


def held(doi: str = DOI) -> Source:
    source = SourceFactory(identifier_value=doi)
    DocumentFactory(source=source)
    return source


def test_the_real_samples_are_read_and_kept_where_a_work_is_known(shared_data):
    sample = shared_data / "retraction/retraction_watch_bibaudit_sample.csv"
    reinstated, heliyon = held("10.9999/reinstated-paper"), held("10.1016/j.heliyon.2023.e18637")
    concern, unclear = held("10.1371/journal.pone.0058088"), held("10.9999/blank-nature-paper")

    report = import_file(sample)

    assert (report.rows, report.matched, report.recorded) == (11, 5, 5)
    assert [problem.partition(":")[0] for problem in report.problems] == ["line 11"]
    for source in (reinstated, heliyon, concern, unclear):
        source.refresh_from_db()
    assert not reinstated.is_retracted
    assert [event.kind for event in reinstated.events.order_by("happened_on")] == [
        "retraction",
        "reinstatement",
    ]
    assert not heliyon.is_retracted
    assert (concern.has_concern, concern.is_corrected) == (True, True)
    assert not unclear.events.exists()


def test_importing_again_and_rows_that_repeat_change_nothing(file):
    source = held()
    path = file(row(), row(), row(OriginalPaperDOI=f"https://doi.org/{DOI.upper()}"))

    first, second = import_file(path), import_file(path)

    assert (first.matched, first.recorded, first.skipped["repeated"]) == (1, 1, 2)
    assert (second.recorded, second.known) == (0, 1)
    event = source.events.get()
    assert (event.origin, event.notice_doi, event.happened_on) == (
        "retraction_watch",
        NOTICE,
        date(2025, 3, 12),
    )
    assert event.note == "Retraction Watch 7: +Plagiarism;"


def test_only_works_that_are_held_or_cited_are_kept(file):
    DocumentCitation.objects.create(citing=DocumentFactory(), ordinal=1, doi_normalised="10.1000/cited")
    by_number = SourceFactory(identifier_type="pmid", identifier_value="37554820")
    path = file(
        row(OriginalPaperDOI="10.1000/Cited"),
        row(OriginalPaperDOI="10.1000/other"),
        row(OriginalPaperDOI="unavailable", OriginalPaperPubMedID="37554820.0"),
        row(OriginalPaperDOI="", OriginalPaperPubMedID="0"),
    )

    report = import_file(path)

    assert (report.matched, report.skipped["other_work"], report.skipped["no_identifier"]) == (2, 1, 1)
    retracted = Source.objects.filter(is_retracted=True)
    assert {source.identifier_value for source in retracted} == {"10.1000/cited", by_number.identifier_value}


def test_a_dry_run_counts_and_writes_nothing(file):
    held()
    DocumentCitation.objects.create(citing=DocumentFactory(), ordinal=1, doi_normalised="10.1000/cited")
    before = Source.objects.count()

    report = import_file(file(row(), row(OriginalPaperDOI="10.1000/cited")), dry_run=True)

    assert report.recorded == 2
    assert (EditorialEvent.objects.count(), Source.objects.count()) == (0, before)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252", "latin-1"])
def test_the_encoding_does_not_matter(file, encoding):
    source = held()

    import_file(
        file(row(Reason="Duplikat – für Übersicht" if encoding != "latin-1" else "für"), encoding=encoding)
    )

    assert "für" in source.events.get().note


@pytest.mark.parametrize(
    ("written", "day"),
    [
        ("3/12/2025 0:00", date(2025, 3, 12)), ("12/31/1999", date(1999, 12, 31)),
        ("2025-03-12", date(2025, 3, 12)),
        ("2025-03-12T00:00:00Z", date(2025, 3, 12)), ("03/02/2020 12:00 AM", date(2020, 3, 2)),
    ],
)  # fmt: skip
def test_a_day_is_read_month_first_or_as_iso(file, written, day):
    source = held()

    import_file(file(row(RetractionDate=written)))

    assert source.events.get().happened_on == day


@pytest.mark.parametrize("written", ["", "31/12/2020", "2020", "soon", "2/30/2020", "0/0/0000", "３/1/2020"])
def test_a_day_that_cannot_be_read_is_named_with_its_line_and_not_guessed(file, written):
    source = held()
    path = file(row(OriginalPaperDOI="10.1000/other"), row(RetractionDate=written))

    report = import_file(path)

    assert not source.events.exists()
    assert report.problems == [f"line 3: {DOI}: date {written!r} is not one I know"]
    assert CliRunner().invoke(cli.corpus, ["import-retractions", str(path)]).exit_code == 1


def test_what_is_written_for_no_notice_identifies_none(file):
    source = held()

    import_file(file(row(RetractionDOI="unavailable"), row(RetractionDOI="Unavailable", Reason="again")))

    assert source.events.get().notice_doi == ""


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "Record ID"),
        ("a,b\n1,2\n", "Record ID, RetractionDate"),
        ("%PDF-1.7 \x00\x01", "Record ID"),
        (as_csv() + '1,"' + "x" * 1_100_000 + "\n", "field larger"),
    ],
)
def test_another_file_is_refused_with_what_it_lacks(tmp_path, text, said):
    path = tmp_path / "other.csv"
    path.write_text(text)

    with pytest.raises(UnreadableFile, match=said):
        import_file(path)
    refused = CliRunner().invoke(cli.corpus, ["import-retractions", str(path)])
    assert refused.exit_code == 1
    assert said in refused.stderr


def test_a_file_cut_off_in_a_row_keeps_what_came_whole(tmp_path, file):
    source = held()
    held("10.1000/second")
    whole = as_csv(row(), row(OriginalPaperDOI="10.1000/second"))
    path = tmp_path / "cut.csv"
    path.write_text(whole[: whole.index("10.1000/second") + len("10.1000/second")])

    report = import_file(path)

    assert (report.recorded, len(report.problems)) == (1, 1)
    assert source.events.count() == 1


def test_characters_no_column_takes_are_left_out(file):
    source = held()

    import_file(file(row(Reason="a\0b", **{"Record ID": "\0 9"})))

    assert source.events.get().note.startswith("Retraction Watch 9: ab")


def test_sixty_thousand_rows_are_read_in_seconds(tmp_path):
    for number in range(50):
        held(f"10.1000/work.{number * 1000}")
    path = tmp_path / "large.csv"
    rows = (
        row(**{"Record ID": str(n), "OriginalPaperDOI": f"10.1000/WORK.{n}", "Title": "t" * 90})
        for n in range(60_000)
    )
    path.write_text(as_csv(*rows))
    started = time.monotonic()

    report = import_file(path)

    assert (report.rows, report.recorded) == (60_000, 50)
    assert time.monotonic() - started < 30


def test_the_command_reports_in_numbers(file):
    held()

    shown = CliRunner().invoke(cli.corpus, ["import-retractions", str(file(row())), "--json"])

    assert json.loads(shown.stdout) == {
        "dry_run": False, "rows": 1, "matched": 1, "recorded": 1, "known": 0, "skipped": {}, "problems": [],
    }  # fmt: skip
