"""Where blocks stand, from lines made by hand."""

from corpus.normalise import WordForms
from corpus.parsing import pdf_blocks
from corpus.parsing.blocks import Block
from corpus.parsing.pdf_paragraphs import Paragraph
from corpus.parsing.pdf_types import Line, Page, Span, Style

TEXT, BRACKETS = Style(10.0, font="cmr10"), Style(10.0, font="cmex10")


def line(baseline: float, *parts: tuple[str, Style]) -> Line:
    spans, left = [], 100.0
    for text, style in parts:
        spans.append(Span(text, left, left + 5.0 * len(text), baseline, style))
        left += 5.0 * len(text) + 3.0
    return Line(spans)


def blocks(*lines: Line) -> tuple[Block, ...]:
    page = Page(1, 600.0, 800.0, [], [], [])
    return pdf_blocks.build([(page, [[Paragraph(list(lines), 1, 100.0, 300.0)]])], WordForms([])).blocks


def test_signs_that_hang_from_the_baseline_are_no_part_of_where_a_line_stands() -> None:
    plain = line(400.0, ("The sum of it is", TEXT))
    with_sum = line(420.0, ("X", BRACKETS), ("fdA is all that there is.", TEXT))

    (block,) = blocks(plain, with_sum)

    assert block.strips[1].box.left > block.strips[0].box.left
    assert [strip.letters for strip in block.strips] == [12, 20]


def test_letters_of_a_line_without_a_place_go_with_the_line_beside_it() -> None:
    first = line(400.0, ("The sum of it is", TEXT))
    last = line(440.0, ("Words that go on.", TEXT))

    (after,) = blocks(first, line(420.0, ("XX", BRACKETS)), last)
    (before,) = blocks(line(380.0, ("X", BRACKETS)), first, last)

    assert [strip.letters for strip in after.strips] == [14, 13]
    assert [strip.letters for strip in before.strips] == [13, 13]
    assert after.boxes == before.boxes


def test_a_block_of_nothing_but_such_signs_is_not_located() -> None:
    (block,) = blocks(line(400.0, ("XXXXXXXXXXXXXXXXXXXXXXXX", BRACKETS)))

    assert block.boxes == ()
    assert block.strips == ()
    assert block.page == 1
