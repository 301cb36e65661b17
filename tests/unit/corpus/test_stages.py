"""A parsed document between two stages comes back as it went."""

from __future__ import annotations

from pathlib import Path

from corpus.chunking import ChunkingLimits, chunk
from corpus.manifest import UNDESCRIBED, Described, Entry
from corpus.parsing.blocks import Block, BlockKind, Box, ParsedDocument, Reference
from corpus.preparation import Prepared, metadata_of
from corpus.rights import LicenseClass
from corpus.stages import decode, description_from_dict, description_to_dict, encode

DESCRIBED = Described(
    title="Straw",
    authors=("Ada", "Bo"),
    year=2020,
    license_class=LicenseClass.OPEN_NONCOMMERCIAL,
    supersedes="10.1000/old",
)


def prepared() -> Prepared:
    box = Box(2, 0.1, 0.25, 0.9, 0.5)
    blocks = (
        Block(BlockKind.HEADING, "2 Results", level=1),
        Block(
            BlockKind.PARAGRAPH, "Losses rose\nto 5 % – see Table 3; naïve \u2028 text.", page=2, boxes=(box,)
        ),
        Block(
            BlockKind.TABLE, "Table 3. Losses", rows=(("Day", "Loss"), ("1", "2.5")), header_rows=1, page=3
        ),
    )
    parsed = ParsedDocument(
        blocks=blocks,
        parser="layout 1",
        media_type="application/pdf",
        page_count=3,
        references=(Reference("Ada 2019", "10.1000/x"),),
        warnings=("Something was odd.",),
        quality={"balance": 0.99},
    )
    path = Path("straw.pdf")
    passages = chunk(blocks, title="Straw", count_tokens=lambda text: len(text.split()))
    metadata = metadata_of(DESCRIBED, parsed, path)
    entry = Entry(path, "straw.pdf", DESCRIBED)
    return Prepared(entry, "f" * 64, "c" * 64, metadata, parsed, passages, ChunkingLimits(chunk_tokens=700))


def test_everything_but_the_blocks_survives() -> None:
    before = prepared()

    after = decode(encode(before), entry=before.entry)

    assert after == before.without_blocks()
    assert after.passages == before.passages
    assert any(passage.boxes for passage in after.passages)


def test_what_is_said_about_a_file_survives_as_plain_values() -> None:
    values = description_to_dict(DESCRIBED)

    assert values["license_class"] == "open_noncommercial"
    assert "doi" not in values
    assert description_from_dict({**values, "authors": list(values["authors"])}) == DESCRIBED
    assert description_from_dict(description_to_dict(UNDESCRIBED)) is UNDESCRIBED
