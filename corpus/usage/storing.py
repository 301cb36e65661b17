"""The SQL that adds calls to the rows of their day, whoever else adds to them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db import connection, transaction

from corpus.connections import release
from corpus.usage.ledger import Amount, Key

_COLUMNS = (
    "calls", "failures", "prompt_tokens", "completion_tokens",
    "estimated_calls", "unpriced_calls", "cost_usd",
)  # fmt: skip
_ROW = f"({', '.join(['%s'] * (5 + len(_COLUMNS)))})"
_ADD = """
    INSERT INTO corpus_modeluse (day, user_id, purpose, collection, model, {columns})
    VALUES {rows}
    ON CONFLICT (day, user_id, purpose, collection, model) DO UPDATE SET {sums}
"""
_SUMS = ", ".join(f"{name} = corpus_modeluse.{name} + excluded.{name}" for name in _COLUMNS)
# A table that somebody holds is tried again later: the thread must not stand here for ever.
_PATIENCE = "SET LOCAL lock_timeout = '5s'"


def add(batch: Mapping[Key, Amount]) -> None:
    """Add `batch` to the table in one statement, and give the connection back."""
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            # In one order, so that two processes never wait for each other.
            values = [value for key in sorted(batch) for value in _values(key, batch[key])]
            statement = _ADD.format(
                columns=", ".join(_COLUMNS), rows=", ".join([_ROW] * len(batch)), sums=_SUMS
            )
            cursor.execute(f"{_PATIENCE}; {statement}", values)
    finally:
        release()


def _values(key: Key, amount: Amount) -> list[Any]:
    user = None if key.user == -1 else key.user
    return [
        key.day, user, key.purpose, key.collection, key.model,
        *(getattr(amount, name) for name in _COLUMNS),
    ]  # fmt: skip
