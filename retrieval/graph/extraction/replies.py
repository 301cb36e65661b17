"""What a model replied, as suggestions. Untrusted: entries that have not the asked form are left out."""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import Any, Final

from retrieval.graph.extraction.types import (
    BatchFailed,
    Drop,
    Drops,
    SuggestedEntity,
    SuggestedRelation,
    Suggestions,
)

LONGEST_REPLY: Final = 200_000
_MOST_ALIASES = 20
_FENCE = re.compile(r"\A\s*```(?:json)?\s*\n(.*)\n\s*```\s*\Z", re.DOTALL)


def read(reply: str) -> Suggestions:
    """Return what `reply` suggests; raise `BatchFailed` unless it is one JSON object of two lists."""
    if len(reply) > LONGEST_REPLY:
        raise BatchFailed("too_long", may_be_smaller=True)
    fenced = _FENCE.match(reply)
    try:
        value = json.loads(fenced[1] if fenced else reply)
    except (ValueError, RecursionError):
        raise BatchFailed("not_json", may_be_smaller=True) from None
    if not isinstance(value, dict):
        raise BatchFailed("not_json")
    lists = [value.get("entities"), value.get("relations", [])]
    if not all(isinstance(each, list) for each in lists):
        raise BatchFailed("wrong_form")
    drops: Drops = Counter()
    entities = [_entity(each, drops) for each in lists[0]]
    relations = [_relation(each, drops) for each in lists[1]]
    return Suggestions(
        tuple(each for each in entities if each is not None),
        tuple(each for each in relations if each is not None),
        drops,
    )


def _entity(value: Any, drops: Drops) -> SuggestedEntity | None:
    passage = _passage(value, drops)
    if passage is None:
        return None
    aliases = value.get("aliases") or []
    description = value.get("description") or ""
    texts = (value.get("name", ""), value.get("type", ""), description)
    if not isinstance(aliases, list) or not all(isinstance(each, str) for each in (*texts, *aliases)):
        drops[Drop.MALFORMED] += 1
        return None
    if len(aliases) > _MOST_ALIASES:
        drops[Drop.TOO_MANY] += len(aliases) - _MOST_ALIASES
    return SuggestedEntity(passage, texts[0], texts[1], tuple(aliases[:_MOST_ALIASES]), description)


def _relation(value: Any, drops: Drops) -> SuggestedRelation | None:
    passage = _passage(value, drops)
    if passage is None:
        return None
    source, target, kind, quote = (value.get(name, "") for name in ("source", "target", "type", "quote"))
    if not all(isinstance(each, str) for each in (source, target, kind, quote)):
        drops[Drop.MALFORMED] += 1
        return None
    confidence = value.get("confidence")
    # True is a number to Python and not to us.
    sure = float(confidence) if type(confidence) in (int, float) and abs(confidence) <= 1 else None
    return SuggestedRelation(passage, source, target, kind, quote, sure)


def _passage(value: Any, drops: Drops) -> int | None:
    """Return the index of the passage an entry is about; never the batch's when it names none."""
    if not isinstance(value, dict):
        drops[Drop.MALFORMED] += 1
        return None
    number = value.get("passage")
    if type(number) is not int:
        drops[Drop.NO_PASSAGE] += 1
        return None
    return number - 1
