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
_SHORT = re.compile(r"(?:[^\W\d_]|\d)[^\W_]*(?:[- ][^\W_]+)?")
_SPECIES = re.compile(r"([^\W\d_])\. ?([^\W\d_]{3,}(?: .+)?)\Z")
_BINOMIAL = re.compile(r"([^\W\d_]{3,}) ([^\W\d_]{3,}(?: .+)?)\Z")
_PARTS = re.compile(r"[^\W_]+")


def letters_of(name: str, *, shortest: int = SHORTEST) -> str:
    """Return the letters of a short form in lower case, without the s of a plural; nothing for other names.

    >>> letters_of("VFAs"), letters_of("HBsAg"), letters_of("biogas"), letters_of("5-HMF")
    ('vfa', 'hbsag', '', '5hmf')
    """
    text = cased_key(name)
    if not _SHORT.fullmatch(text) or len(text) > _LONGEST + 2:
        return ""
    capitals = sum(char.isupper() for char in text)
    if capitals < 2 and not (capitals == 1 and text[0].islower() and len(text) <= 4):  # "iAs"
        return ""
    text = re.sub(r"(?<=[A-Z])s\Z", "", text)
    letters = "".join(char for char in text.lower() if char.isalnum())
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


def abbreviates(short: str, long: str, *, shortest: int = SHORTEST) -> bool:
    """Whether each word of `long` shows in `short` by its first letter, and the rest stands in the words.

    Stricter than where a text defines an abbreviation (Schwartz and Hearst, 2003): nothing here says that the
    two belong together but their letters. Figures have to be the same.

    >>> abbreviates("VFAs", "volatile fatty acids"), abbreviates("AmB", "amphotericin B")
    (True, True)
    >>> abbreviates("VFA", "very fine sand"), abbreviates("IL-6", "interleukin 8"), abbreviates("ASH", "ash")
    (False, False, False)
    """
    letters = letters_of(short, shortest=shortest)
    if not letters or not initials_of(long):
        return False
    words = [word for word in cased_key(long).lower().split() if _PARTS.search(word)]
    return _shows(letters, [_PARTS.findall(word) for word in words if word not in SMALL])


def _shows(letters: str, words: list[list[str]], spare: int = 1) -> bool:
    """Whether `letters` are those of the words in order, the first of each word among them.

    Parts of a word behind hyphens may show too, and one letter from inside a long word.
    """
    if not words:
        return not letters
    text = "".join(words[0])
    if not letters or letters[0] != text[0]:
        return False
    for size in range(1, len(letters) + 1):
        inner = _inner(letters[1:size], words[0])
        if inner is not None and inner <= spare and _shows(letters[size:], words[1:], spare - inner):
            return True
    return False


def _inner(letters: str, parts: list[str]) -> int | None:
    """Return how many letters behind the first come from inside a word; None when they do not stand in it."""
    if _in_order(letters, "".join(part[0] for part in parts[1:])):
        return 0
    text = "".join(parts)
    figures = "".join(char for char in text if char.isdigit())
    if not _in_order(letters, text[1:]) or not all(char in figures for char in letters if char.isdigit()):
        return None
    return 0 if letters == figures else len(letters) if len(text) >= _LONG_WORD else None


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
