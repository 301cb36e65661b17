"""Making one entity the tombstone of another, and what it takes to undo that. In a caller's transaction.

The inverse of an act holds ids, places and numbers: `group`, the entities that were joined or parted;
`ends`, those at the other end of edges it took out; `edges`, which edges got another end; and what each
kind of act adds. Words of passages are never among them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID

from django.db import connection
from django.db.models import Count, Max

from retrieval.graph import holding, joining
from retrieval.graph.community_models import Community, CommunityMember
from retrieval.graph.joining import Edge, Moves, Step, Weight
from retrieval.graph.models import Entity, Mention, Relationship

Inverse = dict[str, Any]


def weights(members: dict[UUID, Entity]) -> dict[UUID, Weight]:
    """Return what decides who stays, for each canonical entity among `members`."""
    counted = (
        Mention.objects.filter(entity__in=members).order_by().values_list("entity").annotate(Count("id"))
    )
    found = {pk: Weight(0, row.name) for pk, row in members.items() if row.canonical_entity_id is None}
    for entity, count in counted:
        canonical = members[entity].canonical_entity_id or entity
        held = found[canonical]
        found[canonical] = Weight(held.mentions + count, held.name)
    return found


def merge(step: Step, tombstones: Sequence[UUID], *, newest: int) -> Inverse:
    """Give the edges of the loser, whose tombstones are given, to the winner; return the inverse.

    Who becomes whose tombstone is written by `point`, for many merges at once. `newest` is the last edge
    that there is.
    """
    moves = joining.moves(
        holding.edges(of=step.loser, beside=step.winner), winner=step.winner, loser=step.loser
    )
    dropped = _places(moves.dropped)
    move(moves, start=step.loser, end=step.winner)
    return {
        "newest": newest,
        "group": _texts([step.winner, step.loser, *tombstones]),
        "ends": _texts(joining.ends(moves.dropped)),
        "tombstones": _texts(tombstones),
        "edges": {"source": list(moves.source), "target": list(moves.target)},
        "dropped": dropped,
    }


def newest_edge() -> int:
    """Return the number of the last edge that there is."""
    return Relationship.objects.aggregate(newest=Max("pk"))["newest"] or 0


def point(canonical: Mapping[UUID, UUID]) -> None:
    """Make entities the tombstones of others."""
    with connection.cursor() as cursor:
        cursor.execute(
            """
            UPDATE retrieval_entity SET canonical_entity_id = merged.canonical
            FROM unnest(%s::uuid[], %s::uuid[]) AS merged (id, canonical)
            WHERE retrieval_entity.id = merged.id
            """,
            [list(canonical), list(canonical.values())],
        )


def move(moves: Moves, *, start: UUID, end: UUID) -> None:
    """Take out the edges that go, and let those that move end at `end` where they ended at `start`."""
    if moves.dropped:
        Relationship.objects.filter(pk__in=[edge.id for edge in moves.dropped]).delete()
    if moves.source:
        Relationship.objects.filter(pk__in=moves.source, source=start).update(source=end)
    if moves.target:
        Relationship.objects.filter(pk__in=moves.target, target=start).update(target=end)


def clear_communities(entities: Iterable[UUID]) -> None:
    """Remove the communities, of whichever build, that have one of `entities` as a member."""
    touched = CommunityMember.objects.filter(entity__in=list(entities)).order_by()
    ids = set(touched.values_list("community", flat=True))
    if ids:
        Community.objects.filter(pk__in=holding.rows("retrieval_community", ids)).delete()


def _places(edges: Sequence[Edge]) -> list[dict[str, Any]]:
    """Return edges without their words: where the quote stands, and the hash of the passage it stands in."""
    passages = holding.passages({edge.chunk for edge in edges}) if edges else {}
    found = []
    for edge in edges:
        _document, body, sha256 = passages[edge.chunk]
        found.append(
            {
                "id": edge.id,
                "source": str(edge.source),
                "target": str(edge.target),
                "type": edge.type,
                "chunk": edge.chunk,
                "sha256": sha256,
                "start": edge.start,
                "length": joining.extent(body, edge.start, edge.quote),
                "confidence": edge.confidence,
            }
        )
    return found


def _texts(ids: Iterable[UUID]) -> list[str]:
    return sorted({str(each) for each in ids})
