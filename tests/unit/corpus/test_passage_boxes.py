"""A passage is marked around the lines that hold its words, and nowhere else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus.chunking import ChunkingLimits, Passage, chunk
from corpus.parsing.blocks import Block, BlockKind, Box, Strip
from corpus.passage_boxes import Held, boxes_of, pages_of


def line(
    number: int, *, page: int = 1, letters: int = 10, left: float = 0.1, top: float | None = None
) -> Strip:
    """The line with this number on a page, 0.02 high with 0.01 between two."""
    top = 0.1 + 0.03 * number if top is None else top
    return Strip(Box(page, left, round(top, 4), left + 0.3, round(top + 0.02, 4)), letters)


def block(*strips: Strip, boxes: int = 1) -> Block:
    text = " ".join("x" * strip.letters for strip in strips)
    whole = tuple(Box(1 + number, 0.1, 0.1, 0.4, 0.9) for number in range(boxes))
    return Block(BlockKind.PARAGRAPH, text, page=1, boxes=whole, strips=strips)


def found(of: Block, *ranges: tuple[int, int]) -> list[tuple[int, float, float]]:
    return [(box.page, box.top, box.bottom) for box in boxes_of(Held(of, ranges))]


def test_a_part_of_a_paragraph_is_marked_around_its_own_lines() -> None:
    paragraph = block(line(0), line(1), line(2), line(3))

    assert found(paragraph, (0, 40)) == [(1, 0.1, 0.21)]
    assert found(paragraph, (10, 30)) == [(1, 0.13, 0.18)]


def test_a_part_on_one_page_of_a_paragraph_over_two_is_marked_on_that_page_alone() -> None:
    paragraph = block(line(28), line(29), line(0, page=2), line(1, page=2))

    assert {page for page, _, _ in found(paragraph, (0, 20))} == {1}
    assert {page for page, _, _ in found(paragraph, (20, 40))} == {2}
    assert [page for page, _, _ in found(paragraph, (0, 40))] == [1, 2]
    assert pages_of(Held(paragraph, ((20, 40),)), boxes_of(Held(paragraph, ((20, 40),)))) == {2}


def test_the_few_words_of_a_line_at_the_foot_of_a_page_are_no_reason_to_mark_it() -> None:
    paragraph = block(line(29), line(0, page=2), line(1, page=2))

    assert [page for page, _, _ in found(paragraph, (7, 30))] == [2]
    assert [page for page, _, _ in found(paragraph, (4, 30))] == [1, 2]


def test_lines_of_two_columns_and_lines_far_apart_are_marked_each_for_itself() -> None:
    columns = block(line(20), line(21), line(0, left=0.5), line(1, left=0.5))
    apart = block(line(0), line(1), line(9))

    assert found(columns, (0, 40)) == [(1, 0.7, 0.75), (1, 0.1, 0.15)]
    assert found(apart, (0, 30)) == [(1, 0.1, 0.15), (1, 0.37, 0.39)]


def test_a_line_without_letters_is_not_marked() -> None:
    paragraph = block(line(0), line(1, letters=0), line(2), line(3, letters=0))

    assert found(paragraph, (0, 20)) == [(1, 0.1, 0.12), (1, 0.16, 0.18)]
    assert found(block(line(0, letters=0)), (0, 0)) == []


def test_a_line_of_which_the_passage_has_the_last_word_is_not_marked() -> None:
    paragraph = block(line(0), line(1), line(2))

    assert found(paragraph, (8, 30)) == [(1, 0.13, 0.18)]
    assert found(paragraph, (0, 12)) == [(1, 0.1, 0.12)]
    assert found(paragraph, (7, 30)) == [(1, 0.1, 0.18)]


@pytest.mark.parametrize(
    ("boxes", "part", "marks"),
    [(1, (0, 20), 1), (1, (0, 12), 1), (1, (0, 9), 0), (2, (0, 20), 2), (2, (0, 19), 0)],
)
def test_where_lines_are_not_known_a_part_is_marked_only_where_it_is_sure_to_stand(
    boxes: int, part: tuple[int, int], marks: int
) -> None:
    whole = block(line(0), line(1), boxes=boxes)
    bare = Block(BlockKind.PARAGRAPH, whole.text, page=1, boxes=whole.boxes)

    held = Held(bare, (part,))

    assert len(boxes_of(held)) == marks
    assert pages_of(held, boxes_of(held)) == set(range(1, boxes + 1))


@given(st.lists(st.integers(0, 30), min_size=1, max_size=12), st.data())
def test_no_line_is_marked_of_which_the_passage_has_little_and_every_other_one_is(
    counts: list[int], data: st.DataObject
) -> None:
    whole = block(*(line(number, letters=count) for number, count in enumerate(counts)))
    first = data.draw(st.integers(0, sum(counts)))
    last = data.draw(st.integers(first, sum(counts)))
    ends = [sum(counts[: number + 1]) for number in range(len(counts))]
    held = [max(0, min(end, last) - max(end - own, first)) for own, end in zip(counts, ends, strict=True)]
    is_good = [bool(own) and 4 * part >= own for own, part in zip(counts, held, strict=True)]

    marked = boxes_of(Held(whole, ((first, last),)))

    for strip, part, good in zip(whole.strips, held, is_good, strict=True):
        is_marked = any(box.top <= strip.box.top and strip.box.bottom <= box.bottom for box in marked)
        assert good or not is_marked or not strip.letters
        assert is_marked or not good or 2 * part < strip.letters


def cut(*blocks: Block) -> tuple[Passage, ...]:
    limits = ChunkingLimits(chunk_tokens=24, overlap_tokens=6, table_tokens=24, max_bytes=2_000)
    return chunk(blocks, title="T", count_tokens=lambda text: len(text.split()), limits=limits)


def test_passages_of_a_paragraph_that_was_cut_are_marked_where_each_stands() -> None:
    sentences = [f"Sentence number {number} says something." for number in range(10, 18)]
    lines = [line(number % 4, page=1 + number // 4, letters=29) for number in range(8)]
    paragraph = Block(
        BlockKind.PARAGRAPH,
        " ".join(sentences),
        page=1,
        boxes=(Box(1, 0.1, 0.1, 0.4, 0.3), Box(2, 0.1, 0.1, 0.4, 0.3)),
        strips=tuple(lines),
    )

    first, second, *_ = cut(paragraph)

    assert first.body.startswith("Sentence number 10")
    assert (first.page_start, first.page_end, [box.page for box in first.boxes]) == (1, 1, [1])
    assert second.body.startswith("Sentence number 13")
    assert (second.page_start, second.page_end) == (1, 2)
    assert [(box.page, box.top) for box in second.boxes] == [(1, 0.19), (2, 0.1)]


def test_pieces_of_a_table_are_marked_at_their_rows_and_at_the_header_they_repeat() -> None:
    rows = [("Site", "Yield"), *((f"site{number}", f"{number}") for number in range(10, 20))]
    strips = [line(number, letters=sum(map(len, row))) for number, row in enumerate(rows)]
    grid = Block(
        BlockKind.TABLE, rows=tuple(rows), header_rows=1, page=1, boxes=(Box(1, 0.1, 0.1, 0.4, 0.5),),
        strips=tuple(strips),
    )  # fmt: skip

    pieces = cut(grid)

    assert len(pieces) > 2
    assert [box.top for box in pieces[0].boxes] == [0.1]
    for piece in pieces[1:]:
        header, body = piece.boxes
        first = next(number for number, row in enumerate(rows) if number and row[0] in piece.body)
        last = max(number for number, row in enumerate(rows) if row[0] in piece.body)
        assert (header.top, header.bottom) == (0.1, 0.12)
        assert (body.top, body.bottom) == (strips[first].box.top, strips[last].box.bottom)
