"""How often a key may be used: counted in the database, so it holds across threads, processes and hosts."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from django.db import connection

if TYPE_CHECKING:
    from corpus.keys.authentication import Caller

# The row is locked before the clock is read, so moments stand in the order in which they were counted. Only
# as many are kept as the limit needs; the oldest of those says whether one more fits into the last minute.
_COUNT = """
WITH counted AS (
    INSERT INTO corpus_keyuse AS kept (key_id, moments)
    SELECT id, ARRAY[clock_timestamp()] FROM corpus_apikey WHERE id = %(key)s FOR KEY SHARE
    ON CONFLICT (key_id) DO UPDATE
    SET moments = (kept.moments || clock_timestamp())[greatest(1, cardinality(kept.moments) + 2 - %(limit)s):]
    WHERE cardinality(kept.moments) < %(limit)s
        OR kept.moments[cardinality(kept.moments) + 1 - %(limit)s] <= clock_timestamp() - interval '1 minute'
    RETURNING 1
), seen AS (
    UPDATE corpus_apikey SET last_used_at = clock_timestamp()
    WHERE id = %(key)s AND (last_used_at IS NULL OR last_used_at < clock_timestamp() - interval '1 minute')
        AND EXISTS (SELECT 1 FROM counted)
)
SELECT 1 FROM counted
"""
_WAIT = """
SELECT extract(epoch FROM moments[cardinality(moments) + 1 - %(limit)s] + interval '1 minute'
    - clock_timestamp())
FROM corpus_keyuse WHERE key_id = %(key)s
"""


class RateLimited(Exception):
    """The key was used as often as it may be within a minute. `retry_after` says how many seconds to wait."""

    def __init__(self, retry_after: int) -> None:
        super().__init__(f"Try again in {retry_after} seconds.")
        self.retry_after = retry_after


def count(caller: Caller) -> None:
    """Count one request of the caller's key, or raise `RateLimited` and count nothing.

    In any sixty seconds at most `requests_per_minute` are let through. Not for use within a transaction,
    which would hold up every other request of the key.
    """
    values: dict[str, str | int] = {"key": str(caller.key), "limit": caller.requests_per_minute}
    with connection.cursor() as cursor:
        cursor.execute(_COUNT, values)
        counted = cursor.fetchone()
        if counted is None:
            cursor.execute(_WAIT, values)
            row = cursor.fetchone()
            wait = row[0] if row and row[0] is not None else 0
            raise RateLimited(max(1, math.ceil(wait)))
