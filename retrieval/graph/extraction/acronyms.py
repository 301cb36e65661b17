"""Abbreviations as a text defines them: "anaerobic digestion (AD)", "AD (anaerobic digestion)". Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

_SHORT = r"[A-Z][A-Za-z0-9][A-Za-z0-9-]{0,8}|[a-z][A-Z][A-Za-z0-9-]{0,8}"
_AFTER = re.compile(rf"[(\[]\s?({_SHORT})\s?[)\];,]")
_BEFORE = re.compile(rf"(?<![\w-])({_SHORT})\s[(\[]([^()\[\]]{{4,100}})[)\]]")
_WORD = re.compile(r"[^\W_]+(?:[-'\u2019][^\W_]+)*")
_BREAK = re.compile(r"[.;:!?()\[\]|\"\u201c\u201d]")
_LONGEST_LEAD = 160
_SMALL = frozenset(
    "a an and as at by for from in into is of on or our that the their these this to was we were with".split()
)


@dataclass(frozen=True, slots=True)
class Definition:
    """A short form and what it stands for, both as the text spells them."""

    short: str
    long: str


def definitions(text: str) -> Iterator[Definition]:
    """Yield what `text`, in matching form, defines, in order."""
    for found in _AFTER.finditer(text):
        lead = text[max(0, found.start() - _LONGEST_LEAD) : found.start()]
        if long := _long_form(found[1], _BREAK.split(lead)[-1]):
            yield Definition(found[1], long)
    for found in _BEFORE.finditer(text):
        long = _long_form(found[1], found[2])
        if long and len(long) >= len(found[2].strip()) - 1:
            yield Definition(found[1], long)


def unambiguous(found: Iterable[Definition]) -> dict[str, str]:
    """Return the long form of each short form that always stands for the same one."""
    meanings: dict[str, dict[str, str]] = {}
    for definition in found:
        meanings.setdefault(definition.short, {}).setdefault(definition.long.casefold(), definition.long)
    return {short: next(iter(longs.values())) for short, longs in meanings.items() if len(longs) == 1}


def _long_form(short: str, lead: str) -> str:
    """Return the end of `lead` that `short` abbreviates, or nothing.

    Letter by letter from the back, as Schwartz and Hearst have it; the first letter begins a word, and
    there are at most as many words as letters and as many again.
    """
    letters = [char.lower() for char in short if char.isalnum()]
    words = list(_WORD.finditer(lead))[-min(len(letters) + 5, 2 * len(letters)) :]
    if not words or (sum(char.isupper() for char in short) < 2 and not any(map(str.isdigit, short))):
        return ""
    low, place = lead.lower(), len(lead)
    for number, letter in enumerate(reversed(letters)):
        place -= 1
        is_first = number == len(letters) - 1
        while place >= words[0].start() and (low[place] != letter or (is_first and not _begins(low, place))):
            place -= 1
        if place < words[0].start():
            return ""
    long = lead[place : words[-1].end()]
    return long if _is_phrase(long, short) else ""


def _begins(text: str, place: int) -> bool:
    return place == 0 or not text[place - 1].isalnum()


def _is_phrase(long: str, short: str) -> bool:
    words = _WORD.findall(long.lower())
    return (
        len(long) > len(short) + 1
        and bool(words)
        and words[0] not in _SMALL
        and words[-1] not in _SMALL
        and short.lower() not in words
    )
