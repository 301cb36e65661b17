"""Questions about the past: which day, or which side of a revision, a question asks about. Pure.

Rules a reader can check, in English and German. What they do not recognise is a question about today, so
that a rule that misses leaves things as they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from enum import StrEnum

from corpus.days import FIRST_YEAR, LAST_YEAR, ending
from corpus.identifiers import fold


class Mode(StrEnum):
    """What a request asks of the versions of a work."""

    TODAY = "today"
    DAY = "day"
    BEFORE = "before"
    EVEN = "even"


@dataclass(frozen=True, slots=True)
class Past:
    """What was recognised. `words` are the question's: for the asker, never for a log."""

    mode: Mode
    rule: str
    day: date | None = None
    words: str = ""


_MONTHS = (
    ("january", "januar", "jan"), ("february", "februar", "feb"), ("march", "marz", "mar"),
    ("april", "apr"), ("may", "mai"), ("june", "juni", "jun"), ("july", "juli", "jul"),
    ("august", "aug"), ("september", "sept", "sep"), ("october", "oktober", "oct", "okt"),
    ("november", "nov"), ("december", "dezember", "dec", "dez"),
)  # fmt: skip
_NUMBERS = {name: number for number, names in enumerate(_MONTHS, start=1) for name in names}
_MONTH = rf"(?:{'|'.join(sorted(_NUMBERS, key=len, reverse=True))})"
_UNITS = (
    "mg g kg t l ml m mm cm km nm h min s rpm w kw mw v a hz khz j kj mj gj pa kpa mpa bar k c f ha ppm ppb"
    " mol mmol kcal cal wt vol percent prozent hours minutes seconds days weeks samples tonnes tons litres"
    " liters grams metres meters kilograms cycles revolutions stunden minuten tage proben tonnen"
)
# No figure of a quantity, of a longer number, of an identifier.
_NO_QUANTITY = rf"(?![\w/]|[.,\u2010-\u2015-]\d|\s*[%°μ])(?!\s+(?:{'|'.join(_UNITS.split())})\b)"
_YEAR = rf"(?<![\w.,/\u2010-\u2015-])(?P<year>1[89]\d\d|20\d\d){_NO_QUANTITY}"
_WHEN = (
    r"(?:(?P<iso>\d{4}-\d\d(?:-\d\d)?)\b"
    rf"|(?:(?P<first>\d{{1,2}})(?:st|nd|rd|th|\.)?\s+)?(?P<month>{_MONTH})\.?(?:\s+(?P<second>\d{{1,2}}),?)?"
    r"\s+(?P<of>1[89]\d\d|20\d\d)\b"
    rf"|{_YEAR})"
)
_EDITION = (
    "(?:(?:edition|version|revision|guideline|standard|rule|regulation|issue|release|report|code|handbook"
    "|directive)s?|(?:ausgabe|fassung|auflage|richtlinie|norm)(?:en|n)?)"
)
_REVISION = (
    "(?:revision|amendment|update|new(?:est)? edition|new(?:est)? version|latest edition|latest version"
    "|current edition|current version|uberarbeitung|novelle|neufassung|neuauflage|aktualisierung)"
)
_THE = r"(?:the |its |their |this |der |die |dem )?"

# Name, what it says of the day, and the form; the first form that fits a place in the question counts there.
_RULES: tuple[tuple[str, str, str], ...] = (
    ("as_of", "on", rf"\b(?:as of|as at|stand(?: vom)?:?) {_THE}(?:end of |ende )?(?:year |jahr )?{_WHEN}"),
    (
        "before_the_revision",
        "eve",
        rf"\b(?:before|prior to|preceding|vor) {_THE}{_YEAR} {_REVISION}",
    ),
    ("before_a_day", "eve", rf"\b(?:before|prior to|vor)(?: the year| dem jahr)? {_WHEN}"),
    ("until_a_day", "on", rf"\b(?:until|till|by|bis)(?: the year| the end of| ende| zum jahr)? {_WHEN}"),
    ("from_a_day_to_another", "span", rf"\b(?:between|zwischen|from|von) {_WHEN} (?:and|to|und|bis)\b"),
    (
        "from_a_day_to_another",
        "span",
        rf"{_YEAR} (?:and|or|to|vs\.?|versus|und|oder|bis) (?:the )?(?:1[89]|20)\d\d",
    ),
    ("since_a_day", "span", rf"\b(?:since|after|seit|nach)(?: the year| dem jahr)? {_WHEN}"),
    ("edition_of_a_year", "on", rf"{_YEAR} {_EDITION}\b"),
    (
        "edition_of_a_year",
        "on",
        rf"\b{_EDITION} (?:of |from |von |aus )?(?:the year |dem jahr )?\(?{_YEAR}",
    ),
    (
        "in_a_year",
        "on",
        rf"\b(?:in|during|from|of|im|anno|um)(?: the year| den jahren| jahr| jahre)? {_WHEN}",
    ),
    ("a_year_alone", "on", rf"\({_YEAR}\)"),
    ("a_year_alone", "on", rf"{_YEAR}\W*\Z"),
)
_EARLIER = (
    "(?:previous|earlier|former|older|old|superseded|outdated|prior|vorherige[nrs]?|fruhere[nrs]?|alte[nrs]?"
    "|vorige[nrs]?)"
)
_NOT_PASSIVE = r"(?<!\bis )(?<!\bare )(?<!\bbe )(?<!\bwas )(?<!\bwere )(?<!\bbeen )"
_PAST_WITHOUT_A_DAY = (
    (
        "before_the_revision",
        rf"\b(?:before|prior to|preceding|vor) {_THE}(?:last |latest |letzten? )?{_REVISION}",
    ),
    ("before_the_revision", r"\bbefore it was (?:revised|updated|amended|superseded|replaced)\b"),
    ("earlier_edition", rf"\b{_EARLIER} {_EDITION}\b"),
    ("used_to", rf"{_NOT_PASSIVE}\bused to (?:be|say|allow|permit|require|recommend|prescribe)\b"),
)
_COMPILED = tuple((name, kind, re.compile(form)) for name, kind, form in _RULES)
_COMPILED_PAST = tuple((name, re.compile(form)) for name, form in _PAST_WITHOUT_A_DAY)
# Round figures are quantities as often as years; they count where nothing can be counted after them.
_ROUND = 50
_COUNTED = re.compile(
    r"\s+(?!(?:the|a|an|and|or|what|which|who|how|was|were|is|are|did|do|does|had|has)\b)\w"
)


def recognise(question: str) -> Past | None:
    """Return what `question` says of the past; None for a question about today.

    One day makes it a question about that day, and several a comparison, in which no version is favoured.
    """
    plain = fold(question)
    found = list(_days(plain))
    days = {past.day for past in found}
    if any(past.mode is Mode.EVEN for past in found) or len(days) > 1:
        words = ", ".join(dict.fromkeys(past.words for past in found))
        return Past(Mode.EVEN, "span_of_time", words=words)
    if found:
        return found[0]
    for name, form in _COMPILED_PAST:
        if match := form.search(plain):
            return Past(Mode.BEFORE, name, words=match.group(0).strip())
    return None


def _days(plain: str) -> Iterator[Past]:
    """Yield what the rules recognise in folded text, each place once."""
    taken: list[tuple[int, int]] = []
    for name, kind, form in _COMPILED:
        for match in form.finditer(plain):
            start, end = match.span()
            if any(start < last and first < end for first, last in taken) or _is_quantity(name, match, plain):
                continue
            bounds = _bounds(match)
            if bounds is None:
                continue
            taken.append((start, end))
            first_day, last_day = bounds
            day = first_day - timedelta(days=1) if kind == "eve" else last_day
            mode = Mode.EVEN if kind == "span" else Mode.DAY
            yield Past(mode, name, day, match.group(0).strip(" ()?.!,"))


def _is_quantity(name: str, match: re.Match[str], plain: str) -> bool:
    year = match.group("year") if "year" in match.re.groupindex else None
    if year is None or int(year) % _ROUND or name in ("as_of", "edition_of_a_year"):
        return False
    return bool(_COUNTED.match(plain, match.end())) or name == "a_year_alone"


def _bounds(match: re.Match[str]) -> tuple[date, date] | None:
    """Return the first and the last day that a match names; None where it names none."""
    parts = match.groupdict()
    month: int | None = None
    day: int | None = None
    if parts.get("iso"):
        year, month, *rest = (int(part) for part in parts["iso"].split("-"))
        day = rest[0] if rest else None
    elif parts.get("month"):
        year, month = int(parts["of"]), _NUMBERS[parts["month"]]
        given = parts["first"] or parts["second"]
        day = int(given) if given else None
    else:
        year = int(parts["year"])
    try:
        return date(year, month or 1, day or 1), ending(year, month, day)
    except ValueError:
        # A slip such as 31 February still says the year.
        return (date(year, 1, 1), ending(year)) if FIRST_YEAR <= year <= LAST_YEAR else None
