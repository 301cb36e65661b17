"""Word pieces: what the offline model reads, and the unit in which passages are measured."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from corpus.gateways.embedding.model_files import TOKENIZER

if TYPE_CHECKING:
    from tokenizers import Tokenizer


@cache
def tokenizer() -> Tokenizer:
    """Return the tokenizer of all-MiniLM-L6-v2, without padding or truncation."""
    from tokenizers import Tokenizer

    loaded = Tokenizer.from_file(str(TOKENIZER.verified()))
    loaded.no_truncation()
    loaded.no_padding()
    return loaded


def count_tokens(text: str) -> int:
    """Return how many word pieces `text` has.

    Passages are cut by this count whichever embedder is active, so that changing the embedder does not
    change what the passages are.
    """
    return len(tokenizer().encode(text, add_special_tokens=False).ids)
