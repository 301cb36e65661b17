"""The words of a text that carry its content, in a form in which inflections meet. Pure."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

_WORD = re.compile(r"[^\W_]+(?:[.'’][^\W_]+)*")
_STOP_WORDS = frozenset(
    """
    a about above after again against all almost also although am among an and any are aren't as at be because
    been before being below between both but by can can't cannot could did didn't do does doesn't doing don't
    down during each either else ever every few for from further had has have having he her here hers him his
    how however i if in into is isn't it its itself just let many may me might more most much must my neither
    no nor not of off on once one only or other our out over own per quite rather same shall she should since
    so some such than that the their them then there these they this those through thus to too toward under
    until up upon us very was wasn't we were what when where whether which while who whom whose why will with
    within without would you your
    """.split()
)
_ENDINGS = (
    ("isations", "ize"), ("izations", "ize"), ("isation", "ize"), ("ization", "ize"), ("ational", "ate"),
    ("ising", "ize"), ("izing", "ize"), ("ised", "ize"), ("ized", "ize"), ("ises", "ize"), ("izes", "ize"),
    ("ise", "ize"), ("ations", "ate"), ("ation", "ate"), ("ating", "ate"), ("ated", "ate"), ("ates", "ate"),
    ("ements", "e"), ("ement", "e"), ("ments", ""), ("ment", ""), ("nesses", ""), ("ness", ""),
    ("ities", ""), ("ity", ""), ("ically", "ic"), ("ally", "al"), ("ly", ""), ("ies", "y"), ("ied", "y"),
    ("sses", "ss"), ("ings", ""), ("ing", ""), ("ed", ""), ("es", ""), ("s", ""),
)  # fmt: skip
_SHORTEST_STEM = 3


def terms(text: str) -> list[str]:
    """Return the content words of `text` in order: folded, without stop words, inflections cut off.

    >>> terms("The yields of methane were increasing.")
    ['yield', 'methan', 'increas']
    """
    folded = unicodedata.normalize("NFKC", text).casefold().replace("’", "'")
    return [_stem(word) for word in _WORD.findall(folded) if word not in _STOP_WORDS and len(word) > 1]


@lru_cache(maxsize=16_384)
def _stem(word: str) -> str:
    if any(char.isdigit() for char in word):
        return word
    for ending, instead in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST_STEM:
            word = word[: -len(ending)] + instead
            break
    # "increas(ed)" and "increase", "stopp(ed)" and "stop" meet.
    if word.endswith("e") and len(word) > _SHORTEST_STEM:
        word = word[:-1]
    if len(word) > _SHORTEST_STEM and word[-1] == word[-2] and word[-1] not in "ls":
        word = word[:-1]
    return word
