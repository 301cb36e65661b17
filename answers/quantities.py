"""Numbers with their units, in one normal form, so that a sentence can be held against its source. Pure.

What means the same is made equal: thousands separators, U+2212 and other minus signs, exponents in every
notation, "percent" and "%", "mg/L" and "mg L-1", "12mg" and "12 mg". Nothing is converted: 1 g is not
1000 mg, because an answer is asked to keep the source's numbers and units.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from answers.units import Unit, combined, unit_at

_SCALES = {"hundred": 2, "thousand": 3, "million": 6, "billion": 9, "trillion": 12, "bn": 9}
_WORDS_TO_TWENTY = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
    " seventeen eighteen nineteen twenty"
)
_NUMBER_WORDS = {word: Decimal(value) for value, word in enumerate(_WORDS_TO_TWENTY.split())}
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻", "0123456789+-")
_THIN_SPACES = "\u2009\u202f\u00a0"
_ALIKE = str.maketrans(
    {
        **dict.fromkeys("\u2212\u2010\u2011\u2012\u2013\u2014\ufe63\uff0d", "-"),
        **dict.fromkeys("\u25e6\u02da\u2218\u00ba\u25cb", "°"),
        **dict.fromkeys("\u2715\u2a2f", "×"),
        **dict.fromkeys("\u22c5\u2219\u2022", "·"),
        "\u00b5": "μ",
        "\u2126": "Ω",
        "\u2044": "/",
        "\u2215": "/",
    }
)
_SUPERSCRIPT_RUN = re.compile("[⁺⁻]?[⁰¹²³⁴⁵⁶⁷⁸⁹]+")
_PER_CENT = re.compile(r"\bper cent\b", re.IGNORECASE)
# A digit that a letter and a hyphen precede belongs to a name: COVID-19.
_NUMBER = re.compile(
    rf"""
    (?<![\w.^])(?<![^\W\d_]-)(?P<currency>[$€£]\s?)?
    (?P<sign>[+-])?
    (?: 10\s?\^\s?\(?(?P<ten>[+-]?\d{{1,3}})\)?
      | (?P<value>\d{{1,3}}(?:[,'{_THIN_SPACES}]\d{{3}})+(?:\.\d+)?(?!\d) | \d+(?:\.\d+)? | \.\d+)
        (?: \s?[×x·*]\s?10\s?\^?\s?\(?(?P<power>[+-]?[1-9]\d?)(?!\d)\)?
          | [eE](?P<e>[+-]?\d{{1,3}})(?!\w) )?
    )
    """,
    re.VERBOSE,
)
# PDF text loses superscripts: "10-5" may have been a power as well as a range.
_FLAT_POWER = re.compile(r"(?<![\w.])10(-\d{1,2})(?![\w.])")
_SCALE = re.compile(r"\s?([a-z]+)")
_CODE = re.compile(r"(?<![\w.-])(?=[\w.-]*\d)(?=[\w.-]*[^\W\d_])\w+(?:[.-]\w+)*")
_COLUMN_HEAD = re.compile(r"[(\[|]\s?(?=[^\W\d_]|[°%‰$€£])")
_WORD = re.compile(r"[a-z]+")
_SHORTEST_CODE = 3


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number, its unit as (symbol, exponent) pairs (none when no known unit follows), and its place."""

    value: Decimal
    unit: Unit
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Figures:
    """Everything countable in a text: quantities, numbers as words, codes such as CO2, 16S or PM2.5."""

    plain: str
    quantities: tuple[Quantity, ...]
    codes: frozenset[str]
    words: frozenset[Decimal]
    units: frozenset[Unit]
    powers: frozenset[Decimal]

    def squeezed(self) -> str:
        """Return the text without spaces and hyphens, where "RCP 8.5" is the same as "RCP8.5"."""
        return re.sub(r"[\s\-^]+", "", self.plain).casefold()


def normalise(text: str) -> str:
    """Return `text` with look-alike characters made equal. Superscripts keep their meaning as powers."""
    marked = _SUPERSCRIPT_RUN.sub(lambda run: "^" + run.group().translate(_SUPERSCRIPTS), text)
    folded = "".join(
        char if char in _THIN_SPACES else unicodedata.normalize("NFKC", char)
        for char in marked.translate(_ALIKE)
    )
    return _PER_CENT.sub("percent", folded.translate(_ALIKE))


def figures(text: str) -> Figures:
    """Return the figures of `text`."""
    plain = normalise(text)
    found = tuple(_quantities(plain))
    words = (_NUMBER_WORDS.get(match.group()) for match in _WORD.finditer(plain.lower()))
    return Figures(
        plain=plain,
        quantities=found,
        codes=frozenset(_codes(plain, found)),
        words=frozenset(value for value in words if value is not None),
        units=frozenset(quantity.unit for quantity in found if quantity.unit) | _column_units(plain),
        powers=frozenset(Decimal(10) ** int(match[1]) for match in _FLAT_POWER.finditer(plain)),
    )


def missing(sentence: Figures, source: Figures, *, copied: bool = False) -> tuple[str, ...]:
    """Return the figures of `sentence`, as written there, that `source` does not hold.

    With `copied`, source is the sentence it was copied from: a figure may then stand no more often.
    """
    absent = [
        sentence.plain[quantity.start : quantity.end].strip()
        for quantity in sentence.quantities
        if not _holds(source, quantity) or (copied and _more_often(quantity, sentence, source))
    ]
    absent += sorted(code for code in sentence.codes - source.codes if not _spelled_otherwise(code, source))
    return tuple(dict.fromkeys(absent))


def _more_often(quantity: Quantity, sentence: Figures, source: Figures) -> bool:
    def times(figures: Figures) -> int:
        return sum(other.value == quantity.value for other in figures.quantities)

    return times(sentence) > max(1, times(source))


def _holds(source: Figures, wanted: Quantity) -> bool:
    same = [quantity.unit for quantity in source.quantities if quantity.value == wanted.value]
    in_words = wanted.value in source.words or wanted.value in source.powers
    if not wanted.unit:
        return bool(same) or in_words
    # "10, 20 and 30 mg", a range, a column of a table: the unit stands elsewhere in the same source.
    return wanted.unit in same or ((() in same or in_words) and wanted.unit in source.units)


def _spelled_otherwise(code: str, source: Figures) -> bool:
    squeezed = code.replace("-", "")
    return len(squeezed) >= _SHORTEST_CODE and squeezed in source.squeezed()


def _quantities(plain: str) -> Iterator[Quantity]:
    position = 0
    while match := _NUMBER.search(plain, position):
        value, end = _scaled(plain, match)
        unit, unit_end = unit_at(plain, end)
        position = max(end, unit_end)
        if not unit and (plain[end : end + 1].isalpha() or plain[end : end + 1] == "_"):
            code = _CODE.match(plain, match.start("value"))
            position = max(position, code.end() if code else 0)
            continue
        if match["currency"]:
            unit = combined([*unit, (match["currency"].strip(), 1)])
        yield Quantity(value.normalize(), unit, match.start(), position)


def _scaled(plain: str, match: re.Match[str]) -> tuple[Decimal, int]:
    """Return the value of a number with its sign, power and scale word, and where they end."""
    end = match.end()
    if match["ten"]:
        value = Decimal(10) ** int(match["ten"])
    else:
        digits = re.sub(rf"[,'{_THIN_SPACES}]", "", match["value"])
        value = Decimal(digits).scaleb(int(match["power"] or match["e"] or 0))
    word = _SCALE.match(plain, end)
    if word and word[1] in _SCALES:
        value, end = value.scaleb(_SCALES[word[1]]), word.end()
    return (-value if _is_negative(plain, match) else value), end


def _is_negative(plain: str, match: re.Match[str]) -> bool:
    """Say whether a minus is a sign. After a number it makes a range, after a letter a name."""
    if match["sign"] != "-":
        return False
    before = plain[max(0, match.start("sign") - 8) : match.start("sign")]
    last = before.rstrip()[-1:]
    return not (last.isdigit() or last == "%" or (last.isalpha() and not before[-1:].isspace()))


def _codes(plain: str, found: tuple[Quantity, ...]) -> Iterator[str]:
    covered = sorted((quantity.start, quantity.end) for quantity in found)
    index = 0
    for match in _CODE.finditer(plain):
        while index < len(covered) and covered[index][1] <= match.start():
            index += 1
        if index == len(covered) or covered[index][0] >= match.end():
            yield match.group().casefold()


def _column_units(plain: str) -> frozenset[Unit]:
    """Return the units that stand without a number, as in the head of a table column."""
    found = (unit_at(plain, match.end())[0] for match in _COLUMN_HEAD.finditer(plain))
    return frozenset(unit for unit in found if unit)
