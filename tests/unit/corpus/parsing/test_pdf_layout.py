"""PDF by layout, on pages drawn for one fact each."""

from pathlib import Path

import pytest

from corpus.parsing.blocks import BlockKind, ParsedDocument
from tests.unit.corpus.parsing.drawing import COLUMN_WIDTH, HEIGHT, LEFT, RIGHT, TOP, WIDTH, Drawing
from tests.unit.corpus.parsing.reading import of_kind


def _order(document: ParsedDocument, *beginnings: str) -> list[str]:
    """Return the beginnings in the order in which blocks hold them."""
    text = "\n".join(block.text for block in document.blocks)
    missing = [beginning for beginning in beginnings if beginning not in text]
    assert not missing
    return sorted(beginnings, key=text.index)


def test_two_columns_are_read_left_first_below_a_spanning_title(tmp_path: Path) -> None:
    page = Drawing()
    page.line(90, TOP, "A title that stands over both of the columns", font="Times-Bold", size=18)
    for number, x in ((1, LEFT), (3, RIGHT)):
        y = page.prose(x, TOP - 40, lines=8, first=f"ALPHA{number}", seed=number)
        page.prose(x, y - 8, lines=8, first=f"ALPHA{number + 1}", seed=number + 9)

    document = page.parsed(tmp_path)

    wanted = ["A title that", "ALPHA1", "ALPHA2", "ALPHA3", "ALPHA4"]
    assert _order(document, *reversed(wanted)) == wanted
    assert document.title == "A title that stands over both of the columns"


def test_a_spanning_figure_caption_divides_the_columns_into_bands(tmp_path: Path) -> None:
    page = Drawing()
    page.prose(LEFT, TOP, lines=8, first="ONE", seed=1)
    page.prose(RIGHT, TOP, lines=8, first="TWO", seed=4)
    page.line(
        LEFT,
        TOP - 120,
        "Figure 1. A caption that runs over the whole width of the page, column and gutter, to here.",
    )
    page.prose(LEFT, TOP - 150, lines=8, first="THREE", seed=6)
    page.prose(RIGHT, TOP - 150, lines=8, first="FOUR", seed=8)

    document = page.parsed(tmp_path)

    wanted = ["ONE", "TWO", "Figure 1.", "THREE", "FOUR"]
    assert _order(document, *reversed(wanted)) == wanted


def test_a_paragraph_broken_by_the_column_is_whole_again(tmp_path: Path) -> None:
    page = Drawing()
    page.prose(LEFT, TOP, lines=6, first="Begin", seed=2)
    page.column(
        LEFT,
        TOP - 80,
        ["The sentence that breaks off at the foot of this", "first column and goes on with the follow-"],
    )
    page.column(
        RIGHT,
        TOP,
        ["ing words at the head of the second column, as it", "would in any paper that has two of them."],
    )
    page.prose(RIGHT, TOP - 40, lines=6, first="End", seed=5)

    document = page.parsed(tmp_path)

    broken = next(block for block in document.blocks if block.text.startswith("The sentence"))
    assert "goes on with the following words at the head" in broken.text
    assert len(broken.boxes) == 2


def test_headings_are_told_by_their_type_and_levelled_by_their_number(tmp_path: Path) -> None:
    page = Drawing()
    page.line(LEFT, TOP, "2 Methods", font="Times-Bold", size=13)
    y = page.prose(LEFT, TOP - 24, lines=4, first="The methods", seed=1)
    page.line(LEFT, y - 12, "2.1 Feedstock handling", font="Times-Bold", size=11)
    y = page.prose(LEFT, y - 30, lines=4, first="The feedstock", seed=3)
    page.line(LEFT, y - 12, "Acknowledgements", font="Times-Bold", size=13)
    page.prose(LEFT, y - 30, lines=4, first="We thank", seed=5)

    document = page.parsed(tmp_path)

    headings = [(b.level, b.text) for b in document.blocks if b.kind is BlockKind.HEADING]
    assert headings == [(1, "2 Methods"), (2, "2.1 Feedstock handling"), (1, "Acknowledgements")]


def _paged(pages: int) -> Drawing:
    drawing = Drawing()
    for number in range(1, pages + 1):
        drawing.line(LEFT, HEIGHT - 30, "Journal of Straw 12 (2021)")
        drawing.line(WIDTH / 2, 30, str(number + 40))
        drawing.prose(LEFT, TOP - 30, lines=10, first=f"PAGE{number}", seed=number)
        for row, value in enumerate(("1999", "2004", "17")):
            drawing.line(LEFT, TOP - 200 - 14 * row, f"Row {number}-{row}")
            drawing.line(LEFT + 90, TOP - 200 - 14 * row, value)
            drawing.line(LEFT + 160, TOP - 200 - 14 * row, f"{number}.{row}")
        if number < pages:
            drawing.next_page()
    return drawing


@pytest.mark.parametrize("pages", [2, 6])
def test_running_lines_go_and_numbers_in_tables_stay(tmp_path: Path, pages: int) -> None:
    document = _paged(pages).parsed(tmp_path)

    words = " ".join(
        [block.text for block in document.blocks] + [c for b in document.blocks for r in b.rows for c in r]
    )
    assert "Journal of Straw" not in words
    assert not {str(number + 40) for number in range(1, pages + 1)} & set(words.split())
    assert words.split().count("1999") == words.split().count("17") == pages


def test_a_single_page_keeps_its_number(tmp_path: Path) -> None:
    assert "41" in " ".join(of_kind(_paged(1).parsed(tmp_path), BlockKind.PARAGRAPH)).split()


ROWS = [
    ["Feedstock", "Yield", "Ash"],
    ["Maize silage", "345", "4.1"],
    ["Wheat straw", "210", "6.5"],
    ["Grass", "280", "9.0"],
]


def _table(page: Drawing, x: float, y: float, *, is_ruled: bool) -> None:
    page.line(x, y + 18, "Table 2. Yields by feedstock.")
    width = COLUMN_WIDTH
    for number, row in enumerate(ROWS):
        for column, cell in enumerate(row):
            page.line(x + column * width / 3, y - 14 * number, cell)
    if is_ruled:
        for rule_y in (y + 11, y - 4, y - 14 * len(ROWS) + 8):
            page.rule(x, rule_y, width)


@pytest.mark.parametrize("is_ruled", [True, False], ids=["ruled", "unruled"])
def test_a_table_has_rows_header_and_caption(tmp_path: Path, is_ruled: bool) -> None:
    page = Drawing()
    y = page.prose(LEFT, TOP, lines=8, first="Before", seed=1)
    _table(page, LEFT, y - 40, is_ruled=is_ruled)
    page.prose(LEFT, y - 130, lines=8, first="After", seed=3)

    document = page.parsed(tmp_path)

    table = next(block for block in document.blocks if block.kind is BlockKind.TABLE)
    assert [list(row) for row in table.rows] == ROWS
    assert table.header_rows == 1
    assert table.text == "Table 2. Yields by feedstock."
    kinds = [block.kind for block in document.blocks]
    assert kinds == [BlockKind.PARAGRAPH, BlockKind.TABLE, BlockKind.PARAGRAPH]


def test_a_table_beside_a_column_of_text_stays_out_of_it(tmp_path: Path) -> None:
    page = Drawing()
    y = page.prose(LEFT, TOP, lines=6, first="ONE", seed=1)
    _table(page, LEFT, y - 40, is_ruled=True)
    page.prose(LEFT, y - 130, lines=6, first="TWO", seed=3)
    page.prose(RIGHT, TOP, lines=24, first="THREE", seed=6)

    document = page.parsed(tmp_path)

    table = next(block for block in document.blocks if block.kind is BlockKind.TABLE)
    assert [list(row) for row in table.rows] == ROWS
    assert _order(document, "THREE", "TWO", "Table 2.", "ONE") == ["ONE", "Table 2.", "TWO", "THREE"]


def test_references_are_apart_and_keep_their_doi(tmp_path: Path) -> None:
    page = Drawing()
    y = page.prose(LEFT, TOP, lines=8, first="The text", seed=1)
    page.line(LEFT, y - 14, "References", font="Times-Bold", size=13)
    page.column(
        LEFT,
        y - 34,
        [
            "[1] Smith J. Biogas from silage in cold climates and",
            "     elsewhere. J Straw 2019. doi:10.1000/abc.1",
            "[2] Green A. Steam explosion. J Straw 2020.",
        ],
    )

    document = page.parsed(tmp_path)

    assert [(entry.text, entry.doi) for entry in document.references] == [
        (
            "Smith J. Biogas from silage in cold climates and elsewhere. J Straw 2019. doi:10.1000/abc.1",
            "10.1000/abc.1",
        ),
        ("Green A. Steam explosion. J Straw 2020.", ""),
    ]
    assert not any("Smith" in block.text or block.text == "References" for block in document.blocks)


def test_words_cut_at_line_ends_follow_the_document(tmp_path: Path) -> None:
    page = Drawing()
    page.column(
        LEFT,
        TOP,
        [
            "The long-term trial measured lignin in straw over",
            "many years. Its result was a very clear and long-",
            "term effect of the enzyme upon the ligno-",
            "cellulosic feedstock of the whole field plot.",
        ],
    )

    (paragraph,) = of_kind(page.parsed(tmp_path), BlockKind.PARAGRAPH)

    assert paragraph == (
        "The long-term trial measured lignin in straw over many years. Its result was a very clear and "
        "long-term effect of the enzyme upon the lignocellulosic feedstock of the whole field plot."
    )


def test_every_block_knows_its_page_and_its_place(tmp_path: Path) -> None:
    page = Drawing()
    page.prose(LEFT, TOP, lines=4, first="First", seed=1)
    page.next_page()
    page.prose(RIGHT, HEIGHT / 2, lines=4, first="Second", seed=2)

    first, second = page.parsed(tmp_path).blocks

    assert (first.page, second.page) == (1, 2)
    box = second.boxes[0]
    assert box.page == 2
    assert box.left == pytest.approx(RIGHT / WIDTH, abs=0.01)
    assert 0.48 < box.top < 0.5 < box.bottom < 0.56
    assert box.right < 1


def test_every_line_of_a_block_knows_its_place_and_its_letters(tmp_path: Path) -> None:
    page = Drawing()
    lines = ["The first line breaks a cut-", "ting word and goes on with a", "sum x = 2 at the end of it."]
    page.column(LEFT, TOP, lines)

    (block,) = page.parsed(tmp_path).blocks

    assert block.text.startswith("The first line breaks a cutting word")
    assert [strip.letters for strip in block.strips] == [sum(map(str.isalnum, line)) for line in lines]
    tops = [strip.box.top for strip in block.strips]
    assert tops == sorted(tops)
    assert [tops[0], block.strips[-1].box.bottom] == [block.boxes[0].top, block.boxes[0].bottom]


def test_the_character_balance_closes(tmp_path: Path) -> None:
    document = _paged(6).parsed(tmp_path)

    assert document.quality["loss"] == 0
    assert (
        document.quality["characters"]
        == document.quality["characters_kept"] + document.quality["characters_running"]
    )


def test_footnotes_captions_and_code_have_their_kinds(tmp_path: Path) -> None:
    page = Drawing()
    y = page.prose(LEFT, TOP, lines=8, first="The text", seed=1)
    y = page.column(LEFT, y - 10, ["def yield_of(straw):", "    return straw * 2"], font="Courier", size=9)
    page.line(LEFT, y - 14, "Figure 3. The reactor in winter.", size=9)
    page.prose(LEFT, 200, lines=4, first="More text", seed=4)
    page.line(LEFT, 80, "1 The reactor was rebuilt in spring.", size=8)

    document = page.parsed(tmp_path)

    assert of_kind(document, BlockKind.CODE) == ["def yield_of(straw):\n    return straw * 2"]
    assert of_kind(document, BlockKind.CAPTION) == ["Figure 3. The reactor in winter."]
    assert of_kind(document, BlockKind.FOOTNOTE) == ["1 The reactor was rebuilt in spring."]


def test_a_page_turned_by_a_quarter_is_read_upright(tmp_path: Path) -> None:
    page = Drawing()
    page.canvas.setPageRotation(90)
    page.canvas.rotate(90)
    page.prose(60, -200, lines=5, first="TURNED", seed=1)

    document = page.parsed(tmp_path)

    assert of_kind(document, BlockKind.PARAGRAPH)[0].startswith("TURNED")


@pytest.mark.parametrize(("angle", "x", "y"), [(90, 60, -200), (-90, -700, 300), (180, -560, -300)])
def test_text_set_sideways_on_an_upright_page_is_read_upright(
    tmp_path: Path, angle: int, x: float, y: float
) -> None:
    page = Drawing()
    page.canvas.rotate(angle)
    page.prose(x, y, lines=5, first="SIDEWAYS", seed=1)
    page.prose(x + 260, y, lines=5, first="SECOND", seed=4)

    document = page.parsed(tmp_path)

    sideways, second = document.blocks
    assert sideways.text.startswith("SIDEWAYS")
    assert second.text.startswith("SECOND")
    assert sideways.boxes[0].right < second.boxes[0].left


def test_a_page_without_text_needs_recognition(tmp_path: Path) -> None:
    page = Drawing()
    page.canvas.rect(100, 100, 200, 200, fill=1)

    document = page.parsed(tmp_path)

    assert document.blocks == ()
    assert document.quality["needs_ocr"] == 1
    assert document.page_count == 1


def test_the_stated_title_counts_only_when_the_first_page_shows_it(tmp_path: Path) -> None:
    page = Drawing(title="Microsoft Word - draft7.doc", author="Typist")
    page.line(LEFT, TOP, "Steam explosion of wheat straw", font="Times-Bold", size=20)
    page.prose(LEFT, TOP - 60, lines=8, first="The text", seed=1)

    document = page.parsed(tmp_path)

    assert document.title == "Steam explosion of wheat straw"
    assert document.authors == ()
