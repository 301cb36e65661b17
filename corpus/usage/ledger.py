"""The ledger of calls: every call to a model is added once, and written by a thread of its own.

Whoever waits for an answer never waits for the ledger: a call is added in memory, and what has come together
is written in one statement. A write that fails is logged, tried again and in the end given up; it fails
nothing else.
"""

from __future__ import annotations

import atexit
import os
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Final

import structlog

from corpus.usage.accounts import Account
from corpus.usage.budget import Spent
from corpus.usage.purposes import Purpose

logger = structlog.get_logger(__name__)

_TRIES: Final = 4
_PAUSE: Final = 0.5
_AT_EXIT: Final = 5.0


@dataclass(frozen=True, slots=True)
class Used:
    """Tokens and cost of one call. `cost_usd` is None where nobody knows it."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    is_estimated: bool = False
    cost_usd: Decimal | None = None


# What a provider that refused did for us.
NOTHING: Final = Used(cost_usd=Decimal(0))


@dataclass(frozen=True, slots=True, order=True)
class Key:
    """The row that a call belongs to; `user` is -1 for nobody, so that keys have an order."""

    day: date
    user: int
    purpose: str
    collection: str
    model: str


@dataclass(frozen=True, slots=True)
class Amount:
    """What calls came to."""

    calls: int = 0
    failures: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    estimated_calls: int = 0
    unpriced_calls: int = 0
    cost_usd: Decimal = Decimal(0)

    def __add__(self, other: Amount) -> Amount:
        names = [each.name for each in fields(self)]
        return Amount(**{name: getattr(self, name) + getattr(other, name) for name in names})


Store = Callable[[Mapping[Key, Amount]], None]


class Ledger:
    """Calls on their way into the table."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._changed = threading.Condition()
        self._waiting: dict[Key, Amount] = {}
        self._is_writing = False

    def add(self, key: Key, amount: Amount) -> None:
        """Add a call; never waits for the database and never raises."""
        with self._changed:
            self._waiting[key] = self._waiting.get(key, Amount()) + amount
            if self._is_writing:
                return
            self._is_writing = True
        try:
            threading.Thread(target=self._write, name="use-ledger", daemon=True).start()
        except RuntimeError:
            # The interpreter is ending: nobody waits any more.
            self._write()

    def settle(self, seconds: float) -> bool:
        """Wait until everything is written; False when that takes longer than `seconds`."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._is_writing, timeout=seconds)

    def forget(self) -> None:
        """Begin anew in a child process: the parent's calls are the parent's, and its thread is not here."""
        self._changed = threading.Condition()
        self._waiting = {}
        self._is_writing = False

    def _write(self) -> None:
        failed = 0
        while batch := self._taken():
            try:
                self._store(batch)
                failed = 0
            except Exception as error:  # noqa: BLE001 - the border: the ledger fails nobody's work
                failed += 1
                calls = sum(amount.calls for amount in batch.values())
                logger.warning("usage.not_written", error=type(error).__name__, calls=calls, attempt=failed)
                if failed < _TRIES:
                    self._put_back(batch)
                    time.sleep(_PAUSE * failed)
                else:
                    logger.error("usage.lost", calls=calls)  # noqa: TRY400 - the class alone was logged
                    failed = 0

    def _taken(self) -> dict[Key, Amount]:
        with self._changed:
            batch, self._waiting = self._waiting, {}
            if not batch:
                self._is_writing = False
                self._changed.notify_all()
            return batch

    def _put_back(self, batch: Mapping[Key, Amount]) -> None:
        with self._changed:
            for key, amount in batch.items():
                self._waiting[key] = self._waiting.get(key, Amount()) + amount


def _stored(batch: Mapping[Key, Amount]) -> None:
    from corpus.usage import storing

    storing.add(batch)


_ledger = Ledger(_stored)
os.register_at_fork(after_in_child=_ledger.forget)


def settle(seconds: float = _AT_EXIT) -> bool:
    """Wait until every call so far is written; False when that takes longer than `seconds`."""
    return _ledger.settle(seconds)


def record(*, purpose: Purpose, account: Account, model: str, used: Used, is_failure: bool = False) -> None:
    """Enter one call that has ended. The one door into the ledger, and to the run's budget."""
    unpriced = int(used.cost_usd is None)
    cost = used.cost_usd or Decimal(0)
    if account.budget is not None:
        account.budget.add(Spent(1, used.prompt_tokens + used.completion_tokens, cost, unpriced))
    key = Key(
        day=datetime.now(UTC).date(),
        user=-1 if account.user is None else account.user,
        purpose=purpose.value,
        collection=account.collection,
        model=model[:200],
    )
    amount = Amount(
        calls=1,
        failures=int(is_failure),
        prompt_tokens=used.prompt_tokens,
        completion_tokens=used.completion_tokens,
        estimated_calls=int(used.is_estimated),
        unpriced_calls=unpriced,
        cost_usd=cost,
    )
    _register()
    _ledger.add(key, amount)


_is_registered = False


def _register() -> None:
    """See to it that the process ends with everything written.

    At the first call and not before: what was registered earlier, as the embedded server is, ends later.
    """
    global _is_registered  # noqa: PLW0603 - once for each process
    if not _is_registered:
        _is_registered = True
        atexit.register(settle)
