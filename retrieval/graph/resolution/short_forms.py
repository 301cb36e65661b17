"""Whether a short form stands for a longer name: "VFA" for volatile fatty acids, "E. coli". Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import combinations
from typing import Final

from retrieval.graph.resolution.blocks import SMALL
from retrieval.graph.resolution.spelling import cased_key

# Two letters stand for too many things, unless a passage says for which.
SHORTEST: Final = 3
SHORTEST_ALIAS: Final = 2
_LONGEST = 8
# Long words are put together of several: "hydroxyanisole" may show two letters.
_LONG_WORD = 7
_MOST_STRAYS = 1
_SHORT = re.compile(r"(?:[^\W\d_]|\d)[^\W_]*(?:[- ][^\W_]+)?")
_SPECIES = re.compile(r"([^\W\d_])\. ?([^\W\d_]{3,}(?: .+)?)\Z")
_BINOMIAL = re.compile(r"([^\W\d_]{3,}) ([^\W\d_]{3,}(?: .+)?)\Z")
_PARTS = re.compile(r"[^\W_]+")


def letters_of(name: str, *, shortest: int = SHORTEST) -> str:
    """Return the letters of a short form, without the s of a plural; nothing for other names.

    >>> letters_of("VFAs"), letters_of("HBsAg"), letters_of("biogas"), letters_of("5-HMF")
    ('VFA', 'HBsAg', '', '5HMF')
    """
    text = cased_key(name)
    if not _SHORT.fullmatch(text) or len(text) > _LONGEST + 2:
        return ""
    capitals = sum(char.isupper() for char in text)
    if capitals < 2 and not (capitals == 1 and text[0].islower() and len(text) <= 4):  # "iAs"
        return ""
    letters = "".join(char for char in re.sub(r"(?<=[A-Z])s\Z", "", text) if char.isalnum())
    return letters if shortest <= len(letters) <= _LONGEST else ""


def initials_of(name: str) -> str:
    """Return the first letter of each word that a short form has to show; nothing for a single word.

    >>> initials_of("volatile fatty acids"), initials_of("X-ray spectroscopy"), initials_of("methane")
    ('vfa', 'xs', '')
    """
    parts = [found[0] for found in map(_PARTS.search, cased_key(name).lower().split()) if found]
    shown = [part for part in parts if part not in SMALL]
    return "".join(part[0] for part in shown) if len(shown) > 1 else ""


def possible_initials(letters: str) -> Iterator[str]:
    """Yield the initials that names which `letters` may stand for can have."""
    first, rest = letters[0], letters[1:]
    for size in range(1, len(rest) + 1):
        seen = {first + "".join(kept) for kept in combinations(rest, size)}
        yield from sorted(seen)


def strays(short: str, long: str, *, shortest: int = SHORTEST) -> int | None:
    """Return how many capitals of `short` come from inside a word of `long`; None when it is no short form.

    Each word of the name shows by its first letter, in order, and its parts behind hyphens may. A small
    letter may come from the word of the capital before it. Figures have to be the same. Stricter than where
    a text defines an abbreviation (Schwartz and Hearst, 2003): nothing here says that the two belong together
    but their letters, and with capitals from anywhere one in five is wrong.

    >>> strays("VFAs", "volatile fatty acids"), strays("AmB", "amphotericin B"), strays("NSAID",
    ...     "non-steroidal anti-inflammatory drug")
    (0, 0, 0)
    >>> strays("BHA", "butylated hydroxyanisole"), strays("TMP", "thiamine pyrophosphate")
    (1, 1)
    >>> strays("VFA", "very fine sand"), strays("IL-6", "interleukin 8"), strays("LIDs", "liver damage")
    (None, None, None)
    """
    letters = letters_of(short, shortest=shortest)
    if not letters or not initials_of(long):
        return None
    words = [word for word in cased_key(long).lower().split() if _PARTS.search(word)]
    return _strays(letters, [_PARTS.findall(word) for word in words if word not in SMALL], _MOST_STRAYS)


def _strays(letters: str, words: list[list[str]], allowed: int) -> int | None:
    if not words:
        return None if letters else 0
    if not letters or letters[0].lower() != words[0][0][0]:
        return None
    least: int | None = None
    for size in range(1, len(letters) + 1):
        here = _inside(letters[1:size], words[0])
        if here is None or here > allowed:
            continue
        rest = _strays(letters[size:], words[1:], allowed - here)
        if rest is not None and (least is None or here + rest < least):
            least = here + rest
    return least


def _inside(letters: str, parts: list[str]) -> int | None:
    """Return how many of the letters behind the first are strays in a word; None when they are not in it."""
    low = letters.lower()
    if _in_order(low, "".join(part[0] for part in parts[1:])):
        return 0
    text = "".join(parts)
    figures = "".join(char for char in text if char.isdigit())
    if not _in_order(low, text[1:]) or not all(char in figures for char in low if char.isdigit()):
        return None
    capitals = sum(char.isupper() for char in letters)
    return capitals if not capitals or len(text) >= _LONG_WORD else None


def _in_order(letters: str, text: str) -> bool:
    place = 0
    for letter in letters:
        place = text.find(letter, place) + 1
        if not place:
            return False
    return True


def short_species(name: str) -> tuple[str, str] | None:
    """Return initial and rest of an abbreviated binomial.

    >>> short_species("E. coli"), short_species("Escherichia coli"), short_species("E. coli K12")
    (('e', 'coli'), None, ('e', 'coli k12'))
    """
    found = _SPECIES.match(cased_key(name).lower())
    return (found[1], found[2]) if found else None


def full_species(name: str) -> tuple[str, str] | None:
    """Return initial and rest of a name that may be a binomial.

    >>> full_species("Escherichia coli"), full_species("coli")
    (('e', 'coli'), None)
    """
    found = _BINOMIAL.match(cased_key(name).lower())
    return (found[1][0], found[2]) if found else None
