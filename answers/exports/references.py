"""What answers cite, as works: the one list that BibTeX, RIS and CSL-JSON are written from."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from answers.reading import Drift, ReadableSource
from corpus.citation_units import pages_label

UNAVAILABLE = "This source was withdrawn or is not available to whoever made this export."
_STATUS = {
    "retracted": "RETRACTED",
    "concern": "Expression of concern",
    "corrected": "Corrected",
    "superseded": "Superseded",
}
_SINCE = {
    Drift.RETRACTED: "RETRACTED since the answer was written",
    Drift.CONCERN: "Expression of concern since the answer was written",
    Drift.CORRECTED: "Corrected since the answer was written",
    Drift.REINSTATED: "No longer retracted",
    Drift.SUPERSEDED: "Superseded since the answer was written",
    Drift.LICENSE_CHANGED: "Licence changed since the answer was written",
    Drift.TEXT_CHANGED: "Text changed since the answer was written",
}
_PARTICLES = frozenset("von van de der den del della di da dos du la le ten ter zu zur al el bin ibn".split())
# A name with one of these is an organisation's, and has no parts.
_OF_MANY = re.compile(
    r"\b(?:and|of|the|for|ltd|inc|gmbh|university|institute|institut|agency|ministry|department|group|team|"
    r"consortium|collaboration|committee|council|commission|organi[sz]ation|association|society|network|"
    r"laborator(?:y|ies)|cent(?:er|re))\b|&",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Name:
    """A person's name in two parts, or a name that cannot be taken apart under `family` alone."""

    family: str
    given: str = ""

    @property
    def inverted(self) -> str:
        """The name as reference lists sort it."""
        return f"{self.family}, {self.given}" if self.given else self.family


@dataclass(frozen=True, slots=True)
class Reference:
    """One cited work. A placeholder has a key and a note, and nothing else."""

    key: str
    available: bool
    notes: tuple[str, ...]
    title: str = ""
    names: tuple[Name, ...] = ()
    year: int | None = None
    journal: str = ""
    doi: str = ""
    url: str = ""
    locators: tuple[str, ...] = ()
    license_label: str = ""

    @property
    def note(self) -> str:
        """The notes as sentences of one line."""
        return " ".join(f"{note}." if note[-1:] not in ".!?" else note for note in self.notes)


def references(cited: Iterable[ReadableSource]) -> list[Reference]:
    """Return the works behind the cited sources, each once, in the order they are first cited.

    Every source that is not available stays a placeholder of its own: which of them share a document is
    not for this reader to know.
    """
    groups: dict[str, list[ReadableSource]] = {}
    for place, source in enumerate(cited, 1):
        groups.setdefault(source.document_id if source.available else f"?{place}", []).append(source)
    return [_reference(group, place) for place, group in enumerate(groups.values(), 1)]


def _reference(group: Sequence[ReadableSource], place: int) -> Reference:
    first = group[0]
    if not first.available:
        return Reference(f"unavailable-{place}", available=False, notes=(UNAVAILABLE,))
    locators = tuple(dict.fromkeys(filter(None, map(_locator, group))))
    notes = [f"Cited at {'; '.join(locators)}"] if locators else []
    status = dict.fromkeys(name for source in group for name in source.badges)
    drift = dict.fromkeys(mark for source in group for mark in source.drift)
    notes += [_STATUS[name] for name in status if name in _STATUS]
    notes += [_SINCE[mark] for mark in drift if mark in _SINCE]
    notes.append(f"Licence: {first.license_label}")
    names = tuple(name_of(author) for author in first.authors)
    return Reference(
        key=key_of(names, first.year, place),
        available=True,
        notes=tuple(notes),
        title=_line(first.title),
        names=names,
        year=first.year,
        journal=_line(first.journal),
        doi=_line(first.doi),
        url=_line(first.url),
        locators=locators,
        license_label=first.license_label,
    )


def _locator(source: ReadableSource) -> str:
    pages = pages_label(source.page_start, source.page_end)
    parts = dict.fromkeys(filter(None, [_line(source.locator), pages]))
    return ", ".join(parts)


def name_of(author: str) -> Name:
    """Take a name apart where it is written `Family, Given`, or the last word is the family name.

    >>> name_of("Ludwig van der Berg")
    Name(family='van der Berg', given='Ludwig')
    """
    author = _line(author)
    if _OF_MANY.search(author):
        return Name(author)
    if "," in author:
        family, _, given = author.partition(",")
        return Name(family.strip(), given.strip())
    words = author.split()
    if not 2 <= len(words) <= 5:
        return Name(author)
    start = len(words) - 1
    while start > 1 and words[start - 1].casefold() in _PARTICLES:
        start -= 1
    return Name(" ".join(words[start:]), " ".join(words[:start]))


def key_of(names: Sequence[Name], year: int | None, place: int) -> str:
    """Return a key that no other entry of a list has, since its place is part of it."""
    plain = unicodedata.normalize("NFKD", names[0].family if names else "")
    family = re.sub(r"[^a-z]", "", plain.encode("ascii", "ignore").decode().lower())
    return f"{family or 'source'}{year or ''}-{place}"


def _line(text: str) -> str:
    return " ".join(text.split())
