"""JSON that somebody sends: bounded, unambiguous, and nothing that a text column would not take. Pure."""

from __future__ import annotations

import json
import math
import re
from typing import Any, NoReturn

MOST_BYTES = 1_000_000
MOST_DEPTH = 32
_LONGEST_NUMBER = 40
# A string to its end, or to the end of the text, or one bracket. Possessive, so that it never looks twice.
_STRINGS_AND_BRACKETS = re.compile(r'"(?:[^"\\]|\\.)*+"?|[\[{]|[\]}]', re.DOTALL)


class UnusableJson(ValueError):
    """JSON that is not taken. The message says why, without a word of what was sent."""


class TooLarge(UnusableJson):
    """More than anybody has to read."""


class NotAnObject(UnusableJson):
    """It is JSON, and of another shape."""


def checked(data: bytes) -> str:
    """Return `data` as the text of one JSON object that any part of the site can take.

    Raises `UnusableJson` for what is too large or nested too deep, for what is no JSON, for NaN and
    infinities, names that occur twice, zero bytes and halves of characters.
    """
    if len(data) > MOST_BYTES:
        raise TooLarge(f"The body is larger than {MOST_BYTES:,} bytes.")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        raise UnusableJson("The body is not UTF-8.") from None
    _check_depth(text)
    try:
        value = json.loads(
            text,
            object_pairs_hook=_without_repetition,
            parse_constant=_no_number,
            parse_int=_whole,
            parse_float=_finite,
        )
    except json.JSONDecodeError as error:
        raise UnusableJson(f"The body is not JSON: line {error.lineno}, column {error.colno}.") from None
    if not isinstance(value, dict):
        raise NotAnObject("The body is not a JSON object.")
    _check_texts(value)
    return text


def _check_depth(text: str) -> None:
    depth = 0
    for found in _STRINGS_AND_BRACKETS.finditer(text):
        sign = found[0]
        depth += (sign in "[{") - (sign in "]}")
        if depth > MOST_DEPTH:
            raise UnusableJson(f"The body is nested deeper than {MOST_DEPTH} levels.")


def _without_repetition(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise UnusableJson("A name occurs twice in one object.")
    return found


def _no_number(_name: str) -> NoReturn:
    raise UnusableJson("NaN and infinities are no JSON.")


def _whole(digits: str) -> int:
    if len(digits) > _LONGEST_NUMBER:
        raise UnusableJson("A number is too long.")
    return int(digits)


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise UnusableJson("A number is too large.")
    return number


def _check_texts(value: Any) -> None:
    if isinstance(value, str):
        check_text(value)
    elif isinstance(value, dict):
        for name, inner in value.items():
            check_text(name)
            _check_texts(inner)
    elif isinstance(value, list):
        for inner in value:
            _check_texts(inner)


def check_text(text: str) -> None:
    """Raise `UnusableJson` for a text with a zero byte or half a character, which no column takes."""
    if "\0" in text:
        raise UnusableJson("A text holds a zero byte.")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise UnusableJson("A text holds half a character: a lone surrogate.") from None
