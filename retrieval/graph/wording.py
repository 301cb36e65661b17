"""How types and relations of the ontology are written on a page, and edges under them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from retrieval.graph.edges import Edge
from retrieval.graph.ontology import InvalidOntology, Ontology, active_ontology


@dataclass(frozen=True, slots=True)
class Group:
    """Edges of one relation in one direction."""

    relation: str
    is_outgoing: bool
    description: str
    edges: tuple[Edge, ...]


def label(name: str) -> str:
    """Return the words for a type or a relation."""
    return name.replace("_", " ")


def type_description(name: str) -> str:
    """Return what the ontology says of a type of things; nothing when it does not know it any more."""
    ontology = _ontology()
    known = None if ontology is None else ontology.entity_types.get(name)
    return "" if known is None else known.description


def grouped(edges: Iterable[Edge]) -> list[Group]:
    """Return edges by relation and direction, each group where its first edge stands."""
    found: dict[tuple[str, bool], list[Edge]] = {}
    for edge in edges:
        found.setdefault((edge.relation, edge.is_outgoing), []).append(edge)
    ontology = _ontology()
    return [
        Group(label(relation), is_outgoing, _relation_description(ontology, relation), tuple(of_it))
        for (relation, is_outgoing), of_it in found.items()
    ]


def _relation_description(ontology: Ontology | None, name: str) -> str:
    known = None if ontology is None else ontology.relation_types.get(name)
    return "" if known is None else known.description


def _ontology() -> Ontology | None:
    # Pages show what is stored; that the file is wrong now is for the commands and checks to say.
    try:
        return active_ontology()
    except InvalidOntology:
        return None
