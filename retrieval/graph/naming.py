"""When two names are the same name, and which id the entity of a name has. Pure."""

from __future__ import annotations

from typing import Final
from uuid import UUID, uuid5

from corpus.identifiers import fold
from corpus.normalise import matching_form, visible

LONGEST_NAME: Final = 300

_ENTITIES: Final = UUID("6f1c1f0a-6b0e-5c58-9d53-0a1f7d2f4b11")
_DASHES = str.maketrans(dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63\uff0d", "-"))
_QUOTES = str.maketrans({"\u2018": "'", "\u2019": "'", "\u02bc": "'", "\u201c": '"', "\u201d": '"'})
_EDGES = " \t\n.,;:'\"*|"


def key_of(name: str) -> str:
    """Return the form in which names are compared: without case, accents, kinds of dash and outer marks.

    Empty when nothing of the name is left. Digits, signs and inner punctuation stay: "IL-6" is not "IL-8".

    >>> key_of("Anaerobic  Digestion,") == key_of("anaerobic digestion")
    True
    """
    form = matching_form(visible(name)).translate(_DASHES).translate(_QUOTES)
    # Twice, because compatibility forms may bring out letters that have a lower case.
    return fold(fold(form)).strip(_EDGES)[:LONGEST_NAME].strip(_EDGES)


def entity_id(*, entity_type: str, key: str, sense: int = 0) -> UUID:
    """Return the id of the entity of that type and name: the same in every corpus and every order."""
    return uuid5(_ENTITIES, f"{entity_type}\n{key}\n{sense}")
