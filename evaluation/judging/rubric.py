"""What is graded, from 0 to 2, and which replies of a judge fit it. Pure.

A whole number outside the rubric means the nearest grade and is marked. Everything else that is not
exactly the JSON asked for is a failure: a judge that cannot keep the form has not judged.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

WORST: Final = 0
BEST: Final = 2
GRADES: Final = (0, 1, 2)
GROUNDING: Final = ("groundedness", "citation_accuracy", "completeness")
CORRECTNESS: Final = ("correctness",)
DIMENSIONS: Final = (*GROUNDING, *CORRECTNESS)
LABELS: Final = {
    "groundedness": "Groundedness",
    "citation_accuracy": "Citation accuracy",
    "completeness": "Completeness",
    "correctness": "Correctness",
}
_LONGEST = 10_000


class MalformedReply(ValueError):
    """A reply that does not fit the rubric. `code` says how: `empty`, `not_json`, `missing`, ..."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


@dataclass(frozen=True, slots=True)
class Grades:
    """The grade of each dimension, and which of them were given outside the rubric."""

    grades: Mapping[str, int]
    clamped: tuple[str, ...] = ()


def read(reply: str, dimensions: Sequence[str]) -> Grades:
    """Return the grades of a reply that is one JSON object with these dimensions and nothing else.

    Raises `MalformedReply`.
    """
    if not reply.strip():
        raise MalformedReply("empty")
    if len(reply) > _LONGEST:
        raise MalformedReply("too_long")
    try:
        value = json.loads(reply, object_pairs_hook=_once)
    except MalformedReply:
        raise
    except (ValueError, RecursionError):
        raise MalformedReply("not_json") from None
    if not isinstance(value, dict):
        raise MalformedReply("wrong_form")
    if set(dimensions) - set(value):
        raise MalformedReply("missing")
    if set(value) - set(dimensions):
        raise MalformedReply("wrong_form")
    given = {name: _whole(value[name]) for name in dimensions}
    grades = {name: min(max(number, WORST), BEST) for name, number in given.items()}
    return Grades(grades, tuple(name for name in dimensions if grades[name] != given[name]))


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(dict(pairs)) != len(pairs):
        raise MalformedReply("wrong_form")
    return dict(pairs)


def _whole(value: Any) -> int:
    # True is a number to Python and not to us; neither is 2.0.
    if type(value) is not int:
        raise MalformedReply("not_a_whole_number")
    return value
