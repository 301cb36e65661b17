"""What makes two documents the same, and the keys that order passages."""

from hypothesis import given
from hypothesis import strategies as st

from corpus.identity import MAX_PASSAGES, content_sha256, rank_key
from corpus.parsing.blocks import Block, BlockKind

HASHES = st.text(alphabet="0123456789abcdef", min_size=64, max_size=64)
ORDINALS = st.integers(0, MAX_PASSAGES)


def paragraph(text: str, kind: BlockKind = BlockKind.PARAGRAPH) -> Block:
    return Block(kind, text)


@given(st.text(max_size=80))
def test_lines_spaces_and_the_kind_of_block_do_not_change_the_identity(text):
    wrapped = text.replace(" ", "\n  ")

    assert content_sha256([paragraph(text)]) == content_sha256([paragraph(wrapped, BlockKind.LIST_ITEM)])


def test_levels_pages_and_empty_blocks_do_not_change_the_identity():
    plain = [Block(BlockKind.HEADING, "Methods", level=1), paragraph("Straw was dried.")]
    paged = [
        Block(BlockKind.HEADING, "Methods", level=3, page=4), paragraph(" "),
        Block(BlockKind.PARAGRAPH, "Straw was dried.", page=4),
    ]  # fmt: skip

    assert content_sha256(plain) == content_sha256(paged)


def test_typographic_forms_of_one_character_are_the_same():
    assert content_sha256([paragraph("\ufb01bre and H\u2082O")]) == content_sha256(
        [paragraph("fibre and H2O")]
    )


def test_another_number_case_or_cell_is_another_text():
    table = Block(BlockKind.TABLE, "T", rows=(("a", "1"),))
    other = Block(BlockKind.TABLE, "T", rows=(("a", "2"),))

    assert content_sha256([table]) != content_sha256([other])
    assert content_sha256([paragraph("5 mg")]) != content_sha256([paragraph("50 mg")])
    assert content_sha256([paragraph("CO")]) != content_sha256([paragraph("Co")])


@given(HASHES, ORDINALS, HASHES, ORDINALS)
def test_rank_keys_order_by_hash_then_ordinal_within_the_column(first, one, second, two):
    keys = rank_key(first, one), rank_key(second, two)

    assert all(0 <= key < 2**63 for key in keys)
    if first[:10] != second[:10]:
        assert (keys[0] < keys[1]) == (first < second)
    assert (rank_key(first, one) < rank_key(first, two)) == (one < two)
