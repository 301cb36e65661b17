"""What a model replied about pairs. Untrusted: a pair without one clear decision has none. Pure."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

LONGEST_REPLY: Final = 100_000
_FENCE = re.compile(r"\A\s*```(?:json)?\s*\n(.*)\n\s*```\s*\Z", re.DOTALL)


class Unclear(StrEnum):
    """Why a model's reply decides nothing about a pair."""

    NOT_JSON = "not_json"
    MALFORMED = "malformed"
    UNKNOWN_PAIR = "unknown_pair"
    TWICE = "twice"
    MISSING = "missing"


@dataclass(frozen=True, slots=True)
class Decisions:
    """What was said of which pair, by number, and how many entries or pairs were unclear, by reason."""

    said: dict[int, bool] = field(default_factory=dict)
    unclear: Counter[Unclear] = field(default_factory=Counter)


def read(reply: str, *, count: int) -> Decisions:
    """Return the decisions of `reply` about the pairs 1 to `count`.

    >>> read('{"decisions": [{"pair": 1, "same": true}, {"pair": 2, "same": "yes"}]}', count=2)
    ... # doctest: +NORMALIZE_WHITESPACE
    Decisions(said={1: True},
        unclear=Counter({<Unclear.MALFORMED: 'malformed'>: 1, <Unclear.MISSING: 'missing'>: 1}))
    """
    entries = _entries(reply)
    if entries is None:
        return Decisions(unclear=Counter({Unclear.NOT_JSON: 1, Unclear.MISSING: count}))
    said: dict[int, bool] = {}
    twice: set[int] = set()
    unclear: Counter[Unclear] = Counter()
    for entry in entries:
        pair, same = (entry.get("pair"), entry.get("same")) if isinstance(entry, dict) else (None, None)
        if type(pair) is not int or type(same) is not bool:
            unclear[Unclear.MALFORMED] += 1
        elif not 1 <= pair <= count:
            unclear[Unclear.UNKNOWN_PAIR] += 1
        elif pair in said:
            twice.add(pair)
        else:
            said[pair] = same
    clear = {pair: same for pair, same in sorted(said.items()) if pair not in twice}
    unclear[Unclear.TWICE] += len(twice)
    unclear[Unclear.MISSING] += count - len(said)
    return Decisions(clear, +unclear)


def _entries(reply: str) -> list[Any] | None:
    fenced = _FENCE.match(reply)
    try:
        value = json.loads(fenced[1] if fenced else reply) if len(reply) <= LONGEST_REPLY else None
    except (ValueError, RecursionError):
        return None
    entries = value.get("decisions") if isinstance(value, dict) else None
    return entries if isinstance(entries, list) else None
