"""How many tokens a text has and what they cost: as the provider counts, as far as that is known here."""

from __future__ import annotations

from decimal import Decimal
from functools import lru_cache
from typing import Final

from django.conf import settings

from corpus.gateways.litellm_library import litellm
from corpus.usage.ledger import Used
from corpus.usage.prices import Price, read

# Of text in European languages; only where litellm cannot count.
_CHARACTERS_A_TOKEN: Final = 4


def prompt_tokens(model: str, *, system: str, user: str) -> int:
    """Return about how many tokens a request has."""
    return message_tokens(model, [{"role": "system", "content": system}, {"role": "user", "content": user}])


def message_tokens(model: str, messages: list[dict[str, str]]) -> int:
    """Return about how many tokens messages have, with what marks their beginnings and ends."""
    try:
        return int(litellm().token_counter(model=model, messages=messages))
    except Exception:  # noqa: BLE001 - a count that cannot be made is no reason to fail
        return sum(_roughly(message["content"]) for message in messages)


def text_tokens(model: str, text: str) -> int:
    """Return about how many tokens a text has."""
    if not text:
        return 0
    try:
        return int(litellm().token_counter(model=model, text=text))
    except Exception:  # noqa: BLE001 - a count that cannot be made is no reason to fail
        return _roughly(text)


def _roughly(text: str) -> int:
    return -(-len(text) // _CHARACTERS_A_TOKEN)


def cost_of(model: str, *, prompt: int, completion: int, is_embedding: bool = False) -> Decimal | None:
    """Return what tokens cost by the settings, else by litellm's list; None when neither knows the model."""
    named = _named(tuple(settings.SCI_RAG_MODEL_PRICES)).get(model)
    if named is not None:
        return named.cost(prompt, completion)
    try:
        paid = litellm().cost_per_token(
            model=model,
            prompt_tokens=prompt,
            completion_tokens=completion,
            call_type="embedding" if is_embedding else "completion",
        )
        total = Decimal(str(sum(paid)))
    except Exception:  # noqa: BLE001 - litellm raises a bare Exception for a model without a price
        return None
    # Its list has prices of nothing for models of which it does not know one.
    return total if total.is_finite() and total > 0 else None


def used(model: str, *, prompt: int, completion: int, is_estimated: bool, is_embedding: bool = False) -> Used:
    """Return tokens with what they cost."""
    cost = cost_of(model, prompt=prompt, completion=completion, is_embedding=is_embedding)
    return Used(prompt, completion, is_estimated, cost)


@lru_cache(maxsize=4)
def _named(entries: tuple[str, ...]) -> dict[str, Price]:
    return read(entries)
