"""The scientific search form of text: the same normaliser for what is stored and what is asked."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from itertools import pairwise

from django.contrib.postgres.search import SearchVectorField
from django.db.models import F, Func, IntegerField

# PostgreSQL text search configurations by language code; others use `simple`.
CONFIGURATIONS = {
    "da": "danish", "de": "german", "en": "english", "es": "spanish", "fi": "finnish", "fr": "french",
    "hu": "hungarian", "it": "italian", "nl": "dutch", "no": "norwegian", "pt": "portuguese",
    "ru": "russian", "sv": "swedish", "tr": "turkish",
}  # fmt: skip


def configuration(language: str) -> str:
    """Return the name of the text search configuration for a language code."""
    return CONFIGURATIONS.get(language, "simple")


@dataclass(frozen=True, slots=True)
class Word:
    """One word of the normal form. `in_code` marks what a code beside it says more exactly."""

    text: str
    in_code: bool = False


@dataclass(frozen=True, slots=True)
class SearchText:
    """A text in normal form.

    `words` stand in reading order, so phrases can be matched: `IL-6`, `IL6` and `IL 6` are all `il 6`.
    `codes` are what was written together, in one piece: `il6`, `betacatenin`, `pm2point5`.
    """

    words: tuple[Word, ...]
    codes: tuple[str, ...]

    def phrase(self) -> str:
        """Return the words alone."""
        return " ".join(word.text for word in self.words)


def search_form(text: str) -> str:
    """Return `text` as it is indexed: its words in order and then its codes.

    Only letters, digits and spaces are left: PostgreSQL's parser, which reads `mg/kg` as a file name,
    `-80` as a number and `pm2.5` as a host, finds nothing to interpret.
    """
    normal = normalise(text)
    return " ".join([normal.phrase(), *normal.codes]).strip()


def normalise(text: str) -> SearchText:
    """Return the normal form of `text`, in time linear in its length.

    Doing it again to `phrase()` changes nothing.
    """
    clean = _spelled_out(_folded(text))
    words: list[Word] = []
    codes: list[str] = []
    before = _Compound([], 0)
    for match in _COMPOUND.finditer(clean):
        text = match.group()
        if text.isalpha():
            # Most are: a word by itself, with nothing to cut and no number to go with the one before.
            words.append(Word(text))
            before = _Compound([(text,)], match.end())
            continue
        compound = _Compound([_split(part) for part in _JOINTS.split(text)], match.end())
        spaced = clean[before.end : match.start()].isspace() and _names_a_number(before, compound)
        if spaced:
            codes.append(before.last + compound.first)
            words[-1] = _within_code(words[-1].text)
        words += compound.words(first_in_code=spaced)
        codes += compound.codes()
        before = compound
    return SearchText(tuple(words), tuple(code for code in codes if len(code) <= _LONGEST_CODE))


# --- Characters ------------------------------------------------------------------------------

_LONGEST_CODE = 60
# Soft hyphen, zero-width characters, and U+0002, which pdfium writes for a hyphen at a line's end.
_INVISIBLE = dict.fromkeys(map(ord, "\u00ad\u200b\u200c\u200d\u2060\ufeff\u0002"))
_SAME_AS = str.maketrans(
    dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2043\u2212\ufe58\ufe63\uff0d", "-")
    | dict.fromkeys("\u2018\u2019\u02bc\u2032\u00b4`", "'")
)
_NARROW_SPACE_IN_NUMBER = re.compile(r"(?<=\d)[\u00a0\u2009\u202f'\u2019](?=\d{3}(?!\d))")
_MICRO = re.compile(r"(?<![^\W\d_])\u03bc(?=(?:g|l|m|mol|s|a|v|w|f|j|pa|gy|sv|ci|bq)(?![^\W\d_]))")
_GREEK_SCRIPT = "\u0370-\u03ff\u1f00-\u1fff"
_LONE_GREEK = re.compile(rf"(?<![{_GREEK_SCRIPT}])[\u03b1-\u03c9](?![{_GREEK_SCRIPT}])")
_GREEK = dict(
    zip(
        "αβγδεζηθικλμνξοπρστυφχψω",
        "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigma tau"
        " upsilon phi chi psi omega".split(),
        strict=True,
    )
)
_THOUSANDS = re.compile(r"(?<![\d.,])\d{1,3}(?:,\d{3})+(?!,?\d)")
_BARE_DECIMAL = re.compile(r"(?<![\w.])\.(?=\d)")
_DECIMAL = re.compile(r"(?<=\d)\.(?=\d)")
_POSSESSIVE = re.compile(r"(?<=[^\W\d_])'s(?![^\W_])")
_APOSTROPHE = re.compile(r"(?<=[^\W\d_])'(?=[^\W\d_])")


def _folded(text: str) -> str:
    """Drop what only looks different: width, case, ligatures, accents on Latin letters, kinds of dashes."""
    text = _NARROW_SPACE_IN_NUMBER.sub("", text.translate(_INVISIBLE))
    text = unicodedata.normalize("NFKC", text).casefold()
    if not text.isascii():
        text = _without_marks(unicodedata.normalize("NFKD", text))
    return text.translate(_SAME_AS)


def _without_marks(text: str) -> str:
    """Drop the marks of decomposed `text` that make no letter of their own.

    Accents on Latin letters go; elsewhere a mark may make another letter, as in Cyrillic, and stays where
    the two compose. One that does not compose would cut its word in two.
    """
    kept = []
    on_latin = False
    for character in text:
        if not unicodedata.combining(character):
            on_latin = "a" <= character <= "z"
        elif on_latin and "\u0300" <= character <= "\u036f":
            continue
        kept.append(character)
    composed = unicodedata.normalize("NFC", "".join(kept))
    return "".join(character for character in composed if unicodedata.category(character)[0] != "M")


def _spelled_out(text: str) -> str:
    """Write Greek letters as their names and numbers in one way."""
    text = _LONE_GREEK.sub(_greek_name, _MICRO.sub("u", text))
    text = _THOUSANDS.sub(lambda match: match.group().replace(",", ""), text)
    text = _DECIMAL.sub("point", _BARE_DECIMAL.sub("0.", text))
    return _APOSTROPHE.sub("", _POSSESSIVE.sub("", text))


def _greek_name(match: re.Match[str]) -> str:
    text, start, end = match.string, match.start(), match.end()
    left = "-" if start and text[start - 1].isalnum() else ""
    right = "-" if end < len(text) and text[end].isalnum() else ""
    return left + _GREEK[match.group()] + right if match.group() in _GREEK else match.group()


# --- Words that belong together --------------------------------------------------------------

# Letters and digits joined by hyphens, or by commas between digits: `2,4-d`, `il-6-induced`.
_COMPOUND = re.compile(r"[^\W_]+(?:(?:-|(?<=\d),(?=\d))[^\W_]+)*")
_JOINTS = re.compile(r"[-,]")
_LETTERS_THEN_DIGITS = re.compile(r"([^\W\d_]+)(\d.*)", re.DOTALL)
_UNITS = (
    "ng ug mg g kg t ha nm um mm cm m km nl ul ml dl l nmol umol mmol mol nm um mm h min ms s d wk yr"
    " k c f pa kpa mpa bar atm psi j kj mj gj kcal cal w kw mw gw kwh mwh gwh v mv kv ma hz khz mhz ghz"
    " ppm ppb ppt rpm da kda bp kb mb gb wt vol acres acre lb lbs ft gal bu"
).split()
_NUMBER_WITH_UNIT = re.compile(rf"(\d+(?:point\d+)*)({'|'.join(sorted(set(_UNITS), key=len, reverse=True))})")
_SHORT_NUMBER = re.compile(r"\d{1,3}(?:point\d+)?[a-z]{0,2}")
# A number after one of these is a quantity, not part of a name like `covid 19`.
_NO_NAMES = frozenset(
    "a about above after all an and are as at be before below between by day days during every first for"
    " from had has have in into is last least most next no of on only or other over per since some than"
    " that the these this those to total under until up was were when which with within".split()
)


def _split(part: str) -> tuple[str, ...]:
    """Cut a part where letters meet their number and where a number meets its unit."""
    named = _LETTERS_THEN_DIGITS.fullmatch(part)
    letters, number = named.groups() if named else ("", part)
    with_unit = _NUMBER_WITH_UNIT.fullmatch(number)
    numbers = with_unit.groups() if with_unit else (number,)
    return (letters, *numbers) if letters else numbers


@dataclass(frozen=True, slots=True)
class _Compound:
    """What was written without a space: its parts, each cut where letters and digits meet."""

    parts: list[tuple[str, ...]]
    end: int

    @property
    def first(self) -> str:
        return self.parts[0][0] if self.parts else ""

    @property
    def last(self) -> str:
        return self.parts[-1][-1] if self.parts else ""

    def codes(self) -> list[str]:
        """Return the neighbours joined, and the whole when it has more than two parts."""
        joined = ["".join(part) for part in self.parts]
        codes = [whole for whole, part in zip(joined, self.parts, strict=True) if _is_named_number(part)]
        pairs = [
            left + right
            for left, right in pairwise(joined)
            if (len(joined) <= 3 and not (left + right).isdigit()) or (left.isalpha() and right[0].isdigit())
        ]
        whole = "".join(joined)
        return codes + pairs + ([whole] if len(joined) > 2 and not whole.isdigit() else [])

    def words(self, *, first_in_code: bool) -> list[Word]:
        """Return the words, those that a code covers marked."""
        words = []
        for place, part in enumerate(self.parts):
            neighbours = ["".join(other) for other in self.parts[max(0, place - 1) : place + 2]]
            coded = (
                _is_named_number(part)
                or (first_in_code and place == 0)
                or (len(neighbours) > 1 and not all(text.isdigit() for text in neighbours))
            )
            words += [_within_code(text) if coded else Word(text) for text in part]
        return words


def _within_code(text: str) -> Word:
    """Mark `text` unless it says something by itself: `covid` does, `19` and `il` do not."""
    return Word(text, in_code=not text.isalpha() or len(text) <= 2)


def _is_named_number(part: tuple[str, ...]) -> bool:
    return len(part) > 1 and part[0].isalpha()


def _names_a_number(before: _Compound, after: _Compound) -> bool:
    """Say whether two neighbours read like `covid 19` or `pm 2.5`."""
    name = before.last
    return (
        name.isalpha()
        and len(name) <= 8
        and name not in _NO_NAMES
        and len(after.parts[0]) == 1
        and _SHORT_NUMBER.fullmatch(after.first) is not None
    )


# --- In the database -------------------------------------------------------------------------


def _weighted(configuration_name: str) -> str:
    return (
        f"setweight(to_tsvector('{configuration_name}', search_heading), 'A')"
        f" || setweight(to_tsvector('{configuration_name}', search_body), 'D')"
    )


# A generated column needs immutable functions, hence the configuration's name as a constant per branch.
_BRANCHES = " ".join(f"WHEN '{code}' THEN {_weighted(name)}" for code, name in CONFIGURATIONS.items())
TSVECTOR_EXPRESSION = Func(
    F("language"),
    template=f"CASE %(expressions)s {_BRANCHES} ELSE {_weighted('simple')} END",
    output_field=SearchVectorField(),
)

# Words in the search form: what BM25 calls the length of a passage, read without unpacking its vector.
LENGTH_EXPRESSION = Func(
    F("search_heading"),
    F("search_body"),
    template="cardinality(string_to_array(%(expressions)s, ' '))",
    arg_joiner=" || ' ' || ",
    output_field=IntegerField(),
)
