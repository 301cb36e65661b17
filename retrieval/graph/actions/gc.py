"""Removing what no passage supports any more: entities, edges, communities."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING
from uuid import UUID

import structlog
from django.db import transaction

from retrieval.graph import collecting

if TYPE_CHECKING:
    from django.contrib.auth.models import User

logger = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Garbage:
    """How much nothing supports."""

    entities: int
    relationships: int
    communities: int


def preview() -> Garbage:
    """Count what `collect` would remove."""
    return Garbage(
        len(collecting.unsupported_entities()),
        len(collecting.dangling_relationships()),
        len(collecting.empty_communities()),
    )


@transaction.atomic
def collect(*, by: User | None = None) -> Garbage:
    """Remove it, in one transaction; return how much it was.

    An entity goes when no passage mentions it or what was merged into it; a tombstone stays as long as
    what it was merged into. An edge goes when its passage no longer names both ends.
    """
    collecting.hold_what_is_touched()
    garbage = Garbage(
        relationships=collecting.remove_relationships(),
        entities=collecting.remove_entities(collecting.unsupported_entities()),
        communities=collecting.remove_communities(),
    )
    logger.info("graph.collected", by=by.pk if by else None, **asdict(garbage))
    return garbage


@transaction.atomic
def collect_of(*, entities: Sequence[UUID]) -> int:
    """Remove those of `entities` that nothing supports, with their tombstones; return how many.

    A tombstone whose own passages are gone goes too, though what it was merged into stays: all that is left
    of it is a name, in the words of what was deleted.
    """
    count = collecting.remove_entities(collecting.unsupported_entities(among=entities))
    return count + collecting.remove_bare_tombstones(entities)
