"""The SQL that finds and removes what no passage supports."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.db import connection
from django.db.models import Exists, OuterRef, Q

from retrieval.graph.models import Entity, Mention
from retrieval.graph.resolution_models import MergeProposal

# An entity with what was merged into it stands or falls as one.
_UNSUPPORTED = """
    SELECT id FROM retrieval_entity AS entity
    WHERE (%(among)s::uuid[] IS NULL OR COALESCE(entity.canonical_entity_id, entity.id) IN (
            SELECT COALESCE(canonical_entity_id, id) FROM retrieval_entity WHERE id = ANY(%(among)s::uuid[])))
        AND NOT EXISTS (
            SELECT 1 FROM retrieval_mention AS mention
            JOIN retrieval_entity AS mentioned ON mentioned.id = mention.entity_id
            WHERE COALESCE(mentioned.canonical_entity_id, mentioned.id)
                = COALESCE(entity.canonical_entity_id, entity.id))
    ORDER BY id
"""
_DANGLING = """
    SELECT edge.id FROM retrieval_relationship AS edge
    WHERE EXISTS (
        SELECT 1 FROM (VALUES (edge.source_id), (edge.target_id)) AS ends (id)
        WHERE NOT EXISTS (
            SELECT 1 FROM retrieval_mention AS mention
            JOIN retrieval_entity AS mentioned ON mentioned.id = mention.entity_id
            WHERE mention.chunk_id = edge.chunk_id
                AND (mentioned.id = ends.id OR mentioned.canonical_entity_id = ends.id)))
    ORDER BY edge.id
"""
_EMPTY = """
    SELECT id FROM retrieval_community AS community
    WHERE NOT EXISTS (SELECT 1 FROM retrieval_communitymember WHERE community_id = community.id)
    ORDER BY id
"""


# What is about to go, and the ends of edges about to go, each with what is one with it.
_TOUCHED = f"""
    SELECT id FROM retrieval_entity WHERE COALESCE(canonical_entity_id, id) IN (
        SELECT COALESCE(entity.canonical_entity_id, entity.id) FROM retrieval_entity AS entity
        WHERE entity.id IN ({_UNSUPPORTED}) OR entity.id IN (
            SELECT unnest(ARRAY[edge.source_id, edge.target_id]) FROM retrieval_relationship AS edge
            WHERE edge.id IN ({_DANGLING})))
    ORDER BY id FOR UPDATE
"""  # noqa: S608 - constants


def hold_what_is_touched() -> None:
    """Lock the entities that collecting is about, before any edge: whoever stores locks in this order too."""
    _ids(_TOUCHED, {"among": None})


def unsupported_entities(*, among: Sequence[UUID] | None = None) -> list[UUID]:
    """Return the entities that no passage mentions, neither them nor what was merged into them."""
    return _ids(_UNSUPPORTED, {"among": None if among is None else list(among)})


def dangling_relationships() -> list[int]:
    """Return the edges whose passage does not name both ends."""
    return _ids(_DANGLING)


def empty_communities() -> list[UUID]:
    """Return the communities without members."""
    return _ids(_EMPTY)


def remove_entities(ids: Sequence[UUID]) -> int:
    """Remove those of `ids` that are still unsupported once nobody else works on them; return how many."""
    if not ids:
        return 0
    # Locked first and looked at again: a worker may just have found one of them in a new passage.
    _ids("SELECT id FROM retrieval_entity WHERE id = ANY(%(ids)s) ORDER BY id FOR UPDATE", {"ids": list(ids)})
    sure = unsupported_entities(among=ids)
    Entity.objects.filter(pk__in=sure, canonical_entity__isnull=False).delete()
    Entity.objects.filter(pk__in=sure).delete()
    _forget_proposals(sure)
    return len(sure)


def remove_bare_tombstones(ids: Sequence[UUID]) -> int:
    """Remove those of `ids` that were merged into another and that no passage spells any more."""
    bare = Entity.objects.filter(pk__in=list(ids), canonical_entity__isnull=False).exclude(
        Exists(Mention.objects.filter(entity=OuterRef("pk")))
    )
    gone = list(bare.order_by("pk").select_for_update().values_list("pk", flat=True))
    Entity.objects.filter(pk__in=gone).exclude(Exists(Mention.objects.filter(entity=OuterRef("pk")))).delete()
    _forget_proposals(gone)
    return len(gone)


def _forget_proposals(gone: Sequence[UUID]) -> None:
    """Forget what was asked and what was approved about entities that are gone; what was refused stays."""
    asked = MergeProposal.objects.filter(Q(low__in=gone) | Q(high__in=gone))
    asked.filter(state__in=[MergeProposal.State.PROPOSED, MergeProposal.State.APPROVED]).delete()


def remove_relationships() -> int:
    """Remove the dangling edges; return how many."""
    return _changed(f"DELETE FROM retrieval_relationship WHERE id IN ({_DANGLING})")  # noqa: S608 - a constant


def remove_communities() -> int:
    """Remove the communities without members, and what says which documents they were made of."""
    ids = empty_communities()
    # Their rows of documents take them along; see the trigger.
    _changed("DELETE FROM retrieval_communitydocument WHERE community_id = ANY(%(ids)s)", {"ids": ids})
    _changed("DELETE FROM retrieval_community WHERE id = ANY(%(ids)s)", {"ids": ids})
    return len(ids)


def _ids(statement: str, values: dict[str, Any] | None = None) -> list[Any]:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return [identifier for (identifier,) in cursor.fetchall()]


def _changed(statement: str, values: dict[str, Any] | None = None) -> int:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        count: int = cursor.rowcount
    return count
