"""The reference list of a document."""

import pytest

from corpus.parsing.blocks import Block, BlockKind
from corpus.parsing.references import is_reference_heading, split_reference_list, to_references


@pytest.mark.parametrize(
    "heading",
    [
        "References",
        "REFERENCES",
        "7. References",
        "Literature cited",
        "VI. Bibliography",
        "References and notes",
        "Works cited:",
    ],
)
def test_headings_of_reference_lists(heading: str) -> None:
    assert is_reference_heading(heading)


@pytest.mark.parametrize(
    "heading", ["Reference materials", "3 Reference electrode", "Literature review", "Results"]
)
def test_headings_that_only_sound_so(heading: str) -> None:
    assert not is_reference_heading(heading)


def test_only_the_number_before_an_entry_goes() -> None:
    entries = to_references(
        ["[12] Smith J. Data, 4(3), 92. https://doi.org/10.1000/ABC", "3. Green A. 2020."]
    )

    assert [(entry.text, entry.doi) for entry in entries] == [
        ("Smith J. Data, 4(3), 92. https://doi.org/10.1000/ABC", "10.1000/abc"),
        ("Green A. 2020.", ""),
    ]


def test_the_list_ends_at_the_next_heading_of_its_level() -> None:
    blocks = [
        Block(BlockKind.PARAGRAPH, "text"),
        Block(BlockKind.HEADING, "References", level=1),
        Block(BlockKind.HEADING, "Primary", level=2),
        Block(BlockKind.LIST_ITEM, "Smith J. 2019."),
        Block(BlockKind.HEADING, "Appendix", level=1),
        Block(BlockKind.PARAGRAPH, "more"),
    ]

    kept, references = split_reference_list(blocks)

    assert [block.text for block in kept] == ["text", "Appendix", "more"]
    assert [entry.text for entry in references] == ["Smith J. 2019."]


def test_a_document_that_is_a_bibliography_stays_whole() -> None:
    blocks = [Block(BlockKind.HEADING, "Bibliography", level=1), Block(BlockKind.LIST_ITEM, "Smith J. 2019.")]

    assert split_reference_list(blocks) == (tuple(blocks), ())
