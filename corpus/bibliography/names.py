"""Names of people as BibTeX and RIS write them, turned round to given name first. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

from corpus.bibliography.latex import to_text

_LONGEST_LIST = 400_000
_LONGEST_NAME = 1_000
_KEYED = re.compile(r"\s*(family|given|prefix|suffix)\s*=\s*", re.IGNORECASE)
_OTHERS = frozenset({"others", "et al", "et al.", "{others}"})
_ORDER = ("given", "prefix", "family", "suffix")


def bibtex_names(value: str) -> tuple[str, ...]:
    """Return the names of an author field of BibTeX or BibLaTeX; "and others" is nobody."""
    return tuple(name for name in _bibtex_names(value[:_LONGEST_LIST]) if name)


def _bibtex_names(value: str) -> Iterator[str]:
    from bibtexparser.middlewares.names import split_multiple_persons_names

    people = split_multiple_persons_names(value)
    if len(people) == 1 and ";" in value and "{" not in value:
        people = value.split(";")
    for person in people:
        name = person.strip()[:_LONGEST_NAME]
        if name.strip(".,").lower() not in _OTHERS:
            yield _bibtex_name(name)


def _bibtex_name(name: str) -> str:
    from bibtexparser.middlewares.names import parse_single_name_into_parts

    if _KEYED.match(name):
        return _keyed_name(name)
    parts = parse_single_name_into_parts(name, strict=False)
    words = [*parts.first, *parts.von, *parts.last, *parts.jr]
    return " ".join(to_text(" ".join(words)).split())


def _keyed_name(name: str) -> str:
    """Return a name written as `family=Müller, given=Jörg`, the form of BibLaTeX data."""
    values: dict[str, str] = {}
    for part in name.split(","):
        found = _KEYED.match(part)
        if found is not None:
            values[found[1].lower()] = to_text(part[found.end() :]).strip(' "')
    return " ".join(filter(None, (values.get(key, "") for key in _ORDER)))


def inverted_name(name: str) -> str:
    """Return `Family, Given, Suffix` as given name first; a name without a comma stays."""
    parts = [part.strip() for part in name[:_LONGEST_NAME].split(",")]
    if len(parts) < 2:
        return parts[0]
    family, given, *suffix = parts
    return " ".join(filter(None, (given, family, *suffix)))
