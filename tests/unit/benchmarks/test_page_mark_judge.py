"""The judge of page marks passes what is right and finds what was put in a wrong place."""

from __future__ import annotations

import random
from pathlib import Path

import pypdfium2
import pytest

from benchmarks.page_mark_judge import Judge, Reading, read
from corpus.page_views import Mark
from corpus.parsing.blocks import Block
from tests.unit.corpus.parsing.drawing import HEIGHT, LEADING, LEFT, RIGHT, TOP, Drawing

Drawn = tuple[tuple[Block, ...], list[Reading]]
A_LINE = round(1000 * LEADING / HEIGHT)


def drawn(page: Drawing, folder: Path) -> Drawn:
    """The blocks of a drawing, and the judge's reading of its pages."""
    blocks = page.parsed(folder).blocks
    with pypdfium2.PdfDocument(folder / "drawing.pdf") as document:
        return blocks, [read(document, number + 1) for number in range(len(document))]


def mark(block: Block, *, lower: int = 0) -> Mark:
    box = block.boxes[0]
    left, top, right, bottom = (round(1000 * edge) for edge in (box.left, box.top, box.right, box.bottom))
    return Mark(left - 3, top - 3 + lower, right - left + 6, bottom - top + 6)


def words(seed: int, *, lines: int = 7) -> list[str]:
    """A paragraph of words that no other seed gives."""
    choose = random.Random(seed)  # noqa: S311 - reproducible, not secret
    full = [
        " ".join("".join(choose.choices("abdegiklmnoprstu", k=5)) for _ in range(7)) for _ in range(lines)
    ]
    return [full[0].capitalize(), *full[1:-1], f"{full[-1][:17]}."]


@pytest.fixture
def two_columns(tmp_path: Path) -> Drawn:
    page = Drawing()
    for number, x in enumerate((LEFT, RIGHT)):
        y = page.column(x, TOP, words(number))
        page.column(x, y - 12, words(number + 2))
    page.next_page()
    page.column(LEFT, TOP, words(5, lines=8))
    return drawn(page, tmp_path)


def test_a_mark_where_the_passage_stands_is_right(
    two_columns: Drawn,
) -> None:
    blocks, (page, _) = two_columns
    for block in blocks[:4]:
        judge = Judge(block.text, [page])

        assert judge.mark(page, mark(block)).fault == ""
        assert judge.missed({page: [mark(block)]}) == {}


def test_a_mark_a_line_too_low_leaves_a_line_out_and_takes_another_one_in(
    two_columns: Drawn,
) -> None:
    blocks, (page, _) = two_columns
    judge = Judge(blocks[0].text, [page])
    low = mark(blocks[0], lower=A_LINE + 8)

    assert judge.mark(page, low).fault == "a line of something else"
    assert set(judge.missed({page: [low]})) == {page}


def test_a_mark_on_another_page_over_the_other_column_or_over_nothing_is_wrong(
    two_columns: Drawn,
) -> None:
    blocks, (page, other) = two_columns
    judge = Judge(blocks[0].text, [page, other])

    assert judge.mark(other, mark(blocks[0])).fault == "less than half"
    assert judge.mark(page, mark(blocks[2])).fault == "less than half"
    assert judge.mark(other, mark(blocks[3])).fault == "nothing under it"


def test_letters_that_two_readings_order_differently_are_the_passages_all_the_same(tmp_path: Path) -> None:
    page = Drawing()
    page.line(LEFT, TOP, "K  = (a + b) U  - F  + D")
    page.line(LEFT + 7, TOP - 3, "ijlk", size=6)
    page.line(LEFT, TOP - 200, "One says nothing of the kind here and then goes on.")
    blocks, (reading,) = drawn(page, tmp_path)
    judge = Judge("Kijlk = ba + (U) DF", [reading])

    assert judge.mark(reading, mark(blocks[0])).fault == ""
    assert judge.mark(reading, mark(blocks[-1])).fault == "less than half"
