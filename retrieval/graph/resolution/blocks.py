"""What two names may not differ in, however alike they look: numbers, qualifiers, opposites. Pure.

A block is about marks that carry the meaning. It says nothing of names that are simply unlike.
"""

from __future__ import annotations

import re
from collections import Counter
from enum import StrEnum
from typing import Final

from retrieval.graph.resolution.spelling import GREEK, Words


class Block(StrEnum):
    """Why two names are not proposed."""

    NUMBERS = "numbers"
    LETTERS = "letters"
    GREEK = "greek_letters"
    NEGATION = "negation"
    QUALIFIER = "qualifier"
    OPPOSITE = "opposite"
    PREFIX = "prefix"
    ENDING = "ending"
    UNIT = "unit"


_FIGURES = re.compile(r"\d+(?:\.\d+)?")
_LETTERS_AT_FIGURES = re.compile(r"(?<=\d)[^\W\d]{1,2}(?![^\W\d])|(?<![^\W\d])[^\W\d]{1,2}(?=\d)")
_GREEK_NAMES: Final = frozenset(GREEK.values())
_GREEK_AT_FIGURE = re.compile(rf"(?:(?<=\d)|\b)(?:{'|'.join(sorted(_GREEK_NAMES, key=len, reverse=True))})\b")
_SIGNS = re.compile(r"[+\-](?=\Z|\W)")
# Stand between the words of a name and carry no mark of their own.
SMALL: Final = frozenset("a an and as at by for from in into of on or the to with".split())
_NEGATIONS: Final = frozenset("non not no un without free less lacking negative positive with anti".split())
_UNITS: Final = frozenset(
    "g kg mg ug ng t l ml ul m cm mm km nm um s min h hr d wk mol mmol umol nmol pa kpa mpa gpa bar"
    " j kj mj gj w kw mw gw kwh mwh gwh v mv a ma hz khz mhz ghz rpm ppm ppb k c f ha da kda".split()
)

# Put before a word they make another thing of it.
_PREFIXES: Final = tuple(
    sorted(
        """
        a ab acetyl ad aldo allo amino an ana ante anti apo auto azo benzo beta bi bio bis bromo butyl
        carb carbo chem chemo chlor chloro cis co counter cryo cyano cyclo de dec deca demi deoxy des
        desoxy dex dextro di dia dihydro dimethyl dis ecto endo ento epi erythro ethyl eu ex exo extra
        flu fluor fluoro gluco glyco hepta hetero hexa holo homo hydro hydroxy hyper hypo im immuno in
        infra inter intra iodo ir iso keto laevo lev levo lipo macro mal mega meso meta methyl micro mid
        milli mini mis mono multi myco n nano neo neuro nitro non nor ob octa oligo ortho over oxo oxy
        pan para pent penta per peri phenyl photo poly post pre prim pro propyl proto pseudo pyro quadri
        quasi quinque re retro sec self semi sub sulfo super supra syn tauro tert tetra thermo thio
        threo trans tri ultra un under uni unter urso
        """.split(),
        key=lambda prefix: (-len(prefix), prefix),
    )
)
# Different ends of one stem that name different things: alkanes and alkenes, salts, alcohols and aldehydes.
_ENDINGS: Final = tuple(
    sorted(
        """
        a able ac acin al amide amine an ane ar ary ase ate ated ation e ed emia ene enic er ete ial
        ian ic ical id idine ide idin in ine ing inol inone io ion ious is ism ist ite itis ity ium ive
        ol ole olic oma one onic or ose oside osis otide ous uria us yl ylene yne yl
        """.split(),
        key=lambda ending: (-len(ending), ending),
    )
)
_SHORTEST_STEM = 3


def blocked(one: Words, other: Words) -> Block | None:
    """Return what speaks against two names, None when nothing does. The order of the names does not matter.

    >>> from retrieval.graph.resolution.spelling import words_of
    >>> def of(one: str, other: str) -> str:
    ...     return str(blocked(words_of(one), words_of(other)))
    >>> of("IL-6", "IL-8"), of("phase 2", "phase III"), of("woody", "non-woody")
    ('numbers', 'numbers', 'negation')
    >>> of("hyperthermia", "hypothermia"), of("alpha-amylase", "beta-amylase"), of("butane", "butene")
    ('prefix', 'greek_letters', 'ending')
    >>> of("renal toxicity", "retinal toxicity"), of("vitamin A", "vitamin C")
    ('None', 'letters')
    """
    for block, marks in _MARKS:
        if marks(one) != marks(other):
            return block
    left, right = _own(one, other)
    if not left or not right:
        return Block.QUALIFIER if left or right else None
    for block, opposed in ((Block.PREFIX, _other_prefix), (Block.ENDING, _other_ending)):
        if any(opposed(first, second) for first in left for second in right):
            return block
    return None


def _own(one: Words, other: Words) -> tuple[list[str], list[str]]:
    """Return the words that only one of the names has, small words aside."""
    here, there = Counter(one), Counter(other)
    left, right = here - there, there - here
    return sorted(set(left) - SMALL), sorted(set(right) - SMALL)


def _numbers(words: Words) -> list[str]:
    return sorted(figure for word in words for figure in _FIGURES.findall(word))


def _letters(words: Words) -> list[str]:
    """Return the letters that stand alone or at a figure: "vitamin a", "2b", "t-butyl"."""
    alone = [word for word in words if len(word) == 1 and word.isalpha()]
    return sorted(alone + [found for word in words for found in _LETTERS_AT_FIGURES.findall(word)])


def _greek(words: Words) -> list[str]:
    return sorted(found for word in words for found in _GREEK_AT_FIGURE.findall(word))


def _negations(words: Words) -> list[str]:
    found = sorted(word for word in words if word in _NEGATIONS)
    # "nonwoody" says what "non woody" says.
    found += [prefix for word in words for prefix in ("non", "anti") if _starts_long(word, prefix)]
    return sorted(found)


def _starts_long(word: str, prefix: str) -> bool:
    return word.startswith(prefix) and len(word) >= len(prefix) + _SHORTEST_STEM + 1


def _units(words: Words) -> list[str]:
    parts = [part for word in words if "/" in word for part in word.split("/")]
    return sorted(part for part in [*parts, *words] if part in _UNITS)


def _signs(words: Words) -> list[str]:
    return sorted(found for word in words for found in _SIGNS.findall(word))


_MARKS = (
    (Block.NUMBERS, _numbers),
    (Block.NUMBERS, _signs),
    (Block.LETTERS, _letters),
    (Block.GREEK, _greek),
    (Block.NEGATION, _negations),
    (Block.UNIT, _units),
)


def _other_prefix(one: str, other: str) -> bool:
    """Whether two words are one word behind different prefixes, or behind one and none."""
    rests = _rests(one) | {one}
    return bool((rests & (_rests(other) | {other})) - {""})


def _rests(word: str) -> set[str]:
    return {
        word[len(prefix) :]
        for prefix in _PREFIXES
        if word.startswith(prefix) and len(word) - len(prefix) >= _SHORTEST_STEM
    }


def _other_ending(one: str, other: str) -> bool:
    """Whether two words are one stem with different endings."""
    return bool((_stems(one) | {one}) & (_stems(other) | {other}))


def _stems(word: str) -> set[str]:
    return {
        word[: -len(ending)]
        for ending in _ENDINGS
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST_STEM
    }
