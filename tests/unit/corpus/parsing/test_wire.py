"""What crosses from the parsing process arrives unchanged, or not at all."""

import pytest

from corpus.parsing import wire
from corpus.parsing.blocks import Block, BlockKind, Box, ParsedDocument, Reference, Strip


def test_a_document_arrives_as_it_was_sent() -> None:
    document = ParsedDocument(
        blocks=(
            Block(BlockKind.HEADING, "Größe", level=2, page=1, boxes=(Box(1, 0.1, 0.2, 0.3, 0.4),)),
            Block(BlockKind.PARAGRAPH, "ab", page=1, strips=(Strip(Box(1, 0.1, 0.2, 0.3, 0.4), 2),)),
            Block(BlockKind.TABLE, "Table 1", rows=(("a", "b"), ("1", "2")), header_rows=1),
        ),
        parser="p 1",
        media_type="text/plain",
        title="T",
        authors=("A", "B"),
        year=2020,
        references=(Reference("Smith", "10.1000/x"),),
        warnings=("w",),
        quality={"loss": 0.01, "characters": 3},
    )

    assert wire.decode(wire.encode(document)) == document


@pytest.mark.parametrize("payload", [b"", b"[]", b"{}", b'{"blocks": [[1]]}', b"\xff", b"[" * 100_000])
def test_anything_else_is_refused(payload: bytes) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - any of its kinds
        wire.decode(payload)
