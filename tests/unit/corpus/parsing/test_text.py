"""Plain text to blocks."""

from pathlib import Path

import pytest

from corpus.parsing.blocks import BlockKind, ParseFailure
from corpus.parsing.limits import ParseLimits
from tests.unit.corpus.parsing.reading import of_kind, read, shown

REPORT = """Digestion of Maize Silage

ABSTRACT

Biogas was measured in three ligno-
cellulosic feedstocks over one year.

2.1 Feedstock handling
The silage was chopped to 10 mm and stored at 4 degrees until use.

1. Dry the sample at 105 C for one day.
2. Weigh it to the nearest milligram.

Feedstock    Yield    Ash
Maize        345      4.1
Straw        210      6.5

short line

References

[1] Smith J. Biogas from silage. 2019. doi:10.1000/ABC.1
"""


def test_paragraphs_headings_lists_and_tables_are_told_apart(tmp_path: Path) -> None:
    document = read(tmp_path / "report.txt", REPORT)

    assert shown(document) == [
        "heading2 Digestion of Maize Silage",
        "heading1 ABSTRACT",
        "paragraph Biogas was measured in three lignocellulosic feedstocks over one year.",
        "heading2 2.1 Feedstock handling",
        "paragraph The silage was chopped to 10 mm and stored at 4 degrees until use.",
        "list_item 1. Dry the sample at 105 C for one day.",
        "list_item 2. Weigh it to the nearest milligram.",
        "table ",
    ]
    assert document.title == "Digestion of Maize Silage"


def test_a_table_keeps_its_rows_and_its_header(tmp_path: Path) -> None:
    table = next(block for block in read(tmp_path / "r.txt", REPORT).blocks if block.kind is BlockKind.TABLE)

    assert table.rows == (("Feedstock", "Yield", "Ash"), ("Maize", "345", "4.1"), ("Straw", "210", "6.5"))
    assert table.header_rows == 1


def test_the_reference_list_is_no_evidence(tmp_path: Path) -> None:
    document = read(tmp_path / "report.txt", REPORT)

    assert [(entry.text, entry.doi) for entry in document.references] == [
        ("Smith J. Biogas from silage. 2019. doi:10.1000/ABC.1", "10.1000/abc.1")
    ]


def test_a_form_feed_is_a_page_break(tmp_path: Path) -> None:
    document = read(tmp_path / "p.txt", "First page with enough words.\fSecond page with enough words.")

    assert [(block.page, block.text) for block in document.blocks] == [
        (1, "First page with enough words."),
        (2, "Second page with enough words."),
    ]
    assert document.page_count == 2


def test_fragments_are_dropped_unless_there_is_nothing_else(tmp_path: Path) -> None:
    assert of_kind(read(tmp_path / "f.txt", "tiny"), BlockKind.PARAGRAPH) == ["tiny"]


@pytest.mark.parametrize(
    ("encoding", "named"), [("latin-1", "cp1252"), ("utf-16", "utf-16"), ("utf-16-be", "utf-16-be")]
)
def test_another_encoding_is_read_and_stated(tmp_path: Path, encoding: str, named: str) -> None:
    text = "Die Größe der Hüllen beträgt 5 µm. Übung macht in Österreich den Meister."

    document = read(tmp_path / "e.txt", text.encode(encoding))

    assert of_kind(document, BlockKind.PARAGRAPH) == [text]
    assert document.warnings == (f"The text is not UTF-8; it was read as {named}.",)


@pytest.mark.parametrize("content", ["   \n\n\t ", "\x00\x01", "\f\f"])
def test_a_file_without_any_text_says_so(tmp_path: Path, content: str) -> None:
    with pytest.raises(ParseFailure) as failure:
        read(tmp_path / "n.txt", content)

    assert failure.value.code == "no_text"


def test_more_characters_than_a_document_may_have_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ParseFailure) as failure:
        read(tmp_path / "l.txt", "x" * 101, limits=ParseLimits(max_characters=100))

    assert failure.value.code == "too_large"


def test_one_line_of_a_megabyte_is_one_paragraph(tmp_path: Path) -> None:
    document = read(tmp_path / "o.txt", "word " * 200_000)

    assert len(document.blocks) == 1
