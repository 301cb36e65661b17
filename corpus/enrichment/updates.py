"""What the updates of a Crossref record assert, and of which work. Pure.

A retraction counts where it is asserted. Which of two works it concerns is not always clear: records are
deposited the wrong way round, so that a notice is said to be retracted by the paper it retracts. What
contradicts itself asserts nothing; it is a doubt for a person.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from difflib import get_close_matches
from typing import Protocol

RETRACTION_WATCH = "retraction-watch"

# The words in use, misspellings included. What is an update and no assertion (a new version, a comment,
# an addendum) is in neither table.
KINDS = {
    "retraction": "retraction",
    "retracted": "retraction",
    "retracion": "retraction",
    "retration": "retraction",
    "withdrawal": "withdrawal",
    "withdrawn": "withdrawal",
    "removal": "removal",
    "removed": "removal",
    # Part of the work stands, so the work stays, with a warning.
    "partial_retraction": "expression_of_concern",
    "expression_of_concern": "expression_of_concern",
    "correction": "correction",
    "corrected": "correction",
    "corrected_article": "correction",
    "corrigendum": "correction",
    "erratum": "correction",
    "err": "correction",
    "reinstatement": "reinstatement",
    "replacement": "replacement",
}
_NO_ASSERTION = frozenset(
    "new_version new_edition version_of_record addendum clarification comment publisher_note article".split()
)
RETRACTING = frozenset({"retraction", "withdrawal", "removal"})
_GRAVE = RETRACTING | {"expression_of_concern"}

_CLAIM = re.compile(
    r"\W*(?:temporarily )?(?:retracted|withdrawn|removed)(?:[ -](?:article|paper|chapter|letter|review))?"
    r"\s*(?:[:\]\u2013\u2014]|- )",
    re.IGNORECASE,
)


class UpdateLike(Protocol):
    """What is read of an update."""

    @property
    def kind(self) -> str:
        """Return what is said to have happened, in the depositor's word."""

    @property
    def label(self) -> str:
        """Return the same for people."""

    @property
    def doi(self) -> str:
        """Return the normalised DOI of the other record."""

    @property
    def source(self) -> str:
        """Return who said so."""

    @property
    def on(self) -> date | None:
        """Return the day it happened, the first of a month or year where no more is said."""

    @property
    def has_full_date(self) -> bool:
        """Return whether the record names the day itself."""


@dataclass(frozen=True, slots=True)
class Assertion:
    """Something that happened to the work `about`."""

    about: str
    kind: str
    notice: str
    on: date | None
    has_full_date: bool
    by_retraction_watch: bool


@dataclass(frozen=True, slots=True)
class Doubt:
    """Something a person has to look at: `about` may have met with it, or may not."""

    about: str
    reason: str
    other: str


@dataclass(frozen=True, slots=True)
class Reading:
    """What the updates of one record amount to."""

    assertions: tuple[Assertion, ...]
    doubts: tuple[Doubt, ...]


def kind_of(word: str, label: str = "") -> str | None:
    """Return the kind of event that a depositor's `word` stands for, None for what asserts nothing."""
    for said in (word, label):
        plain = _plain(said)
        if plain in KINDS:
            return KINDS[plain]
        if plain in _NO_ASSERTION:
            return None
    return None


def sounds_grave(word: str, label: str = "") -> bool:
    """Whether a word nobody knows looks like a misspelt retraction."""
    if kind_of(word, label) is not None:
        return False
    grave = [name for name, kind in KINDS.items() if kind in _GRAVE]
    return any(get_close_matches(_plain(said)[:60], grave, n=1, cutoff=0.8) for said in (word, label))


def claims_retraction(title: str) -> bool:
    """Whether a title begins as those of retracted works do. A claim, not an assertion."""
    return _CLAIM.match(title) is not None


def read(
    *, doi: str, published: date | None, update_to: Sequence[UpdateLike], updated_by: Sequence[UpdateLike]
) -> Reading:
    """Return what the record of `doi`, published on that day at the earliest, asserts about which works."""
    here = list(dict.fromkeys(_about_here(doi, update_to, updated_by)))
    there = [
        claim for claim in dict.fromkeys(_claims(update_to, about=None, notice=doi)) if claim.about != doi
    ]
    about_this = [claim for claim in here if _contradiction(claim, there, published) is None]
    about_others = [claim for claim in there if not _is_turned_round(claim, here)]
    retracted = any(claim.kind in RETRACTING for claim in about_this)
    doubts = [] if retracted else [*_doubts(here, there, published), *_unknown_words(doi, updated_by)]
    return Reading((*about_this, *about_others), tuple(dict.fromkeys(doubts)))


def _contradiction(claim: Assertion, there: Sequence[Assertion], published: date | None) -> str | None:
    """Return why `claim` about this work is not to be believed, None where it is."""
    if claim.kind not in _GRAVE or claim.by_retraction_watch or claim.notice == claim.about:
        return None
    if any(other.about == claim.notice and other.kind in _GRAVE for other in there):
        return "contradiction"
    early = claim.has_full_date and None not in (published, claim.on) and claim.on < published  # type: ignore[operator]
    return "before_publication" if early else None


def _is_turned_round(claim: Assertion, here: Sequence[Assertion]) -> bool:
    """Whether the work that `claim` is about is itself an update of this one."""
    is_sure = claim.kind not in _GRAVE or claim.by_retraction_watch
    return not is_sure and any(other.notice == claim.about for other in here)


def _doubts(here: Sequence[Assertion], there: Sequence[Assertion], published: date | None) -> Iterator[Doubt]:
    # Somebody who looks at the works themselves has said which of the two is the notice.
    settled = {other.about for other in there if other.by_retraction_watch}
    for claim in here:
        reason = _contradiction(claim, there, published)
        if reason is not None and claim.notice not in settled:
            yield Doubt(claim.about, reason, claim.notice)


def _unknown_words(doi: str, updated_by: Iterable[UpdateLike]) -> Iterator[Doubt]:
    return (Doubt(doi, "unknown_word", one.doi) for one in updated_by if sounds_grave(one.kind, one.label))


def _about_here(
    doi: str, update_to: Sequence[UpdateLike], updated_by: Sequence[UpdateLike]
) -> Iterator[Assertion]:
    """Yield what is said of this work: by other records, or by its own about itself."""
    yield from _claims(updated_by, about=doi, notice=None)
    yield from _claims((one for one in update_to if one.doi == doi), about=doi, notice=None)


def _claims(updates: Iterable[UpdateLike], *, about: str | None, notice: str | None) -> Iterator[Assertion]:
    for one in updates:
        kind = kind_of(one.kind, one.label)
        if kind is not None:
            by_retraction_watch = one.source.lower() == RETRACTION_WATCH
            yield Assertion(
                about=about or one.doi,
                kind=kind,
                notice=notice or one.doi,
                on=one.on,
                has_full_date=one.has_full_date,
                by_retraction_watch=by_retraction_watch,
            )


def _plain(word: str) -> str:
    return re.sub(r"[\W_]+", "_", word.strip().lower()).strip("_")
