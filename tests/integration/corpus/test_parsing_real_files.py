"""Real papers and reports through the door to parsing: order, tables, metadata, named failures."""

import csv
from pathlib import Path

import pytest

from corpus.normalise import matching_form
from corpus.parsing.blocks import BlockKind, ParseFailure
from corpus.parsing.registry import parse
from tests.integration.corpus.real_files import parsed

ENCRYPTED = {"encrypted"}
NO_TEXT = {"scanned", "us-federal-scanned", "image-only", "no-text", "no-unicode-map", "xfa"}


def _index(shared_data: Path) -> list[dict[str, str]]:
    with (shared_data / "pdf" / "INDEX.tsv").open(encoding="utf-8") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def test_every_pdf_ends_in_a_document_or_a_named_reason(shared_data: Path) -> None:
    outcomes: dict[str, str] = {}
    for row in _index(shared_data):
        try:
            document = parsed(shared_data / "pdf" / row["file"])
        except ParseFailure as failure:
            outcomes[row["file"]] = failure.code
            continue
        outcomes[row["file"]] = "needs_ocr" if document.quality.get("needs_ocr") else "ready"
        assert document.page_count == int(row["pages"]), row["file"]
        assert float(document.quality["loss"]) <= 0.02, row["file"]

    expected = {row["file"]: row["category"] for row in _index(shared_data)}
    for name, category in expected.items():
        if category in ENCRYPTED:
            assert outcomes[name] == "encrypted", name
        elif category in NO_TEXT:
            assert outcomes[name] == "needs_ocr", name
        elif category.startswith(("science", "doe-lab", "us-federal")):
            assert outcomes[name] == "ready", name
    assert outcomes["ocrmypdf_invalid.pdf"] == "damaged"
    assert outcomes["pypdf_r3-empty-password.pdf"] == "ready"


def test_every_full_text_ends_in_a_document_or_a_named_reason(shared_data: Path) -> None:
    failures: dict[str, str] = {}
    for path in sorted((shared_data / "fulltext").iterdir()):
        try:
            document = parse(path)
        except ParseFailure as failure:
            failures[path.name] = failure.code
            continue
        assert document.blocks
        assert document.title, path.name
        if document.parser.startswith("lxml-jats"):
            assert document.doi, path.name
            assert document.license_statement, path.name

    assert failures == {"oag_bmc_1471-2164-13-425.xml": "unsupported_file_type"}


@pytest.mark.parametrize("number", ["00197", "00240", "00267", "00292", "00299", "00307"])
def test_a_pdf_says_what_its_own_markup_says(shared_data: Path, number: str) -> None:
    markup = parse(shared_data / "fulltext" / f"jose_{number}.jats.xml")
    printed = parsed(shared_data / "pdf" / f"jose_{number}.pdf")
    whole = [_squeezed(block.text) for block in printed.blocks]

    paragraphs = [
        _squeezed(block.text)
        for block in markup.blocks
        if block.kind is BlockKind.PARAGRAPH
        and len(block.text) > 80
        and not block.text.startswith("Keywords")
    ]
    unbroken = [text for text in paragraphs if any(text in block for block in whole)]

    assert len(unbroken) >= 0.8 * len(paragraphs)
    assert printed.title == markup.title
    assert abs(len(printed.references) - len(markup.references)) <= 2


def _squeezed(text: str) -> str:
    return "".join(char for char in matching_form(text).casefold() if char.isalnum())


@pytest.mark.parametrize(
    ("name", "caption", "row"),
    [
        (
            "oag_cellreports.pdf",
            "Table 1. Growth Competition",
            ("W3110gfp+", "W3110", "67,524 ± 5,876 (100%)", "100"),
        ),
        ("jcon_00134.pdf", "Table 2.", ("100%Small", "38", "1350", "36")),
        ("jcon_00130.pdf", "Table 1.", ("FeatureTweak [37]", "tree based", "feature", "no")),
        ("pypdfsample_multicolumn.pdf", "Table 1:", ("Austria", "8.9", "83,879", "Vienna", "German")),
    ],
)
def test_tables_of_real_papers_keep_rows_and_caption(
    shared_data: Path, name: str, caption: str, row: tuple[str, ...]
) -> None:
    tables = [block for block in parsed(shared_data / "pdf" / name).blocks if block.kind is BlockKind.TABLE]

    table = next(table for table in tables if table.text.startswith(caption))

    assert row in table.rows


def test_a_federal_table_without_rules_keeps_every_state(shared_data: Path) -> None:
    document = parsed(shared_data / "pdf" / "plumber_nics-background-checks-2015-11.pdf")

    table = max(document.blocks, key=lambda block: len(block.rows))
    alabama = next(row for row in table.rows if row[0] == "Alabama")
    assert alabama[:4] == ("Alabama", "18,870", "23,022", "22,650")
    assert alabama[-1] == "71,137"


@pytest.mark.parametrize(
    ("name", "count"),
    [("jcon_00134.pdf", 41), ("jcon_00130.pdf", 44), ("oag_srep01041.pdf", 55), ("jcon_00078.pdf", 24)],
)
def test_numbered_reference_lists_are_complete_and_no_evidence(
    shared_data: Path, name: str, count: int
) -> None:
    document = parsed(shared_data / "pdf" / name)

    assert len(document.references) == count
    assert not any(document.references[0].text[:40] in block.text for block in document.blocks)


def test_metadata_of_a_paper_is_found_on_its_page(shared_data: Path) -> None:
    document = parsed(shared_data / "pdf" / "oag_srep01041.pdf")

    assert document.title.startswith("p38 MAPK mediates calcium oxalate crystal-induced tight junction")
    assert document.doi == "10.1038/srep01041"
    assert "Creative Commons Attribution-NonCommercial-NoDerivs 3.0" in document.license_statement
