"""Splitting an entity that passages mean two things by."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING
from uuid import UUID

import structlog
from django.utils import timezone

from retrieval.graph import holding, parting
from retrieval.graph.actions.resolution import Act, done_by
from retrieval.graph.models import Entity, Mention
from retrieval.graph.naming import entity_id
from retrieval.graph.resolution_models import ResolutionAudit

if TYPE_CHECKING:
    from django.contrib.auth.models import User

logger = structlog.get_logger(__name__)

METHOD = "person"


class NotSplit(Exception):
    """Why an entity stays whole; the text says it to a person."""


def split(
    *, entity: Entity, mentions: Sequence[Mention], by: User | None, at: datetime | None = None
) -> ResolutionAudit:
    """Give the passages of `mentions` an entity of their own, the next sense of the name; return the record.

    A passage has one sense, and so has its text in whichever document: all it says of the entity goes along,
    the descriptions and the edges too. Read or taken in again it stays with its sense. Raises `NotSplit`, and
    `holding.Busy`.
    """
    chunks = sorted({mention.chunk_id for mention in mentions if mention.entity_id == entity.pk})
    return _split(entity.pk, chunks, by, at or timezone.now())


@holding.one_at_a_time
def _split(pk: UUID, chunks: Sequence[int], by: User | None, now: datetime) -> ResolutionAudit:
    first = holding.groups([pk]).get(pk)
    if first is None:
        raise NotSplit("It is gone: no passage names it any more.")
    if first.canonical_entity_id is not None:
        raise NotSplit("It was merged into another one: undo that first.")
    named = Mention.objects.filter(entity=first)
    texts = named.filter(chunk__in=chunks).order_by().values("chunk__content_sha256")
    chunks = sorted(set(named.filter(chunk__content_sha256__in=texts).values_list("chunk", flat=True)))
    if not chunks:
        raise NotSplit("Choose passages that name it.")
    if not named.exclude(chunk__in=chunks).exists():
        raise NotSplit("Leave a passage: what all passages name is one thing, whatever its name.")
    second = _next_sense(first)
    inverse = parting.split(first, second, chunks)
    audit = ResolutionAudit.objects.create(
        act=Act.SPLIT,
        winner=first,
        loser=second,
        method=METHOD,
        inverse=inverse,
        happened_at=now,
        **done_by(by),
    )
    logger.info("graph.split", audit=audit.pk, passages=len(chunks), by=by.pk if by else None)
    return audit


def _next_sense(first: Entity) -> Entity:
    """Make the entity of the next sense that no entity has, nor ever had as the log knows."""
    senses = Entity.objects.filter(type=first.type, key=first.key).order_by("-sense")
    sense = senses.values_list("sense", flat=True)[0]
    while True:
        sense += 1
        identifier = entity_id(entity_type=first.type, key=first.key, sense=sense)
        if not ResolutionAudit.objects.filter(act=Act.SPLIT, loser=identifier).exists():
            return Entity.objects.create(
                pk=identifier, type=first.type, key=first.key, sense=sense, name=first.name
            )
