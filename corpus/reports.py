"""What an ingestion tells: one report a file, and their sum. Somebody may watch."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Protocol
from uuid import UUID

from corpus.models import IngestionItem

Outcome = IngestionItem.Outcome


@dataclass(frozen=True, slots=True)
class Report:
    """What happened to one file, or would happen. `reason` is a stable code, `detail` says it in words."""

    path: str
    outcome: Outcome
    reason: str = ""
    detail: str = ""
    document: UUID | None = None
    passages: int = 0
    seconds: float = 0.0


@dataclass(slots=True)
class RunReport:
    """What happened to every file of a run. A dry run has no id."""

    run: UUID | None
    reports: list[Report] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def counts(self) -> dict[str, int]:
        """How many files ended in each way; every way is listed."""
        found = Counter(report.outcome for report in self.reports)
        return {outcome.value: found[outcome] for outcome in Outcome if outcome is not Outcome.WAITING}

    @property
    def is_lost(self) -> bool:
        """Whether there were files and none of them could be taken in."""
        return bool(self.reports) and all(report.outcome == Outcome.FAILED for report in self.reports)


class Progress(Protocol):
    """Somebody who watches a run."""

    def begin(self, total: int) -> None: ...
    def file(self, name: str) -> None: ...
    def done(self, report: Report) -> None: ...


class Unwatched:
    """Nobody watches."""

    def begin(self, total: int) -> None:
        """Do nothing."""

    def file(self, name: str) -> None:
        """Do nothing."""

    def done(self, report: Report) -> None:
        """Do nothing."""
