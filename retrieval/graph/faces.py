"""How entities look to one reader: every name and id shown comes from passages in their scope.

An entity and what was merged into it are one family, known by the id of the former. A reader meets it as the
member that their passages mention: ids are made from names, so the id of another member would confirm a name
that somebody guessed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import Count, Min, Q, QuerySet
from django.db.models.functions import Coalesce

from corpus.models import Document
from corpus.normalise import visible
from corpus.scope import RetrievalScope
from retrieval.graph.models import Entity, Mention

# What a page has room for.
_MOST_SPELLINGS = 30


@dataclass(frozen=True, slots=True)
class Face:
    """An entity as a reader meets it.

    `spellings` are other names of the member itself, `merged` those that only other members of its family
    have. Of names that differ in case alone there is one.
    """

    id: UUID
    family: UUID
    name: str
    type: str
    spellings: tuple[str, ...] = ()
    merged: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Spelt:
    """A spelling of one member, and how often passages in scope have it."""

    member: UUID
    type: str
    is_its_name: bool
    key: str
    surface: str
    mentions: int


def mentions(scope: RetrievalScope) -> QuerySet[Any]:
    """Return the mentions by documents that `scope` allows, with the `family` of each."""
    allowed = Document.objects.within(scope).order_by().values("id")
    return Mention.objects.filter(document__in=allowed).annotate(
        family=Coalesce("entity__canonical_entity", "entity")
    )


def members(families: Collection[UUID]) -> QuerySet[Entity, Any]:
    """Return the ids of the entities of `families`, to filter by."""
    of_them = Q(pk__in=families) | Q(canonical_entity__in=families)
    return Entity.objects.filter(of_them).order_by().values("pk")


def known(families: Collection[UUID], scope: RetrievalScope) -> dict[UUID, Face]:
    """Return the face of each family, by its id; a family that nothing in scope mentions has none."""
    rows = (
        mentions(scope)
        .filter(entity__in=members(families))
        .order_by()
        .values_list("family", "entity", "entity__type", "entity__key", "surface_key", "surface")
        .annotate(times=Count("id"))
    )
    spelt: dict[UUID, list[_Spelt]] = defaultdict(list)
    for family, member, entity_type, key, surface_key, surface, times in rows:
        spelt[family].append(_Spelt(member, entity_type, key == surface_key, surface_key, surface, times))
    return {family: _face(family, found) for family, found in spelt.items()}


def counts(families: Collection[UUID], scope: RetrievalScope) -> dict[UUID, tuple[int, int]]:
    """Return how many mentions in how many documents in scope each family has."""
    rows = mentions(scope).filter(entity__in=members(families)).order_by().values_list("family")
    counted = rows.annotate(times=Count("id"), documents=Count("document", distinct=True))
    return {family: (times, documents) for family, times, documents in counted}


def find(entity_id: UUID, scope: RetrievalScope) -> Face | None:
    """Return the face of the family that `entity_id` belongs to; None alike for absent and not mentioned."""
    family = mentions(scope).filter(entity=entity_id).order_by("id").values_list("family", flat=True).first()
    return None if family is None else known([family], scope).get(family)


def named(key: str, scope: RetrievalScope) -> list[Face]:
    """Return the entities that passages in scope call by a name with this key, by type."""
    rows = mentions(scope).filter(surface_key=key).order_by().values_list("family", flat=True).distinct()
    return sorted(known(list(rows), scope).values(), key=lambda face: (face.type, face.name, face.id))


def most_mentioned(scope: RetrievalScope, *, most: int, **where: Any) -> list[UUID]:
    """Return the families that a passage or document in scope mentions most often."""
    rows = mentions(scope).filter(**where).order_by().values_list("family")
    counted = rows.annotate(times=Count("id"), key=Min("surface_key")).order_by("-times", "key", "family")
    return [family for family, *_ in counted[:most]]


def shown(text: str) -> str:
    """Return words of a passage on one line, without characters that hide text or turn its direction."""
    return " ".join(visible(text).split())


def _face(family: UUID, found: Sequence[_Spelt]) -> Face:
    member = min((one.member != family, one.member) for one in found)[1]
    own = sorted((one for one in found if one.member == member), key=_place)
    others = sorted((one for one in found if one.member != member), key=_place)
    first = own[0]
    return Face(
        id=member,
        family=family,
        name=shown(first.surface),
        type=first.type,
        spellings=_texts(own, besides={first.key}),
        merged=_texts(others, besides={one.key for one in own}),
    )


def _place(one: _Spelt) -> tuple[bool, int, tuple[int, ...]]:
    # Of equals the one with more small letters, as extraction names entities.
    return not one.is_its_name, -one.mentions, tuple(-ord(letter) for letter in one.surface)


def _texts(found: Sequence[_Spelt], *, besides: set[str]) -> tuple[str, ...]:
    texts: dict[str, str] = {}
    for one in found:
        if one.key not in besides:
            texts.setdefault(one.key, shown(one.surface))
    return tuple(texts.values())[:_MOST_SPELLINGS]
