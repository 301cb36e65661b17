"""Names of common chemical substances, from the package `chemicals` (PubChem), where it is installed.

Its small lists are read: common substances, ions and inorganic compounds. What no text would use for a name
is left out: registry numbers and product codes, names with brackets, inverted names of indexes, mixtures.
"""

from __future__ import annotations

import re
from functools import cache
from importlib.util import find_spec
from typing import Final

from retrieval.graph.resolution import thesaurus
from retrieval.graph.resolution.thesaurus import Listing
from retrieval.graph.resolution.types import Method

_SHORTEST, _LONGEST = 3, 50
_MOST_NAMES: Final = 120
_CODE = re.compile(r"\d{4}|[()\[\]{};|]|, |%|\b(?:grade|mixture|solution|standard)\b")
_LETTERS = re.compile(r"[a-z]{3}")


@cache
def substances() -> Listing | None:
    """Return the list, read once; None where the package is not installed."""
    if find_spec("chemicals") is None:
        return None
    from chemicals.identifiers import pubchem_db

    # Before it is asked for a name it has not, only its small lists are loaded.
    groups = [_names(each.synonyms) for each in pubchem_db.CAS_index.values()]
    return thesaurus.listing(Method.THESAURUS, (" | ".join(group) for group in groups if len(group) > 1))


def _names(synonyms: list[str]) -> list[str]:
    lower = (name.strip().lower() for name in synonyms)
    return [name for name in dict.fromkeys(lower) if _is_of_a_text(name)][:_MOST_NAMES]


def _is_of_a_text(name: str) -> bool:
    """Say whether a text might use the name.

    >>> [_is_of_a_text(name) for name in ("propylene glycol", "hmf", "unii-6dc9q167v3", "57-55-6")]
    [True, True, False, False]
    """
    if not (name.isascii() and _SHORTEST <= len(name) <= _LONGEST) or _CODE.search(name):
        return False
    return _LETTERS.search(name) is not None and not re.fullmatch(r"\S*\d\S*[a-z]\S*\d\S*", name)
