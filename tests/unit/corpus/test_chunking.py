"""What the chunker promises: nothing lost, nothing across a heading, tables whole, sizes bounded."""

from time import thread_time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corpus.chunking import ChunkingLimits, Passage, chunk
from corpus.parsing.blocks import Block, BlockKind, Box
from corpus.sentences import sentences

SMALL = ChunkingLimits(chunk_tokens=40, overlap_tokens=12, table_tokens=60, max_bytes=2_000)


def words(text: str) -> int:
    return len(text.split())


def heading(text: str, level: int = 1) -> Block:
    return Block(BlockKind.HEADING, text, level=level)


def paragraph(text: str, page: int | None = None) -> Block:
    return Block(BlockKind.PARAGRAPH, text, page=page)


def table(rows: int, caption: str = "Table 3. Yields by temperature", header_rows: int = 1) -> Block:
    cells = (("T", "Yield"), *((str(number), f"{number * 3}.5") for number in range(rows)))
    return Block(BlockKind.TABLE, caption, rows=cells, header_rows=header_rows)


def cut(*blocks: Block, limits: ChunkingLimits = SMALL, title: str = "A title") -> tuple[Passage, ...]:
    return chunk(blocks, title=title, count_tokens=words, limits=limits)


def prose(number: int, start: int = 0) -> str:
    return " ".join(f"Sentence number {index} says something." for index in range(start, start + number))


def test_paragraphs_of_a_section_merge_up_to_the_target():
    passages = cut(paragraph(prose(2)), paragraph(prose(2, 10)), paragraph(prose(8, 20)))

    assert passages[0].body == f"{prose(2)}\n\n{prose(2, 10)}"
    assert passages[1].body == prose(8, 20)


def test_a_long_paragraph_is_cut_between_sentences_and_repeats_whole_ones():
    first, second, *_ = cut(paragraph(prose(30)))

    assert first.body == prose(8)
    assert sentences(second.body)[:2] == sentences(prose(2, 6))
    assert second.token_count <= 40


def test_nothing_is_repeated_across_a_heading():
    passages = cut(
        heading("1 Introduction"), paragraph(prose(12)), heading("2 Methods"), paragraph(prose(3, 50))
    )

    assert passages[-1].body == prose(3, 50)
    assert passages[-1].section_path == ("2 Methods",)


def test_the_content_is_title_section_path_blank_line_body():
    (passage,) = cut(heading("2 Methods"), heading("2.1 Feedstock", 2), paragraph("Straw was dried."))

    assert passage.content == "A title\n2 Methods > 2.1 Feedstock\n\nStraw was dried."
    assert passage.section_path == ("2 Methods", "2.1 Feedstock")
    assert passage.locator == "2.1 Feedstock"
    assert passage.citation_unit == "section:2.1"


def test_the_documents_own_title_is_not_a_section():
    (passage,) = cut(heading("A TITLE*"), paragraph("Straw was dried."))

    assert passage.content == "A title\n\nStraw was dried."


def test_a_document_without_headings_is_located_by_page_and_without_pages_by_number():
    (paged,) = cut(paragraph("Straw was dried.", page=7))
    (bare,) = cut(paragraph("Straw was dried."))

    assert (paged.locator, paged.citation_unit, paged.page_start, paged.page_end) == ("p. 7", "page:7", 7, 7)
    assert (bare.locator, bare.citation_unit, bare.page_start) == ("Passage 1", "passage:0", None)


def test_pages_and_boxes_are_those_of_the_text_inside():
    low, high = Box(4, 0.1, 0.8, 0.9, 0.95), Box(5, 0.1, 0.1, 0.9, 0.2)
    across = Block(BlockKind.PARAGRAPH, "It goes over the page.", page=4, boxes=(low, high))

    (passage,) = cut(heading("1 Results"), across)

    assert (passage.page_start, passage.page_end, passage.boxes) == (4, 5, (low, high))


def test_a_table_is_one_passage_with_its_caption_beside_the_prose_around_it():
    before, grid = cut(
        heading("3 Results"), paragraph("See Table 3."), table(4), paragraph("It rises with heat.")
    )

    assert before.body == "See Table 3.\n\nIt rises with heat."
    assert grid.is_table
    assert grid.locator == "Table 3"
    assert grid.citation_unit == "table:3"
    assert grid.body.splitlines()[:4] == [
        "Table 3. Yields by temperature",
        "",
        "| T | Yield |",
        "| --- | --- |",
    ]
    assert grid.section_path == ("3 Results",)


def test_a_giant_table_is_cut_between_rows_with_its_header_and_says_which_part():
    passages = cut(table(40))

    assert len(passages) > 2
    assert all(passage.token_count <= 60 for passage in passages)
    assert all("| T | Yield |" in passage.body for passage in passages)
    assert [passage.locator for passage in passages] == [
        f"Table 3, part {number} of {len(passages)}" for number in range(1, len(passages) + 1)
    ]
    assert {passage.citation_unit for passage in passages} == {"table:3"}
    rows = [row for row in passages[0].body.splitlines() if row.startswith("| ")]
    assert passages[1].body.splitlines()[4:6] == rows[-2:]


def test_a_table_hands_nothing_to_the_prose_after_it():
    passages = cut(paragraph(prose(9)), table(3), paragraph(prose(9, 20)))

    assert not any("|" in passage.body for passage in passages if not passage.is_table)


def test_a_caption_right_before_a_bare_table_becomes_its_caption():
    bare = Block(BlockKind.TABLE, rows=(("a", "b"), ("1", "2")), header_rows=1)

    (passage,) = cut(Block(BlockKind.CAPTION, "Table 2: Ash content"), bare)

    assert passage.locator == "Table 2"
    assert passage.body.startswith("Table 2: Ash content\n\n| a | b |")


def test_unnumbered_tables_are_told_apart():
    bare = Block(BlockKind.TABLE, rows=(("a",),))

    first, second = cut(heading("4 Costs"), bare, bare)

    assert first.locator == "Table in 4 Costs"
    assert first.citation_unit != second.citation_unit


def test_a_cell_with_a_pipe_does_not_add_a_column():
    (passage,) = cut(Block(BlockKind.TABLE, rows=(("a|b", "c\nd"),)))

    assert passage.body == "| a\\|b | c d |"


def test_forward_references_are_what_the_passage_points_at():
    (passage,) = cut(
        paragraph("As Tables 2 and 3, Fig. 4b, Section 2.1, Annex II and [12, 14-16] show, see Table 2.")
    )

    assert passage.forward_references == (
        "Table 2", "Table 3", "Figure 4b", "Section 2.1", "Annex II", "[12]", "[14]", "[15]", "[16]",
    )  # fmt: skip


def test_list_items_stand_on_lines_of_their_own_with_a_mark():
    items = [Block(BlockKind.LIST_ITEM, text) for text in ("dry the sample", "2. weigh it")]

    (passage,) = cut(paragraph("Do this:"), *items)

    assert passage.body == "Do this:\n- dry the sample\n2. weigh it"


def test_code_keeps_its_lines_and_indentation():
    (passage,) = cut(Block(BlockKind.CODE, "if x:\n    y()\n\nz()"))

    assert passage.body == "if x:\n    y()\n\nz()"


def test_a_heading_that_states_something_is_kept_even_with_nothing_under_it():
    names = [
        "Total biomass harvested: 45 t per hectare",
        "4.2 Supplementary materials and data",
        "References",
    ]

    passages = cut(*map(heading, names), paragraph("Text."))

    assert [passage.body for passage in passages] == ["Total biomass harvested: 45 t per hectare", "Text."]


def test_an_endless_word_is_cut_by_bytes_even_when_it_is_one_token():
    passages = cut(paragraph("\u00e4" * 5_000))

    assert "".join(passage.body for passage in passages) == "\u00e4" * 5_000
    assert all(len(passage.body.encode()) <= 2_000 for passage in passages)


def test_deep_headings_do_not_grow_the_section_path_without_end():
    blocks = [heading(f"Heading {number} " + "x" * 200, number) for number in range(1, 500)]

    passages = cut(*blocks, paragraph("Text."))

    assert len(passages[-1].section_path) <= 9


TEXT = st.text(alphabet=st.sampled_from("ab1 .?\n|[]\u00e9-"), min_size=0, max_size=120)
CELLS = st.lists(st.lists(TEXT, min_size=1, max_size=3).map(tuple), min_size=1, max_size=12).map(tuple)
BLOCKS = st.lists(
    st.one_of(
        st.builds(
            heading,
            st.text(alphabet="abc ", min_size=20, max_size=40).map("{}: 5 t".format),
            st.integers(1, 4),
        ),
        st.builds(
            Block,
            st.sampled_from([k for k in BlockKind if k not in (BlockKind.HEADING, BlockKind.TABLE)]),
            TEXT,
            page=st.none() | st.integers(1, 5),
        ),
        st.builds(Block, st.just(BlockKind.TABLE), TEXT, rows=CELLS, header_rows=st.integers(0, 2)),
    ),
    max_size=12,
)


def squeezed(text: str) -> str:
    return "".join(text.replace("|", "").replace("\\", "").split())


@given(BLOCKS)
@settings(max_examples=300, deadline=None)
def test_every_block_is_in_the_passages_in_order_and_the_same_every_time(blocks):
    passages = cut(*blocks)

    said = squeezed("".join(passage.body for passage in passages))
    paths = {squeezed(name) for passage in passages for name in passage.section_path}
    assert passages == cut(*blocks)
    assert [passage.ordinal for passage in passages] == list(range(len(passages)))
    for block in blocks:
        if block.kind is BlockKind.TABLE:
            assert all(squeezed(word) in said for row in block.rows for cell in row for word in cell.split())
        elif block.kind is BlockKind.HEADING:
            text = squeezed(block.text)
            assert text in said or text in paths or len(block.text.strip()) < 20
        else:
            assert all(squeezed(sentence) in said for sentence in block.text.split())


@given(BLOCKS)
@settings(max_examples=300, deadline=None)
def test_passages_stay_within_their_bounds_and_within_one_section(blocks):
    passages = cut(*blocks)

    for passage in passages:
        assert passage.body.strip()
        assert len(passage.body.encode()) <= SMALL.max_bytes
        assert passage.token_count <= (SMALL.table_tokens if passage.is_table else SMALL.chunk_tokens)
        assert passage.page_start is None or passage.page_start <= passage.page_end
        assert len(passage.locator) <= 200
        assert len(passage.citation_unit) <= 200


@given(st.lists(st.text(alphabet="ab .", min_size=1, max_size=80), min_size=2, max_size=6))
@settings(max_examples=200, deadline=None)
def test_no_passage_holds_text_of_two_sections(texts):
    blocks = []
    for index, text in enumerate(texts):
        blocks += [heading(f"Section heading number {index}"), paragraph(f"mark{index} {text}")]

    for passage in cut(*blocks):
        marks = {mark for mark in range(len(texts)) if f"mark{mark} " in passage.body + " "}
        assert len(marks) <= 1
        assert passage.section_path == (f"Section heading number {min(marks)}",) if marks else True


@pytest.mark.parametrize(
    "block",
    [
        paragraph("a. " * 60_000),
        paragraph("x" * 200_000),
        Block(BlockKind.CODE, "\n" * 100_000 + "x"),
        paragraph("[1, " * 50_000),
        paragraph("Table 1, " * 20_000),
        Block(BlockKind.TABLE, "c", rows=(("1", "2"),) * 30_000, header_rows=1),
        Block(BlockKind.TABLE, "c" * 100_000, rows=(("1 " * 50_000,),), header_rows=1),
    ],
)
def test_hostile_text_is_cut_in_seconds(block):
    start = thread_time()

    chunk([block], title="T", count_tokens=words)

    assert thread_time() - start < 3


def test_passages_of_a_presentation_name_their_slide_and_have_no_pages() -> None:
    blocks = [
        paragraph("Before any title.", page=1),
        heading("Results"),
        paragraph("Yield rose by 38 %.", page=2),
        Block(BlockKind.TABLE, "", rows=(("Plot", "Yield"), ("1", "2.9")), header_rows=1, page=3),
    ]

    passages = chunk(blocks, title="A talk", count_tokens=words, has_slides=True)

    assert [(passage.locator, passage.citation_unit) for passage in passages] == [
        ("slide 1", "slide:1"),
        ("Results, slide 2", "section:results"),
        ("Table in Results, slide 3", "table:unnumbered-1"),
    ]
    assert {(passage.page_start, passage.page_end) for passage in passages} == {(None, None)}
