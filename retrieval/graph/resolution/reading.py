"""The entities to resolve, what was decided about pairs before, and a sentence for a name."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import connection
from django.db.models import F
from django.db.models.functions import Coalesce

from corpus.egress import Classes
from corpus.models import Document
from corpus.sentences import sentence_spans
from retrieval.graph.models import Mention
from retrieval.graph.resolution.types import Named
from retrieval.graph.resolution_models import MergeProposal

Ends = tuple[UUID, UUID]
_LONGEST_SENTENCE = 400


def entities() -> list[Named]:
    """Return every entity that is not a tombstone and that a passage names, with all its spellings.

    What was merged into it adds its spellings.
    """
    rows = _rows(
        """
        SELECT entity.id, entity.type, entity.key, entity.name, named.spellings
        FROM retrieval_entity AS entity
        JOIN (
            SELECT COALESCE(member.canonical_entity_id, member.id) AS id,
                array_agg(DISTINCT mention.surface) AS spellings
            FROM retrieval_entity AS member JOIN retrieval_mention AS mention ON mention.entity_id = member.id
            GROUP BY 1
        ) AS named ON named.id = entity.id
        WHERE entity.canonical_entity_id IS NULL
        ORDER BY entity.id
        """
    )
    return [Named(pk, kind, key, name, frozenset(spellings)) for pk, kind, key, name, spellings in rows]


def decided() -> set[Ends]:
    """Return the pairs that somebody decided on, as what their sides are today: they are not asked again."""
    sides = {side: Coalesce(F(f"{side}__canonical_entity"), F(side)) for side in ("low", "high")}
    rows = MergeProposal.objects.exclude(state=MergeProposal.State.PROPOSED).order_by()
    now = rows.values_list(sides["low"], sides["high"])
    return {(min(pair), max(pair)) for pair in now}


def proposed() -> set[Ends]:
    """Return the pairs that wait for a decision."""
    rows = MergeProposal.objects.filter(state=MergeProposal.State.PROPOSED).order_by()
    return set(rows.values_list("low_id", "high_id"))


@dataclass(frozen=True, slots=True)
class Use:
    """A sentence that names an entity, the name as it stands there, and the class of its document."""

    name: str
    sentence: str
    license_class: str


def uses(ids: Collection[UUID], *, classes: Classes) -> dict[UUID, Use]:
    """Return for each entity a sentence that names it, from a document whose text may be rewritten.

    Only from documents of these licence classes. The same one whatever the order of ingestion. An entity
    without such a sentence is left out.
    """
    usable = Mention.objects.filter(
        entity__in=ids,
        document__state=Document.State.READY,
        document__no_derivatives=False,
        document__license_class__in=sorted(classes),
    )
    first = (
        usable.order_by("entity", "document__content_sha256", "chunk__ordinal", "start", "pk")
        .distinct("entity")
        .values_list("entity", "surface", "chunk__body", "start", "document__license_class")
    )
    found = {
        entity: Use(name, _sentence(body, start), license_class)
        for entity, name, body, start, license_class in first
    }
    return {entity: use for entity, use in found.items() if use.sentence}


def _sentence(body: str, place: int) -> str:
    for start, end in sentence_spans(body):
        if start <= place < end:
            # The name has to be in it.
            cut = max(start, min(place - _LONGEST_SENTENCE // 2, end - _LONGEST_SENTENCE))
            return " ".join(body[cut : min(end, cut + _LONGEST_SENTENCE)].split())
    return ""


def _rows(statement: str, *values: Any) -> Sequence[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        rows: Sequence[tuple[Any, ...]] = cursor.fetchall()
    return rows
