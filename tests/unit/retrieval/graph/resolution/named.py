"""Entities by name, for the tests of resolution."""

from __future__ import annotations

from retrieval.graph.naming import entity_id, key_of
from retrieval.graph.resolution.finding import find
from retrieval.graph.resolution.thesaurus import Thesaurus
from retrieval.graph.resolution.types import Named, Pair


def named(name: str, *aliases: str, kind: str = "material") -> Named:
    key = key_of(name)
    return Named(entity_id(entity_type=kind, key=key), kind, key, name, frozenset({name, *aliases}))


def found(*entities: Named | str, thesaurus: Thesaurus = Thesaurus()) -> list[Pair]:  # noqa: B008 - frozen
    return find([each if isinstance(each, Named) else named(each) for each in entities], thesaurus)


def tiers(*entities: Named | str, thesaurus: Thesaurus = Thesaurus()) -> list[tuple[int, str]]:  # noqa: B008
    """Tier and method of each pair found."""
    return [(pair.tier, pair.method.value) for pair in found(*entities, thesaurus=thesaurus)]
