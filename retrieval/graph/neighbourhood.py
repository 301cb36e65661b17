"""The drawing of an entity among its nearest neighbours, from its edges in scope."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from corpus.scope import RetrievalScope
from retrieval.graph import drawing, edges, wording
from retrieval.graph.drawing import Drawing, Neighbour
from retrieval.graph.edges import Edge, Line
from retrieval.graph.faces import Face


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """The same neighbours twice: for wide screens and narrow ones. `others` are those without room."""

    wide: Drawing
    narrow: Drawing
    others: int


def drawn(face: Face, lines: Sequence[Line], scope: RetrievalScope) -> Neighbourhood | None:
    """Return the drawing of an entity's edges; None when nothing in scope relates it to another."""
    nearest, others = edges.nearest(lines, scope, most=drawing.MOST_NEIGHBOURS)
    if not nearest:
        return None
    neighbours = [_neighbour(face, between) for between in nearest]
    return Neighbourhood(drawing.wide(face.name, neighbours), drawing.narrow(face.name, neighbours), others)


def _neighbour(face: Face, between: list[Edge]) -> Neighbour:
    first = between[0]
    label = wording.label(first.relation)
    if len(between) > 1:
        label = f"{label} +{len(between) - 1}"
    return Neighbour(
        id=first.other.id,
        name=first.other.name,
        label=label,
        says="; ".join(_sentence(face, edge) for edge in between),
        is_outgoing=first.is_outgoing,
    )


def _sentence(face: Face, edge: Edge) -> str:
    ends = (face.name, edge.other.name) if edge.is_outgoing else (edge.other.name, face.name)
    return f"{ends[0]} {wording.label(edge.relation)} {ends[1]} ({edge.said})"
