"""Words, and which of them cannot be part of a name: English, other languages have names only. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass

_WORD = re.compile(r"[^\W_]+(?:[-'\u2019\u2010\u2013/][^\W_]+)*")

NEGATIONS = frozenset("not no never neither nor cannot without didn't doesn't don't hardly".split())
HEDGES = frozenset("may might could can possibly potentially would should perhaps likely if whether".split())
PRONOUNS = frozenset("it they this these those he she we i you one".split())
PASSIVE = frozenset("is are was were be been being".split())
# Between a thing and what it does.
BETWEEN = frozenset(
    "also then thus therefore further only both often usually always strongly significantly greatly slightly"
    " is are was were be been being has have had does do did will may might could can would should that which"
    " to not".split()
)  # fmt: skip
# What follows one of these says something of a thing named before.
PREPOSITIONS = frozenset("of per in with from for at on by to than into".split())
# Before a name.
BEFORE_NAMES = frozenset(
    "a an the its their his her our this these those some any all each every both more less much most several"
    " many few other another such same".split()
)
_STOP = frozenset(
    """
    about above across after again against ago all almost along already although am among an and
    another any anything around as at away back because before behind below beside besides between
    beyond but by come comes despite done down during each either else enough even ever every except
    few first for fourth from further get gets go goes going half he hence her here him how however
    i if in indeed instead into it itself just kept last least less let like long made main many me
    mean meanwhile merely mine more moreover most much must my near nearly next now of off on once
    one onto or otherwise our out over own per rather respectively same seen self several she shall
    since so some somewhat soon still such than their them themselves there thereby third though
    three through throughout together too toward towards twice two under unless unlike until up upon
    us use using very via we well what whatever when where whereas whereby wherein wherever while
    who whole whom whose why within yet you your found show shows showed shown report reports
    reported observed observe suggest suggests suggested indicate indicates indicated demonstrate
    demonstrated demonstrates measured compared based followed using given known called obtained
    performed examined tested studied investigated determined considered described proposed see with
    without little used minimum
    """.split()
)
_GENERIC = frozenset(
    """
    addition analysis approach author authors case cases change changes conclusion condition
    conditions data day days effect effects evidence example experiment experiments fact factor
    figure finding findings group groups hand hours level levels litre litres method methods minutes
    model months number paper part parts percent point result results role rate rates section set
    sets site study studies system table term terms thing things time times trial type types use
    value values way ways week weeks work year years others former latter increase decrease
    reduction amount ability possibility difference differences
    """.split()
)
STOP = _STOP | BETWEEN | BEFORE_NAMES | NEGATIONS | HEDGES
_LONGEST_NAME = 4


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a sentence and where it stands."""

    text: str
    low: str
    start: int
    end: int
    # Whether only a space is between it and the word before.
    follows: bool


def words(text: str) -> list[Word]:
    """Return the words of `text`."""
    found: list[Word] = []
    end = 0
    for match in _WORD.finditer(text):
        follows = bool(found) and text[end : match.start()] == " "
        found.append(Word(match[0], match[0].lower(), match.start(), match.end(), follows))
        end = match.end()
    return found


def is_part_of_a_name(word: Word) -> bool:
    """Whether a word can stand in the name of a thing."""
    return word.low not in STOP and not word.low.endswith("ly") and not word.text.isdigit()


def ends_a_name(word: Word) -> bool:
    """Whether a word can be the last of a name: a noun, as far as that can be told without a dictionary."""
    return (
        is_part_of_a_name(word)
        and word.low not in _GENERIC
        and not word.low.endswith("ed")
        and sum(char.isalpha() for char in word.low) >= 3
    )


def run_before(found: list[Word], end: int) -> tuple[int, int] | None:
    """Return the first and behind-the-last word of the name that ends before the word at `end`."""
    start = end
    while start > 0 and is_part_of_a_name(found[start - 1]) and (start == end or found[start].follows):
        start -= 1
    start = max(start, end - _LONGEST_NAME)
    return (start, end) if start < end and ends_a_name(found[end - 1]) else None


def run_after(found: list[Word], start: int) -> tuple[int, int] | None:
    """Return the first and behind-the-last word of the name that starts with the word at `start`."""
    end = start
    while end < len(found) and is_part_of_a_name(found[end]) and (end == start or found[end].follows):
        end += 1
    end = min(end, start + _LONGEST_NAME)
    while end > start and not ends_a_name(found[end - 1]):
        end -= 1
    return (start, end) if start < end else None
