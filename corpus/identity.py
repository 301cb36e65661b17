"""What makes two documents the same, and the order that survives a re-ingest. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator

from corpus.normalise import matching_form
from corpus.parsing.blocks import Block

# A rank key is 43 bits of the document's hash and 20 bits of the passage's number: positive in 64 bits.
_HASH_BITS = 43
_ORDINAL_BITS = 20
MAX_PASSAGES = 5_000


def content_sha256(blocks: Iterable[Block]) -> str:
    """Return the identity of a document's text.

    It depends on the words alone: the file's name and format, how passages are cut and how lines wrap do
    not change it.
    """
    digest = hashlib.sha256()
    for text in _texts(blocks):
        form = matching_form(text)
        if form:
            digest.update(form.encode())
            digest.update(b"\n")
    return digest.hexdigest()


def _texts(blocks: Iterable[Block]) -> Iterator[str]:
    for block in blocks:
        yield block.text
        for row in block.rows:
            yield from row


def body_sha256(body: str) -> str:
    """Return the hash that says whether a passage's text is unchanged."""
    return hashlib.sha256(body.encode()).hexdigest()


def rank_key(document_sha256: str, ordinal: int) -> int:
    """Return a number that orders passages by document hash, then by their place in the document."""
    prefix = int(document_sha256[:16], 16) >> (64 - _HASH_BITS)
    return (prefix << _ORDINAL_BITS) | ordinal
