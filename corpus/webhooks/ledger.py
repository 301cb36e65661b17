"""The ledger of deliveries: who sends what, until when, and whose word still counts. Its raw SQL is all here.

As with jobs a claim is one statement by the database's clock, committed before anything is sent: an attempt
that kills its process is counted, and its delivery is free again when the lease runs out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import connection

# Longer than a receiver may take, and than a host may have us wait for its turn.
LEASE_SECONDS = 180
# Between attempts, so that a receiver that is away for a night is not given up. One more attempt than pauses.
PAUSES = (30.0, 120.0, 600.0, 3_600.0, 4 * 3_600.0, 12 * 3_600.0)
ATTEMPTS = len(PAUSES) + 1
LONGEST_PAUSE = 24 * 3_600.0


@dataclass(frozen=True, slots=True)
class Claim:
    """One attempt at a delivery, held by this process until the lease runs out."""

    delivery: UUID
    webhook: UUID
    attempt: int
    is_last: bool


class LostClaim(Exception):
    """The delivery was given to somebody else, or ended: nothing of this attempt may be written."""


_CLAIM = """
UPDATE corpus_webhookdelivery SET
    attempts = attempts + 1, lease_until = clock_timestamp() + make_interval(secs => %(lease)s)
WHERE id = (
    SELECT id FROM corpus_webhookdelivery
    WHERE state = 'pending' AND attempts < attempt_limit AND next_try_at <= clock_timestamp()
        AND (lease_until IS NULL OR lease_until < clock_timestamp())
        AND (%(delivery)s::uuid IS NULL OR id = %(delivery)s::uuid)
    ORDER BY next_try_at, id LIMIT 1 FOR UPDATE SKIP LOCKED)
RETURNING id, webhook_id, attempts, attempts >= attempt_limit
"""
_MINE = "id = %s AND attempts = %s AND state = 'pending' AND lease_until IS NOT NULL"


def claim(*, delivery: UUID | None = None) -> Claim | None:
    """Take the delivery that is due for longest, or this very one; None when there is none to take."""
    rows = _rows(_CLAIM, lease=LEASE_SECONDS, delivery=delivery)
    return Claim(*rows[0]) if rows else None


def end(claim: Claim, *, delivered: bool, status: int | None = None, code: str = "") -> None:
    """Record how a delivery ended, in the caller's transaction; raise `LostClaim` when it is not ours."""
    statement = f"""
        UPDATE corpus_webhookdelivery SET state = %s, lease_until = NULL, ended_at = clock_timestamp(),
            status = %s, last_error_code = %s
        WHERE {_MINE}
    """  # noqa: S608 - a constant of this module
    state = "delivered" if delivered else "given_up"
    if not _changed(statement, state, status, code[:60], claim.delivery, claim.attempt):
        raise LostClaim(str(claim.delivery))


def postpone(claim: Claim, *, asked: float | None, status: int | None, code: str) -> None:
    """Have it tried again after its pause, or later when the receiver `asked` for that; raise `LostClaim`."""
    seconds = min(max(PAUSES[min(claim.attempt, len(PAUSES)) - 1], asked or 0.0), LONGEST_PAUSE)
    statement = f"""
        UPDATE corpus_webhookdelivery SET lease_until = NULL, status = %s, last_error_code = %s,
            next_try_at = clock_timestamp() + make_interval(secs => %s)
        WHERE {_MINE}
    """  # noqa: S608 - a constant of this module
    if not _changed(statement, status, code[:60], seconds, claim.delivery, claim.attempt):
        raise LostClaim(str(claim.delivery))
    if asked:
        _rest(claim.webhook, min(asked, LONGEST_PAUSE))


def _rest(webhook: UUID, seconds: float) -> None:
    """Leave a receiver that asked for it alone with everything that waits for it."""
    _changed(
        """
        UPDATE corpus_webhookdelivery
        SET next_try_at = greatest(next_try_at, clock_timestamp() + make_interval(secs => %s))
        WHERE webhook_id = %s AND state = 'pending' AND lease_until IS NULL
        """,
        seconds, webhook,
    )  # fmt: skip


def give_up_spent() -> int:
    """End deliveries whose last attempt took its process down; return how many."""
    return _changed(
        """
        UPDATE corpus_webhookdelivery SET state = 'given_up', lease_until = NULL,
            ended_at = clock_timestamp(), last_error_code = 'worker_lost'
        WHERE state = 'pending' AND attempts >= attempt_limit AND lease_until < clock_timestamp()
        """
    )


def forget(*, days: int) -> int:
    """Remove what ended that many days ago; return how many."""
    return _changed(
        """
        DELETE FROM corpus_webhookdelivery
        WHERE state <> 'pending' AND ended_at < clock_timestamp() - make_interval(days => %s)
        """,
        days,
    )


def _rows(statement: str, **named: Any) -> Sequence[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement, named)
        rows: Sequence[tuple[Any, ...]] = cursor.fetchall()
    return rows


def _changed(statement: str, *values: Any) -> int:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        count: int = cursor.rowcount
    return count
