"""Running a flow with one fault, and holding what comes of it against the rules and the undisturbed run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from django.db import InterfaceError, OperationalError, connections

from corpus.gateways.embedding import EmbeddingError
from sci_rag_site.health import database, findings
from tests.reliability import invariants
from tests.reliability.faults.flows import Flow, settled
from tests.reliability.faults.injecting import ERRORS, Injector, Point
from tests.reliability.faults.world import World

# What a flow may end with: the database or the disk that failed, or a provider, by its name.
NAMED = (OperationalError, InterfaceError, OSError, EmbeddingError)


@dataclass(slots=True)
class Sweep:
    """One flow in one world, swept point by point."""

    flow: Flow
    world: World
    injector: Injector
    before: Callable[[], None] = lambda: None
    undisturbed: object = None
    calls: Counter[str] = field(default_factory=Counter)

    def count(self) -> None:
        """Run the flow undisturbed, count its calls, and keep what it comes to."""
        self._begin()
        with settled(), self.injector.everywhere(), self.injector.armed(None):
            self.flow.run()
        self.calls = Counter(self.injector.counts)
        self.undisturbed = self.flow.comes_to()
        wrong = self._wrong()
        assert wrong == [], "the undisturbed run breaks a rule"

    def points(self, *, persistent: bool) -> Iterator[Point]:
        """Return every point at which the flow may fail, the errors taking turns from point to point.

        For good, a point has another error than once.
        """
        for kind in self.flow.kinds:
            errors = ERRORS[kind]
            for number in range(1, self.calls[kind] + 1):
                yield Point(kind, number, errors[(number + persistent) % len(errors)], persistent)

    def troubles(self, point: Point) -> list[str]:
        """Let the flow fail at `point`, then take it up; say what was wrong after either."""
        self._begin()
        found: list[str] = []
        with settled(), self.injector.everywhere(), self.injector.armed(point):
            try:
                self.flow.run()
            except NAMED:
                pass
            except Exception as error:  # noqa: BLE001 - whatever else it is, it is no named failure
                found.append(f"it ended with {type(error).__name__}: {error}")
        if not self.injector.fired:
            found.append("the fault did not happen")
        found += self.flow.troubles() + self._wrong()
        found += self._taken_up()
        connections.close_all()
        return [f"{self.flow.name} at {point}: {trouble}" for trouble in found]

    def _begin(self) -> None:
        self.world.restore()
        self.before()

    def _taken_up(self) -> list[str]:
        self.before()
        with settled():
            try:
                self.flow.take_up()
            except Exception as error:  # noqa: BLE001 - said, with the point it happened after
                return [f"taking it up ended with {type(error).__name__}: {error}"]
            differs = self.flow.comes_to() != self.undisturbed
            wrong = [f"afterwards {trouble}" for trouble in self._wrong()]
        return [*wrong, *(["it comes to something else than undisturbed"] if differs else [])]

    def _wrong(self) -> list[str]:
        doctor = [
            f"doctor: {finding.name}: {finding.message}"
            for finding in findings.run((database.embeddings, database.corpus))
            if finding.status is findings.Status.FAIL
        ]
        found = [*invariants.broken(), *invariants.records_apart(), *invariants.orphans(), *doctor]
        return [trouble for trouble in found if trouble.partition(" ")[2] != self.flow.excused]
