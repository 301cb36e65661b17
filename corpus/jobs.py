"""The ledger of background work: who does what, until when, and whose word still counts.

A claim is one statement that counts the attempt and sets a lease by the database's clock. The attempt is
the claim's token: whoever writes an effect ends the job in the same transaction, which raises `LostClaim`
unless the attempt is still theirs. The raw SQL about jobs is all here.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid4

from django.conf import settings
from django.db import connection

from corpus.models import Job

Kind = Job.Kind
State = Job.State

ATTEMPTS = 2
INTERRUPTIONS = 5
# Work in hand, as opposed to work that has come to an end one way or another.
OPEN_STATES = (State.QUEUED, State.RUNNING)


@dataclass(frozen=True, slots=True)
class Claim:
    """One attempt at a job, held by this process as long as the lease is renewed."""

    job: UUID
    kind: str
    attempt: int
    run: UUID
    item: int | None
    is_last: bool


@dataclass(frozen=True, slots=True)
class Backlog:
    """What waits for workers."""

    queued: int
    running: int
    oldest_seconds: float


class LostClaim(Exception):
    """The job was given to somebody else, or ended: nothing of this attempt may be written."""


_CLAIM = """
UPDATE corpus_job SET
    state = 'running', attempt = attempt + 1, worker = %(worker)s, last_error_code = '',
    lease_until = clock_timestamp() + make_interval(secs => %(lease)s)
WHERE id = (
    SELECT id FROM corpus_job
    WHERE state = 'queued' AND kind = %(kind)s AND attempt < attempt_limit
        AND (%(job)s::uuid IS NULL OR id = %(job)s::uuid)
    ORDER BY queued_at, item_id, id LIMIT 1 FOR UPDATE SKIP LOCKED)
RETURNING id, kind, attempt, run_id, item_id, attempt >= attempt_limit
"""
_MINE = "id = %s AND attempt = %s AND state = 'running'"


def this_worker() -> str:
    """Return the name under which this process claims."""
    return f"{platform.node()}/{os.getpid()}"


def claim(*, kind: str, job: UUID | None = None) -> Claim | None:
    """Take the oldest queued job of `kind`, or this very one; None when there is none to take.

    Committed before it returns, so that an attempt that kills the process is counted.
    """
    values = {"worker": this_worker(), "lease": settings.SCI_RAG_LEASE_SECONDS, "kind": kind, "job": job}
    with connection.cursor() as cursor:
        cursor.execute(_CLAIM, values)
        row = cursor.fetchone()
    return None if row is None else Claim(*row)


def renew(claim: Claim) -> bool:
    """Extend the lease; False when the claim is lost."""
    statement = f"""
        UPDATE corpus_job SET lease_until = clock_timestamp() + make_interval(secs => %s) WHERE {_MINE}
    """  # noqa: S608 - a constant of this module
    return bool(_changed(statement, settings.SCI_RAG_LEASE_SECONDS, claim.job, claim.attempt))


def end(claim: Claim, state: State, *, code: str = "") -> None:
    """End the job in the same transaction as its effect; raise `LostClaim` when that is not ours any more."""
    statement = f"""
        UPDATE corpus_job SET state = %s, last_error_code = %s, lease_until = NULL WHERE {_MINE}
    """  # noqa: S608 - a constant of this module
    if not _changed(statement, state.value, code[:60], claim.job, claim.attempt):
        raise LostClaim(str(claim.job))


def end_of_file(claim: Claim, state: State, *, code: str = "") -> str:
    """End the job as `end` does, lock its run and return the state that the run is in then.

    In one statement, the job's lock before the run's: this happens twice for every file.
    """
    statement = f"""
        WITH ended AS (
            UPDATE corpus_job SET state = %s, last_error_code = %s, lease_until = NULL
            WHERE {_MINE} RETURNING run_id)
        SELECT state FROM corpus_ingestionrun WHERE id = (SELECT run_id FROM ended) FOR UPDATE
    """  # noqa: S608 - a constant of this module
    rows = _rows(statement, state.value, code[:60], claim.job, claim.attempt)
    if not rows:
        raise LostClaim(str(claim.job))
    return str(rows[0][0])


def give_back(claim: Claim, *, code: str) -> bool:
    """Queue the job again without counting the attempt; False when that has happened too often."""
    statement = f"""
        UPDATE corpus_job SET state = 'queued', attempt_limit = attempt_limit + 1, lease_until = NULL,
            interruptions = interruptions + 1, last_error_code = %s
        WHERE {_MINE} AND interruptions < %s
    """  # noqa: S608 - a constant of this module
    return bool(_changed(statement, code[:60], claim.job, claim.attempt, INTERRUPTIONS))


def put_back(claim: Claim, *, code: str) -> bool:
    """Queue the job again, its attempt counted; False when the claim is lost."""
    statement = f"""
        UPDATE corpus_job SET state = 'queued', lease_until = NULL, last_error_code = %s WHERE {_MINE}
    """  # noqa: S608 - a constant of this module
    return bool(_changed(statement, code[:60], claim.job, claim.attempt))


def queue(*, kind: Kind, dedupe_key: str, run: UUID, item: int | None = None) -> UUID | None:
    """Queue the job called `dedupe_key`, or again when it has ended; None when it is in hand already."""
    return _queued(_queue(), kind, dedupe_key, run=run, item=item)


def queue_embedding(*, run: UUID, item: int, parsed: bytes) -> UUID | None:
    """Keep what parsing made of a file, and queue the stage that takes it from there."""
    keeping = """
        WITH kept AS (
            INSERT INTO corpus_stageresult (item_id, payload) VALUES (%(item)s, %(parsed)s)
            ON CONFLICT (item_id) DO UPDATE SET payload = EXCLUDED.payload)
    """
    return _queued(keeping + _queue(), Kind.EMBED, f"embed:{item}", run=run, item=item, parsed=parsed)


def queue_settling_when_done(*, run: UUID) -> UUID | None:
    """Queue what comes after a run's last file, if all have ended; the caller holds the run's lock."""
    condition = """
        WHERE NOT EXISTS (
            SELECT 1 FROM corpus_job
            WHERE run_id = %(run)s AND state IN ('queued', 'running') AND kind <> 'settle')
    """
    return _queued(_queue(condition), Kind.SETTLE, f"settle:{run}", run=run, item=None)


def _queue(condition: str = "") -> str:
    return f"""
        INSERT INTO corpus_job (id, kind, dedupe_key, state, attempt, attempt_limit, interruptions, worker,
            last_error_code, run_id, item_id)
        SELECT %(id)s::uuid, %(kind)s, %(key)s, 'queued', 0, %(attempts)s, 0, '', '', %(run)s::uuid,
            %(item)s::bigint
        {condition}
        ON CONFLICT (dedupe_key) DO UPDATE SET
            state = 'queued', attempt_limit = corpus_job.attempt + %(attempts)s, interruptions = 0,
            worker = '', last_error_code = '', lease_until = NULL, queued_at = statement_timestamp()
        WHERE corpus_job.state NOT IN ('queued', 'running')
        RETURNING id
    """


def _queued(statement: str, kind: Kind, dedupe_key: str, **named: Any) -> UUID | None:
    rows = _rows(statement, id=uuid4(), kind=kind.value, key=dedupe_key, attempts=ATTEMPTS, **named)
    return rows[0][0] if rows else None


def queue_parsing(*, run: UUID, items: Sequence[int]) -> list[UUID]:
    """Queue the first stage of new items, in order."""
    rows = [
        Job(kind=Kind.PARSE, dedupe_key=f"parse:{item}", run_id=run, item_id=item, attempt_limit=ATTEMPTS)
        for item in items
    ]
    return [job.pk for job in Job.objects.bulk_create(rows, batch_size=500)]


def abandoned() -> list[Claim]:
    """Return claims whose lease ran out, and those of processes of this machine that are gone.

    A process number that was given to another program only means that the lease has to run out.
    """
    rows = _rows(
        """
        SELECT id, kind, attempt, run_id, item_id, attempt >= attempt_limit, worker,
            lease_until < clock_timestamp()
        FROM corpus_job WHERE state = 'running' ORDER BY id
        """
    )
    return [Claim(*row[:6]) for row in rows if row[7] or is_of_a_dead_process(row[6])]


def seize(claim: Claim) -> bool:
    """Lock an abandoned job in the caller's transaction; False when its worker is just ending it."""
    statement = f"SELECT 1 FROM corpus_job WHERE {_MINE} FOR UPDATE SKIP LOCKED"  # noqa: S608 - a constant
    return bool(_rows(statement, claim.job, claim.attempt))


def unattended(*, kind: Kind, seconds: float, limit: int) -> list[UUID]:
    """Return the oldest jobs of `kind` queued for more than `seconds`."""
    rows = _rows(
        """
        SELECT id FROM corpus_job
        WHERE state = 'queued' AND kind = %s AND queued_at < clock_timestamp() - make_interval(secs => %s)
        ORDER BY queued_at, item_id, id LIMIT %s
        """,
        kind.value, seconds, limit,
    )  # fmt: skip
    return [identifier for (identifier,) in rows]


def backlog() -> Backlog:
    """Count what waits and what is being done; the age of the oldest says whether workers live."""
    ((queued, running, oldest),) = _rows(
        """
        SELECT count(*) FILTER (WHERE state = 'queued'), count(*) FILTER (WHERE state = 'running'),
            extract(epoch FROM clock_timestamp() - min(queued_at) FILTER (WHERE state = 'queued'))
        FROM corpus_job WHERE state IN ('queued', 'running')
        """
    )
    return Backlog(queued, running, max(0.0, float(oldest or 0)))


def is_of_a_dead_process(worker: str) -> bool:
    """Whether the process that claimed under this name was one of this machine and is gone."""
    host, _, pid = worker.rpartition("/")
    if host != platform.node():
        return False
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return True
    except (PermissionError, ValueError, OverflowError):
        return False
    return False


def _rows(statement: str, *values: Any, **named: Any) -> Sequence[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement, named or values or None)
        rows: Sequence[tuple[Any, ...]] = cursor.fetchall()
    return rows


def _changed(statement: str, *values: Any) -> int:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        count: int = cursor.rowcount
    return count
