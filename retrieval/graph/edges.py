"""What passages in scope say holds between an entity and others.

An edge is a relation, a direction and the other end; each passage that says it is a row. Ends of rows are
never tombstones. An edge whose other end nothing in scope mentions does not show.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.db.models import Case, Count, F, Max, Q, QuerySet, Value, When
from django.utils.translation import gettext_lazy as _

from corpus.models import Document
from corpus.scope import RetrievalScope
from retrieval.graph import faces, quotes
from retrieval.graph.faces import Face
from retrieval.graph.models import DIRECT, IMPLIED, INFERRED, Relationship
from retrieval.graph.quotes import Quoted

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise

# How sure: the code for its looks, and the words.
_CONFIDENCE = {
    DIRECT: ("direct", _("said directly")),
    IMPLIED: ("implied", _("strongly implied")),
    INFERRED: ("inferred", _("inferred")),
}


@dataclass(frozen=True, slots=True)
class Line:
    """An edge as the database counts it, the other end by its family."""

    relation: str
    is_outgoing: bool
    other: UUID
    confidence: float
    passages: int


@dataclass(frozen=True, slots=True)
class Edge:
    """An edge as a reader meets it: how sure at best, how many passages say it, and the words of one."""

    relation: str
    is_outgoing: bool
    other: Face
    confidence: float
    passages: int = 1
    quoted: Quoted | None = None

    @property
    def level(self) -> str:
        """How sure, as a code."""
        return _CONFIDENCE[self.confidence][0]

    @property
    def said(self) -> StrOrPromise:
        """How sure, in words."""
        return _CONFIDENCE[self.confidence][1]


def lines(face: Face, scope: RetrievalScope) -> list[Line]:
    """Return the edges of an entity, the surest and most often said first."""
    rows = (
        _rows(face, scope)
        .order_by()
        .values_list("type", "is_outgoing", "other")
        .annotate(best=Max("confidence"), passages=Count("id"))
    )
    return sorted((Line(*row) for row in rows), key=_place)


def read(chosen: Sequence[Line], face: Face, scope: RetrievalScope) -> list[Edge]:
    """Return some of `lines` with their ends and the surest words for each."""
    best = _best(chosen, face, scope)
    return _known(chosen, scope, best)


def nearest(found: Sequence[Line], scope: RetrievalScope, *, most: int) -> tuple[list[list[Edge]], int]:
    """Return the edges of the `most` nearest neighbours, by neighbour, and the number of the others."""
    by_other: dict[UUID, list[Line]] = defaultdict(list)
    for line in found:
        by_other[line.other].append(line)
    chosen = list(by_other)[:most]
    edges = _known([line for other in chosen for line in by_other[other]], scope, {})
    between: dict[UUID, list[Edge]] = defaultdict(list)
    for edge in edges:
        between[edge.other.family].append(edge)
    return list(between.values()), len(by_other) - len(chosen)


def evidence(face: Face, scope: RetrievalScope, *, other: Face | None) -> QuerySet[Any]:
    """Return every passage that says an edge of an entity, with `other` or with any, in a fixed order."""
    rows = _rows(face, scope)
    if other is not None:
        rows = rows.filter(other=other.family)
    return (
        rows.select_related("chunk__document__source")
        .defer(*quotes.unread("chunk__"))
        .order_by("type", "-is_outgoing", "-confidence", *quotes.standing_first("document__"), "other", "id")
    )


def each(rows: Iterable[Any], scope: RetrievalScope) -> list[Edge]:
    """Return rows of `evidence` as a page shows them: an edge for each passage."""
    rows = list(rows)
    known = faces.known({row.other for row in rows}, scope)
    return [
        Edge(
            row.type,
            row.is_outgoing,
            known[row.other],
            row.confidence,
            quoted=quotes.quoted(row.chunk, row.quote, row.start),
        )
        for row in rows
        if row.other in known
    ]


def _rows(face: Face, scope: RetrievalScope) -> QuerySet[Any]:
    family, allowed = face.family, Document.objects.within(scope).order_by().values("id")
    return Relationship.objects.filter(Q(source=family) | Q(target=family), document__in=allowed).annotate(
        is_outgoing=Case(When(source=family, then=Value(True)), default=Value(False)),  # noqa: FBT003
        other=Case(When(source=family, then=F("target")), default=F("source")),
    )


def _best(chosen: Sequence[Line], face: Face, scope: RetrievalScope) -> dict[Line, Quoted]:
    """Return the surest words for each line, of works in good standing first."""
    wanted = Q(pk__in=[])
    for line in chosen:
        wanted |= Q(type=line.relation, is_outgoing=line.is_outgoing, other=line.other)
    rows = (
        _rows(face, scope)
        .filter(wanted)
        .order_by("type", "is_outgoing", "other", "-confidence", *quotes.standing_first("document__"), "id")
        .distinct("type", "is_outgoing", "other")
        .select_related("chunk__document__source")
        .defer(*quotes.unread("chunk__"))
    )
    places = {(line.relation, line.is_outgoing, line.other): line for line in chosen}
    return {
        places[row.type, row.is_outgoing, row.other]: quotes.quoted(row.chunk, row.quote, row.start)
        for row in rows
    }


def _known(chosen: Sequence[Line], scope: RetrievalScope, best: dict[Line, Quoted]) -> list[Edge]:
    known = faces.known({line.other for line in chosen}, scope)
    return [
        Edge(
            line.relation,
            line.is_outgoing,
            known[line.other],
            line.confidence,
            line.passages,
            best.get(line),
        )
        for line in chosen
        if line.other in known
    ]


def _place(line: Line) -> tuple[float, int, str, bool, UUID]:
    return -line.confidence, -line.passages, line.relation, not line.is_outgoing, line.other
