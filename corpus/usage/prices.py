"""Prices that the settings name, for models that litellm's list does not know. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

_A_MILLION = Decimal(1_000_000)


class InvalidPrice(ValueError):
    """An entry that is no price; the message names it."""

    def __init__(self, entry: str) -> None:
        super().__init__(
            f"SCI_RAG_MODEL_PRICES has an entry {entry[:80]!r}. Write MODEL=PROMPT/REPLY in US dollars for a "
            "million tokens, as in openai/my-model=0.15/0.60."
        )


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars for a million tokens."""

    prompt: Decimal
    reply: Decimal

    def cost(self, prompt_tokens: int, reply_tokens: int) -> Decimal:
        """Return what a call costs."""
        return (self.prompt * prompt_tokens + self.reply * reply_tokens) / _A_MILLION


def read(entries: Sequence[str]) -> dict[str, Price]:
    """Return the prices by model; raise `InvalidPrice`.

    >>> read(["openai/mine=0.15/0.60"])["openai/mine"].cost(1_000_000, 1_000_000)
    Decimal('0.75')
    """
    found = {}
    for entry in entries:
        model, _, price = entry.strip().rpartition("=")
        prompt, _, reply = price.partition("/")
        found[model.strip()] = Price(_dollars(prompt, entry), _dollars(reply, entry))
        if not model.strip():
            raise InvalidPrice(entry)
    return found


def _dollars(text: str, entry: str) -> Decimal:
    try:
        value = Decimal(text.strip())
    except InvalidOperation:
        raise InvalidPrice(entry) from None
    if not value.is_finite() or not 0 <= value <= 1_000_000:
        raise InvalidPrice(entry)
    return value
