"""The words of a name without what writers do differently: number, hyphens, British spelling, Greek. Pure."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from corpus.normalise import matching_form, visible
from retrieval.graph.naming import key_of

Words = tuple[str, ...]

GREEK: Final = {
    "α": "alpha", "β": "beta", "γ": "gamma", "δ": "delta", "ε": "epsilon", "ζ": "zeta", "η": "eta",
    "θ": "theta", "κ": "kappa", "λ": "lambda", "μ": "mu", "π": "pi", "ρ": "rho", "σ": "sigma", "τ": "tau",
    "φ": "phi", "χ": "chi", "ψ": "psi", "ω": "omega",
}  # fmt: skip
_GREEK_LETTER = re.compile(f"[{''.join(GREEK)}]")

# A hyphen or space between two figures stands for something ("1-3"); elsewhere writers put it as they like.
_GAP = re.compile(r"\s+|(?<=\w)-(?=[^\W\d])|(?<=[^\W\d])-(?=\d)|(?<=[)\]])-(?=\w)|(?<=\w)-(?=[(\[])")
_ARTICLE = re.compile(r"\A(?:[Tt]he|an?)\s+(?=\w\w)")
_POSSESSIVE = re.compile(r"(?<=[^\W\d])'s?(?=[\s-]|\Z)")
_ALL_CAPITALS = re.compile(r"[^\Wa-z_]{2,}")

_ROMAN: Final = {
    "i": "1", "ii": "2", "iii": "3", "iv": "4", "v": "5", "vi": "6", "vii": "7", "viii": "8", "ix": "9",
    "x": "10", "xi": "11", "xii": "12", "xiii": "13",
}  # fmt: skip
# Behind one of these a letter is a number.
_NUMBERED = frozenset(
    "class complex factor generation grade group level phase photosystem series stage tier type".split()
)

_IRREGULAR: Final = {
    "algae": "alga", "appendices": "appendix", "archaea": "archaeon", "bacilli": "bacillus",
    "bacteria": "bacterium", "criteria": "criterion", "feet": "foot", "fungi": "fungus", "genera": "genus",
    "indices": "index", "larvae": "larva", "leaves": "leaf", "loci": "locus", "matrices": "matrix",
    "media": "medium", "mice": "mouse", "microalgae": "microalga", "mitochondria": "mitochondrion",
    "nuclei": "nucleus", "ova": "ovum", "phenomena": "phenomenon", "phyla": "phylum", "pupae": "pupa",
    "sera": "serum", "spectra": "spectrum", "stimuli": "stimulus", "strata": "stratum", "taxa": "taxon",
    "teeth": "tooth", "vertebrae": "vertebra",
}  # fmt: skip
_NO_PLURAL = re.compile(r"(?:ss|us|is|ics|series|species)\Z")
_PLURALS: Final = (
    (re.compile(r"(?<=[^\W\d]{2})ies\Z"), "y"),
    (re.compile(r"(?<=[^\W\d]{2})yses\Z"), "ysis"),
    (re.compile(r"(?<=th)eses\Z"), "esis"),
    (re.compile(r"(?<=gas)es\Z|(?<=virus)es\Z|(?<=ss)es\Z|(?<=ch)es\Z|(?<=sh)es\Z|(?<=x)es\Z"), ""),
    (re.compile(r"(?<=[^\W\d]{3}o)es\Z"), ""),
    (re.compile(r"(?<=[^\W\d]{2}[^\W\ds])s\Z"), ""),
)

_BRITISH: Final = tuple(
    (re.compile(pattern), modern)
    for pattern, modern in (
        (r"sulph", "sulf"),
        (r"ae(?!r|\Z|l\Z)", "e"),
        (r"oedem", "edem"),
        (r"oestr", "estr"),
        (r"(?<=rrh)oe", "e"),
        (r"\b(o)?esoph", "esoph"),
        (r"\bfoet", "fet"),
        (r"\bcoeli", "celi"),
        (r"\bhomoeo", "homeo"),
        (r"is(?=ations?\Z|e[drs]?\Z|ers\Z|ing\Z|able\Z)", "iz"),
        (r"yse(?=[drs]?\Z)", "yze"),
        (r"(?<=col)our|(?<=behavi)our|(?<=tum)our|(?<=od)our|(?<=flav)our|(?<=vap)our|(?<=lab)our", "or"),
        (r"(?<=harb)our|(?<=hum)our|(?<=neighb)our", "or"),
        (r"(?<=fib)re\b|(?<=lit)re\b|(?<=\bmet)re\b|(?<=cent)re\b|(?<=tit)re\b|(?<=calib)re\b", "er"),
        (r"(?<=label)l|(?<=model)l|(?<=fuel)l|(?<=channel)l|(?<=level)l|(?<=tunnel)l", ""),
        (r"aluminium", "aluminum"),
        (r"(?<=\bprogram)me\b", ""),
        (r"(?<=alog)ue\b", ""),
        (r"\bgrey", "gray"),
        (r"\bageing", "aging"),
    )
)
_MAY_BE_BRITISH = re.compile(r"sulph|ae|oe|is(?:a|e|i)|our|re\Z|ll|yse|alumini|mme\Z|ogue\Z|grey|ageing")
_SHORTEST_WITH_ENDINGS = 7


@lru_cache(maxsize=200_000)
def words_of(name: str) -> Words:
    """Return the words of a name in one spelling, or nothing when no letter or digit is left.

    >>> words_of("β-Carotenes") == words_of("beta carotene")
    True
    >>> words_of("Sulphate-reducing bacteria")
    ('sulfate', 'reducing', 'bacterium')
    >>> words_of("IL-6"), words_of("type II reactors")
    (('il', '6'), ('type', '2', 'reactor'))
    """
    text = _POSSESSIVE.sub("", cased_key(name))
    parts = [part for part in _GAP.split(_ARTICLE.sub("", text)) if part]
    words = [_word(part) for part in parts]
    return tuple(_figured(words))


def form_of(name: str) -> str:
    """Return the words of a name run together: names of one form are spellings of one name.

    Figures stay apart: "1 3" is not "13".

    >>> form_of("Co-digestion") == form_of("codigestion"), form_of("IL 6") == form_of("IL-6")
    (True, True)
    """
    return joined(words_of(name))


def joined(words: Words) -> str:
    """Return words run together, with a hyphen only between figures."""
    form = ""
    for word in words:
        form += f"-{word}" if form[-1:].isdigit() and word[:1].isdigit() else word
    return form


def cased_key(name: str) -> str:
    """Return a name with the marks that names are compared by, its capitals kept, Greek letters spelled out.

    Capitals tell "CNTs", a plural, from "AIDS".
    """
    text = matching_form(visible(name)).replace("\u2019", "'")
    text = re.sub(r"[\u2010-\u2015\u2212]", "-", text).strip(" \t\n.,;:'\"*|")
    return _GREEK_LETTER.sub(lambda found: GREEK[found[0]], text.replace("µ", "μ"))


@lru_cache(maxsize=100_000)
def _word(part: str) -> str:
    word = key_of(part) or part.lower()
    if not _ALL_CAPITALS.fullmatch(part):
        word = _singular(word)
    return word if any(char.isdigit() for char in word) else _american(word)


def _singular(word: str) -> str:
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if _NO_PLURAL.search(word):
        return word
    for ending, singular in _PLURALS:
        shorter, count = ending.subn(singular, word)
        if count:
            return shorter
    return word


def _american(word: str) -> str:
    if not _MAY_BE_BRITISH.search(word):
        return word
    for pattern, modern in _BRITISH:
        if modern == "iz" and len(word) < _SHORTEST_WITH_ENDINGS:
            continue
        word = pattern.sub(modern, word)
    return word


def _figured(words: list[str]) -> list[str]:
    """Write Roman numerals as figures: two letters or more anywhere, one behind a word that is numbered."""
    figured = []
    for place, word in enumerate(words):
        before = words[place - 1] if place else ""
        is_number = word in _ROMAN and (len(word) > 1 or before in _NUMBERED) and place > 0
        figured.append(_ROMAN[word] if is_number else word)
    return figured
