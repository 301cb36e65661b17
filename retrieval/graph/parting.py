"""Taking entities apart again, and splitting one that passages mean two things by. In a caller's transaction.

What an act recorded goes back to where it was. What has gone since stays gone; what has come since stays,
with whichever of the two its passage names, with the first where it names both.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any
from uuid import UUID

from django.db.models import Exists, OuterRef, Q, QuerySet

from corpus.models import Chunk
from retrieval.graph import holding, joining, merging
from retrieval.graph.joining import Moves
from retrieval.graph.merging import Inverse
from retrieval.graph.models import Description, Entity, Mention, Relationship
from retrieval.graph.naming import entity_id
from retrieval.graph.resolution_models import PassageSense


def unmerge(inverse: Inverse, *, winner: UUID, loser: UUID) -> bool:
    """Make a tombstone an entity again, with its own tombstones and its edges; False when it is none."""
    members = holding.groups([loser])
    if loser not in members or members[loser].canonical_entity_id != winner:
        return False
    ours = [loser, *(pk for pk in map(UUID, inverse["tombstones"]) if pk in members)]
    theirs = [pk for pk in members if pk not in ours]
    Entity.objects.filter(pk=loser).update(canonical_entity=None)
    if ours[1:]:
        Entity.objects.filter(pk__in=ours[1:]).update(canonical_entity=loser)
    edges = inverse["edges"]
    came = _came_since(inverse["newest"], winner, ours, theirs)
    _turn(
        Moves(
            (*edges["source"], *(pk for pk, source in came if source == winner)),
            (*edges["target"], *(pk for pk, source in came if source != winner)),
            (),
        ),
        start=winner,
        end=loser,
    )
    _put_back(inverse["dropped"])
    merging.clear_communities(members)
    return True


def split(first: Entity, second: Entity, chunks: Collection[int]) -> Inverse:
    """Give what these passages say of `first` to `second`, which is new; return the inverse.

    An edge stays where its passage still names what was merged into `first`.
    """
    members = [pk for pk in holding.groups([first.pk]) if pk != second.pk]
    inverse: Inverse = {"group": sorted([str(first.pk), str(second.pk)]), "ends": [], "sense": first.sense}
    for name, model in (("mentions", Mention), ("descriptions", Description)):
        found = model.objects.filter(entity=first, chunk__in=chunks).order_by()
        inverse[name] = holding.rows(model._meta.db_table, found.values_list("pk", flat=True))
        model.objects.filter(pk__in=inverse[name]).update(entity=second)
    named = Mention.objects.filter(entity__in=members, chunk=OuterRef("chunk"))
    edges = Relationship.objects.filter(~Exists(named), chunk__in=chunks).order_by("pk")
    moves = Moves(
        tuple(edges.filter(source=first).values_list("pk", flat=True)),
        tuple(edges.filter(target=first).values_list("pk", flat=True)),
        (),
    )
    _turn(moves, start=first.pk, end=second.pk)
    _remember(second, chunks)
    merging.clear_communities([*members, second.pk])
    return inverse


def unsplit(inverse: Inverse, *, first: UUID, second: UUID) -> bool:
    """Give back what was split off, with what came to it since; False when nothing of it is left.

    What was split off then has no mention, and goes with the next collection.
    """
    members = holding.groups([first, second])
    if second not in members or not Mention.objects.filter(entity=second).exists():
        return False
    row = members[second]
    # Nothing may have named the first sense for a while.
    Entity.objects.get_or_create(
        pk=first, defaults={"type": row.type, "key": row.key, "sense": inverse["sense"], "name": row.name}
    )
    _give(Mention.objects.all(), ("chunk", "surface"), start=second, end=first)
    _give(Description.objects.all(), ("chunk",), start=second, end=first)
    moves = joining.moves(holding.edges(of=second, beside=first), winner=first, loser=second)
    merging.move(moves, start=second, end=first)
    remembered = PassageSense.objects.filter(first=_first_sense(row), sense=row.sense)
    if inverse["sense"]:
        remembered.update(sense=inverse["sense"])
    else:
        remembered.delete()
    merging.clear_communities([*members, first])
    return True


def _remember(second: Entity, chunks: Collection[int]) -> None:
    """Note that the text of these passages means the sense that was split off, wherever it is read again."""
    texts = Chunk.objects.filter(pk__in=chunks).order_by().values_list("content_sha256", flat=True)
    PassageSense.objects.bulk_create(
        [
            PassageSense(first_id=_first_sense(second), content_sha256=sha256, sense=second.sense)
            for sha256 in sorted(set(texts))
        ],
        update_conflicts=True,
        unique_fields=["first", "content_sha256"],
        update_fields=["sense"],
    )


def _first_sense(entity: Entity) -> UUID:
    return entity_id(entity_type=entity.type, key=entity.key)


def _came_since(
    newest: int, winner: UUID, ours: Collection[UUID], theirs: Collection[UUID]
) -> list[tuple[int, UUID]]:
    """Return the edges of `winner`, with their source, from passages read since that only name what parts."""

    def named(entities: Collection[UUID]) -> Exists:
        return Exists(Mention.objects.filter(entity__in=entities, chunk=OuterRef("chunk")))

    of_it = Q(source=winner) | Q(target=winner)
    found = Relationship.objects.filter(of_it, named(ours), ~named(theirs), pk__gt=newest)
    return list(found.order_by("pk").values_list("pk", "source_id"))


def _turn(moves: Moves, *, start: UUID, end: UUID) -> None:
    wanted = {*moves.source, *moves.target}
    there = set(holding.rows("retrieval_relationship", wanted)) if wanted else wanted
    source, target = (tuple(pk for pk in each if pk in there) for each in (moves.source, moves.target))
    merging.move(Moves(source, target, ()), start=start, end=end)


def _put_back(dropped: Sequence[dict[str, Any]]) -> None:
    """Store edges that went, in words read again from passages that are as they were."""
    if not dropped:
        return
    passages = holding.passages({row["chunk"] for row in dropped})
    ends = {UUID(row[end]) for row in dropped for end in ("source", "target")}
    there = set(Entity.objects.filter(pk__in=ends).order_by().values_list("pk", flat=True))
    edges = []
    for row in dropped:
        source, target = UUID(row["source"]), UUID(row["target"])
        if row["chunk"] not in passages or row["length"] is None or not {source, target} <= there:
            continue
        document, body, sha256 = passages[row["chunk"]]
        if sha256 != row["sha256"]:
            continue
        edges.append(
            Relationship(
                pk=row["id"],
                source_id=source,
                target_id=target,
                type=row["type"],
                chunk_id=row["chunk"],
                document_id=document,
                start=row["start"],
                quote=joining.quoted(body, row["start"], row["length"]),
                confidence=row["confidence"],
            )
        )
    # The same edge may have been found in the passage again.
    Relationship.objects.bulk_create(edges, batch_size=500, ignore_conflicts=True)


def _give(rows: QuerySet[Any], place: Iterable[str], *, start: UUID, end: UUID) -> None:
    """Give the rows of one entity to another, but for those it has at the same place."""
    table = rows.model._meta.db_table
    there = holding.rows(table, rows.filter(entity=start).order_by().values_list("pk", flat=True))
    same = rows.filter(entity=end, **{name: OuterRef(name) for name in place})
    rows.filter(Exists(same), pk__in=there).delete()
    rows.filter(pk__in=there, entity=start).update(entity=end)
