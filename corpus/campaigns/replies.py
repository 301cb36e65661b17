"""What a model may say of a candidate, and which replies are not that. Pure.

A reply that is not exactly the JSON asked for is no decision: a person looks at the candidate.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import Any, Literal

LONGEST_REPLY = 10_000
LONGEST_REASON = 1_000
# A decision the model is less sure of is a person's.
THRESHOLD = 0.8
_FIELDS = {"decision", "confidence", "reason"}
_NO_TEXT = {code: None for code in range(32) if code not in {9, 10, 13}}


class MalformedReply(ValueError):
    """A reply that is no decision."""


@dataclass(frozen=True, slots=True)
class Judged:
    """What a model decided, how sure it says it is, and why."""

    decision: Literal["include", "exclude"]
    confidence: float
    reason: str

    @property
    def is_sure(self) -> bool:
        """Whether the decision stands without a person."""
        return self.confidence >= THRESHOLD


def read(reply: str) -> Judged:
    """Return the decision of a reply; raise `MalformedReply`."""
    if len(reply) > LONGEST_REPLY:
        raise MalformedReply("too long")
    try:
        value = json.loads(reply, object_pairs_hook=_once)
    except (ValueError, RecursionError):
        raise MalformedReply("not JSON") from None
    if not isinstance(value, dict) or set(value) != _FIELDS:
        raise MalformedReply("not the fields asked for")
    return Judged(_decision(value["decision"]), _confidence(value["confidence"]), _reason(value["reason"]))


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(dict(pairs)) != len(pairs):
        raise MalformedReply("a field twice")
    return dict(pairs)


def _decision(value: Any) -> Literal["include", "exclude"]:
    if value == "include":
        return "include"
    if value == "exclude":
        return "exclude"
    raise MalformedReply("no decision")


def _confidence(value: Any) -> float:
    # True is a number to Python and not to us.
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise MalformedReply("no confidence")
    try:
        number = float(value)
    except OverflowError:
        raise MalformedReply("no confidence") from None
    if not math.isfinite(number) or not 0 <= number <= 1:
        raise MalformedReply("no confidence")
    return number


def _reason(value: Any) -> str:
    if not isinstance(value, str):
        raise MalformedReply("no reason")
    text = " ".join(value.translate(_NO_TEXT).encode("utf-8", "ignore").decode().split())
    if not text:
        raise MalformedReply("no reason")
    return text[:LONGEST_REASON]
