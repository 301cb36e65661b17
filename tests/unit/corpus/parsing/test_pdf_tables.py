"""Tables drawn on pages: which lines make up one row, where columns part, and what is no table."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import pytest

from corpus.parsing.blocks import Block, BlockKind
from tests.unit.corpus.parsing.drawing import LEFT, RIGHT, TOP, Drawing

WIDTH = 480.0
COLUMNS = (LEFT, 210.0, 320.0, 430.0)
CAPTION = "Table 1. Losses of the lots."


def draw(
    page: Drawing, y: float, lines: Sequence[tuple[float, Sequence[str]]], *, rules: Sequence[float]
) -> None:
    """Draw a caption above `y`, lines of cells so far below it, and rules so far below it."""
    page.line(LEFT, y + 16, CAPTION)
    for below, cells in lines:
        for x, cell in zip(COLUMNS, cells, strict=False):
            if cell:
                page.line(x, y - below, cell)
    for below in rules:
        page.rule(LEFT - 2, y - below, WIDTH)


def tables(page: Drawing, folder: Path) -> list[Block]:
    return [block for block in page.parsed(folder).blocks if block.kind is BlockKind.TABLE]


def only(page: Drawing, folder: Path) -> Block:
    (table,) = tables(page, folder)
    return table


def test_a_cell_of_several_lines_is_one_row(tmp_path: Path) -> None:
    page = Drawing()
    lines = [
        (12, ["Lot", "Cover", "Loss"]),
        (30, ["Straw stored outdoors at the", "plastic", "2.5"]),
        (42, ["edge of the field"]),
        (54, ["Straw kept under roof", "none", "1.5"]),
        (66, ["Straw in a closed silo", "plastic", "0.5"]),
    ]
    draw(page, TOP, lines, rules=[0, 18, 72])

    table = only(page, tmp_path)

    assert [row[0] for row in table.rows] == [
        "Lot",
        "Straw stored outdoors at the edge of the field",
        "Straw kept under roof",
        "Straw in a closed silo",
    ]
    assert table.text == CAPTION


def test_the_last_line_of_a_cell_in_a_wide_column_is_no_note_below_the_table(tmp_path: Path) -> None:
    page = Drawing()
    wide = "goes on to say at full length what the routine does with the file it is given"
    lines = [
        (12, ["File", "Use"]),
        (30, ["one.f90", "Reads"]),
        (48, ["two.f90", "Reads and then writes, and"]),
        (60, ["", wide]),
    ]
    page.line(LEFT, TOP + 16, CAPTION)
    for below, cells in lines:
        for x, cell in zip((LEFT, 110.0), cells, strict=True):
            page.line(x, TOP - below, cell)
    for below in (0, 18, 36, 66):
        page.rule(LEFT - 2, TOP - below, 420.0)

    table = only(page, tmp_path)

    assert table.rows[-1] == ("two.f90", f"Reads and then writes, and {wide}")
    assert len(table.rows) == 3


def test_every_line_of_a_table_knows_its_place_and_its_letters_the_captions_first(tmp_path: Path) -> None:
    page = Drawing()
    lines = [
        (12, ["Lot", "Cover", "Loss"]),
        (30, ["Straw stored outdoors at the", "plastic", "2.5"]),
        (42, ["edge of the field"]),
        (54, ["Straw kept under roof", "none", "1.5"]),
        (66, ["Straw in a closed silo", "plastic", "0.5"]),
    ]
    draw(page, TOP, lines, rules=[0, 18, 72])

    caption, *rows = only(page, tmp_path).strips

    assert caption.letters == sum(map(str.isalnum, CAPTION))
    assert [row.letters for row in rows] == [sum(map(str.isalnum, "".join(cells))) for _, cells in lines]
    assert all(above.box.bottom == below.box.top for above, below in pairwise(rows))
    assert caption.box.bottom < rows[0].box.top


def test_rows_that_stand_apart_are_told_by_their_distance(tmp_path: Path) -> None:
    page = Drawing()
    lines: list[tuple[float, list[str]]] = [(12, ["Course", "For", "Weeks"])]
    for number in range(4):
        lines.append((32 + 28 * number, [f"Course {number} on straw", "Farmers", f"{number + 2}"]))
        lines.append((43 + 28 * number, [f"(School {number})"]))
    draw(page, TOP, lines, rules=[0, 18, 140])

    table = only(page, tmp_path)

    assert len(table.rows) == 5
    assert table.rows[1] == ("Course 0 on straw (School 0)", "Farmers", "2")


def test_what_stands_between_two_rules_is_one_row(tmp_path: Path) -> None:
    page = Drawing()
    lines: list[tuple[float, list[str]]] = []
    for number in range(5):
        lines.append((12 + 40 * number, [f"Routine {number}", "File,", "Reads the next line"]))
        lines.append((24 + 40 * number, ["", "Text,", "and says how long"]))
        lines.append((36 + 40 * number, ["", "Error", "it has taken."]))
    draw(page, TOP, lines, rules=[40 * number for number in range(6)])

    table = only(page, tmp_path)

    assert len(table.rows) == 5
    assert table.rows[2] == (
        "Routine 2",
        "File, Text, Error",
        "Reads the next line and says how long it has taken.",
    )


def test_titles_over_several_columns_are_a_row_and_part_no_column(tmp_path: Path) -> None:
    page = Drawing()
    page.line(350, TOP - 12, "Losses (per cent)")
    lines: list[tuple[float, list[str]]] = [(26, ["Lot", "Days", "Winter", "Summer"])]
    lines += [(44 + 13 * row, [f"Lot {row}", f"{30 * row}", f"{row}.5", f"{row}.9"]) for row in range(6)]
    draw(page, TOP, lines, rules=[0, 32, 118])

    table = only(page, tmp_path)

    assert (len(table.rows), len(table.rows[0]), table.header_rows) == (8, 4, 2)
    assert table.rows[1] == ("Lot", "Days", "Winter", "Summer")


def test_groups_of_rows_between_rules_stay_rows(tmp_path: Path) -> None:
    page = Drawing()
    lines: list[tuple[float, list[str]]] = [(12, ["State", "Handguns", "Others", "All"])]
    lines += [(30 + 13 * row, [f"State number {row}", f"{row}1", f"{row}2", f"{row}3"]) for row in range(12)]
    draw(page, TOP, lines, rules=[0, 18, 72, 124, 180])

    assert len(only(page, tmp_path).rows) == 13


def test_a_column_without_figures_is_a_column(tmp_path: Path) -> None:
    page = Drawing()
    lines: list[tuple[float, list[str]]] = [(12, ["Name", "Meaning", "Unit", "Remark"])]
    lines += [(30 + 13 * row, [f"U({row})", f"Height {row}", f"{row} m"]) for row in range(8)]
    draw(page, TOP, lines, rules=[0, 18, 130])

    assert {len(row) for row in only(page, tmp_path).rows} == {4}


def test_labels_above_the_first_rule_are_the_header(tmp_path: Path) -> None:
    page = Drawing()
    lines: list[tuple[float, list[str]]] = [(-4, ["Name", "Arguments", "Effect"])]
    lines += [(12 + 18 * row, [f"Routine {row}", f"File {row}", f"Reads {row} lines"]) for row in range(4)]
    draw(page, TOP - 30, lines, rules=[18 * number for number in range(5)])

    assert only(page, tmp_path).rows[0] == ("Name", "Arguments", "Effect")


def test_the_header_of_a_table_that_goes_on_over_pages_is_no_running_header(tmp_path: Path) -> None:
    page = Drawing()
    for number in range(4):
        lines: list[tuple[float, list[str]]] = [(12, ["Name", "Arguments", "Effect"])]
        lines += [
            (26 + 13 * row, [f"Routine {number}{row}", f"File {row}", f"Reads {row}{number} lines"])
            for row in range(30)
        ]
        draw(page, TOP, lines, rules=[0, 18, 420])
        page.next_page()

    found = tables(page, tmp_path)

    assert [table.rows[0] for table in found] == [("Name", "Arguments", "Effect")] * 4


def test_two_tables_with_text_between_are_two(tmp_path: Path) -> None:
    page = Drawing()
    lines: list[tuple[float, list[str]]] = [(12, ["Lot", "Days", "Loss"])]
    lines += [(30 + 13 * row, [f"Lot {row}", f"{30 * row}", f"{row}.5"]) for row in range(5)]
    draw(page, TOP, lines, rules=[0, 18, 90])
    y = page.prose(LEFT, TOP - 120, lines=6, first="Between", seed=4)
    draw(page, y - 40, lines, rules=[0, 18, 90])

    assert [len(table.rows) for table in tables(page, tmp_path)] == [6, 6]


def test_an_algorithm_in_a_frame_is_no_table(tmp_path: Path) -> None:
    page = Drawing()
    page.line(LEFT, TOP - 12, "Algorithm 1 Counting the lots")
    for row in range(8):
        page.line(LEFT, TOP - 32 - 13 * row, f"{row + 1}:")
        page.line(LEFT + 40, TOP - 32 - 13 * row, f"count the lots of field {row}")
    for below in (0, 18, 140):
        page.rule(LEFT - 2, TOP - below, WIDTH)

    assert tables(page, tmp_path) == []


@pytest.mark.parametrize("has_rules", [True, False])
def test_running_text_in_two_columns_is_no_table(tmp_path: Path, has_rules: bool) -> None:
    page = Drawing()
    for x in (LEFT, RIGHT):
        page.prose(x, TOP - 20, lines=20, first="Straw", seed=int(x))
    if has_rules:
        page.rule(LEFT, TOP, WIDTH + 20)
        page.rule(LEFT, TOP - 280, WIDTH + 20)

    assert tables(page, tmp_path) == []
