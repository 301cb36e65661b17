"""What a request asks of the versions of a work, and what follows for each passage."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from uuid import UUID

from django.utils import timezone

from corpus import versions
from corpus.models import Document
from corpus.scope import RetrievalScope
from corpus.versions import Standing, Version
from retrieval.history_questions import Mode, Past, recognise
from retrieval.ordering import Remark
from retrieval.types import Asked, StageStatus, StageTrace

_NOW = Past(Mode.TODAY, "")
_FULL = Remark()


@dataclass(frozen=True, slots=True)
class History:
    """The versions behind the passages of one request, and what it asks of them."""

    past: Past = _NOW
    versions: Mapping[UUID, Version] = field(default_factory=dict)
    standings: Mapping[UUID, Standing] = field(default_factory=dict)
    works: Mapping[UUID, UUID] = field(default_factory=dict)
    newest: frozenset[UUID] = frozenset()

    def remark(self, document: Document) -> Remark:
        """Return what is said of the passages of `document`, and whether they are demoted."""
        is_superseded = document.status == Document.Status.SUPERSEDED
        match self.past.mode:
            case Mode.TODAY:
                return Remark("superseded", is_demoted=True) if is_superseded else _FULL
            case Mode.DAY:
                return self._on_the_day(document.pk, is_superseded=is_superseded)
            case Mode.BEFORE:
                if document.pk in self.newest:
                    return Remark("after the revision", is_demoted=True)
                return Remark("superseded since: full score") if is_superseded else _FULL
        return Remark("superseded since: full score") if is_superseded else _FULL

    def _on_the_day(self, key: UUID, *, is_superseded: bool) -> Remark:
        if len(self._work(key)) == 1 and not is_superseded:
            return _FULL
        day = self.past.day
        match self.standings[key]:
            case Standing.REPLACED:
                return Remark(f"replaced by {day}", is_demoted=True)
            case Standing.NOT_YET:
                # With nothing before it, it is the nearest to that day.
                is_first = all(self.standings[one] is Standing.NOT_YET for one in self._work(key))
                return Remark(f"not yet in force on {day}", is_demoted=not is_first)
            case Standing.PERHAPS:
                return Remark(f"perhaps in force on {day}, a date is missing: full score")
        return Remark(f"in force on {day}: full score") if is_superseded else _FULL

    def _work(self, key: UUID) -> list[UUID]:
        return [one for one, work in self.works.items() if work == self.works[key]]

    @property
    def undated(self) -> int:
        """How many versions of works with several have no date, where a day is asked for."""
        if self.past.mode is not Mode.DAY:
            return 0
        return sum(one.start is None and len(self._work(key)) > 1 for key, one in self.versions.items())

    def asked(self) -> Asked:
        """Return what was recognised, for the asker."""
        return Asked(
            mode=self.past.mode.value,
            rule=self.past.rule,
            as_of="" if self.past.day is None else self.past.day.isoformat(),
            words=self.past.words,
            undated=self.undated,
        )

    def trace(self, demoted: int) -> list[StageTrace]:
        """Say which rule applied; nothing for a question about today."""
        if not self.past.rule:
            return []
        said = {
            Mode.TODAY: "the day is not past: the present versions come first",
            Mode.DAY: f"versions in force on {self.past.day} come first",
            Mode.BEFORE: "versions before the last revision come first",
            Mode.EVEN: "no version is favoured",
        }[self.past.mode]
        undated = f"; {self.undated} without a date" if self.undated else ""
        reason = f"{self.past.rule}: {said}{undated}"
        return [StageTrace("history", StageStatus.OK, candidates=demoted, mode=self.past.mode, reason=reason)]


def of(question: str, scope: RetrievalScope, documents: Iterable[Document]) -> History:
    """Return what `question` and `scope` ask of the versions of `documents`.

    A day in the scope decides; else what the question says.
    """
    past = _asked(question, scope.as_of, timezone.localdate())
    documents = list(documents)
    if past.mode is Mode.TODAY and not any(one.status == Document.Status.SUPERSEDED for one in documents):
        return History(past)
    found = versions.around((one.pk for one in documents), scope)
    standings = versions.standings(found, past.day) if past.day is not None else {}
    return History(past, found, standings, versions.works(found), versions.newest(found))


def _asked(question: str, as_of: date | None, today: date) -> Past:
    past = Past(Mode.DAY, "scope", as_of) if as_of is not None else recognise(question)
    if past is None:
        return _NOW
    if past.day is not None and past.mode is Mode.DAY and past.day >= today:
        return Past(Mode.TODAY, past.rule, past.day, past.words)
    return past
