"""What a candidate generator is, and the database session it works in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from time import monotonic
from typing import Any, Protocol

from django.db import DEFAULT_DB_ALIAS, connections

from corpus.domain_profile import GraphProfile
from corpus.scope import RetrievalScope
from retrieval.types import RankedList, StageStatus


class LayerTimeout(Exception):
    """The layer used up its time."""


class LayerOff(Exception):
    """The layer does not run for this request: `skipped` or `disabled`, with the reason a reader is given."""

    def __init__(self, status: StageStatus, reason: str) -> None:
        super().__init__(reason)
        self.status = status


@dataclass(frozen=True, slots=True)
class Version:
    """The active embedding version, pinned for the whole request."""

    key: int
    name: str
    dimensions: int


@dataclass(frozen=True, slots=True)
class LayerRequest:
    """What every layer is asked. `passages` is how many the scope allows.

    `style` says how a passage that answers this kind of question reads, `walk` how to walk the graph where
    that is not for the domain profile to say.
    """

    question: str
    scope: RetrievalScope
    limit: int
    passages: int
    version: Version | None
    style: str = ""
    walk: GraphProfile | None = None


class Session:
    """Runs a layer's statements on one server, each bounded by what is left of the layer's time."""

    def __init__(self, seconds: float, *, server: str = DEFAULT_DB_ALIAS) -> None:
        self._until = monotonic() + seconds
        self._connection = connections[server]
        self._to_set: list[tuple[str, str]] = []

    def rows(self, statement: str, parameters: Sequence[Any]) -> list[tuple[Any, ...]]:
        """Return all rows; raise `LayerTimeout` when no time is left to ask."""
        left = int((self._until - monotonic()) * 1000)
        if left <= 0:
            raise LayerTimeout
        # One journey for both: what is set holds for what is asked, whose answer comes second.
        setting, self._to_set = [*self._to_set, ("statement_timeout", str(left))], []
        calls = ", ".join(["set_config(%s, %s, true)"] * len(setting))
        values = [value for pair in setting for value in pair]
        with self._connection.cursor() as cursor:
            cursor.execute(f"SELECT {calls};\n{statement}", [*values, *parameters])
            cursor.nextset()
            return list(cursor.fetchall())

    def set_local(self, name: str, value: str) -> None:
        """Set a parameter of the server for the next rows, and until the layer's transaction ends."""
        self._to_set.append((name, value))


class Layer(Protocol):
    """One candidate generator."""

    @property
    def name(self) -> str: ...

    def prepare(self, request: LayerRequest) -> Any:
        """Do what needs a model and no database; the result is handed to `candidates`."""

    def candidates(self, request: LayerRequest, prepared: Any, session: Session) -> RankedList:
        """Return eligible passages, best first, inside one read-only transaction."""
