"""Keeping which entities might be one, for a person to decide."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import structlog
from django.db import connection

from retrieval.graph import holding
from retrieval.graph.resolution.types import Pair
from retrieval.graph.resolution_models import MergeProposal

logger = structlog.get_logger(__name__)

State = MergeProposal.State
# Who decided, in the record of a pair that a model called different.
MODEL = "(model)"


@dataclass(frozen=True, slots=True)
class Stored:
    """How many proposals are new, how many were found surer than before, how many a model refused."""

    new: int = 0
    changed: int = 0
    refused: int = 0


@holding.one_at_a_time
def store(*, pairs: Sequence[Pair], different: Sequence[Pair] = ()) -> Stored:
    """Keep what was found, in one transaction, while nobody else changes which entities are one.

    A pair has one row. What somebody decided stays as it is, and so does what waits for a decision when a
    model calls it different. Pairs of which a side went or was merged meanwhile are left out.
    Raises `holding.Busy`.
    """
    active = _active([end for pair in (*pairs, *different) for end in pair.ids])
    kept = [pair for pair in pairs if set(pair.ids) <= active]
    refused = [pair for pair in different if set(pair.ids) <= active]
    rows = _upsert(kept)
    stored = Stored(
        new=sum(1 for (is_new,) in rows if is_new),
        changed=sum(1 for (is_new,) in rows if not is_new),
        refused=_refuse(refused),
    )
    logger.info("graph.proposed", new=stored.new, changed=stored.changed, refused=stored.refused)
    return stored


def _active(ids: Sequence[UUID]) -> set[UUID]:
    """Return those that are no tombstones, and keep them until the commit, at once or not at all."""
    rows = _rows(
        """
        SELECT id FROM retrieval_entity WHERE id = ANY(%s) AND canonical_entity_id IS NULL
        ORDER BY id FOR KEY SHARE NOWAIT
        """,
        sorted(set(ids)),
    )
    return {pk for (pk,) in rows}


def _upsert(pairs: Sequence[Pair]) -> Sequence[tuple[Any, ...]]:
    """Write the pairs; return for each row that is new or changed whether it is new."""
    return _rows(
        """
        INSERT INTO retrieval_mergeproposal AS held (low_id, high_id, tier, method, confidence, state,
            decided_by_name)
        SELECT low, high, tier, method, confidence, 'proposed', ''
        FROM unnest(%s::uuid[], %s::uuid[], %s::int[], %s::text[], %s::float8[])
            AS found (low, high, tier, method, confidence)
        ON CONFLICT (low_id, high_id) DO UPDATE
            SET tier = EXCLUDED.tier, method = EXCLUDED.method, confidence = EXCLUDED.confidence
            WHERE held.state = 'proposed' AND (held.tier, held.method, held.confidence)
                IS DISTINCT FROM (EXCLUDED.tier, EXCLUDED.method, EXCLUDED.confidence)
        RETURNING (xmax = 0)
        """,
        *_columns(pairs),
    )


def _refuse(pairs: Sequence[Pair]) -> int:
    """Note as refused what a model called different: a person can open it again. Returns how many are new."""
    rows = _rows(
        f"""
        INSERT INTO retrieval_mergeproposal (low_id, high_id, tier, method, confidence, state, decided_at,
            decided_by_name)
        SELECT low, high, tier, method, confidence, 'rejected', statement_timestamp(), '{MODEL}'
        FROM unnest(%s::uuid[], %s::uuid[], %s::int[], %s::text[], %s::float8[])
            AS found (low, high, tier, method, confidence)
        ON CONFLICT (low_id, high_id) DO NOTHING RETURNING id
        """,  # noqa: S608 - a constant of ours
        *_columns(pairs),
    )
    return len(rows)


def _columns(pairs: Sequence[Pair]) -> list[list[Any]]:
    ordered = sorted(pairs, key=lambda pair: pair.ids)
    return [
        [pair.low for pair in ordered],
        [pair.high for pair in ordered],
        [pair.tier for pair in ordered],
        [str(pair.method) for pair in ordered],
        [pair.confidence for pair in ordered],
    ]


def _rows(statement: str, *values: Any) -> Sequence[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        rows: Sequence[tuple[Any, ...]] = cursor.fetchall()
    return rows
