"""Who the calls to models are made for. Set where a service begins, read where a call is made.

Other threads do not see it by themselves: hand work to them with `contextvars.copy_context().run`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from corpus.usage.budget import Budget

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from corpus.scope import RetrievalScope


@dataclass(frozen=True, slots=True)
class Account:
    """Whose call it is (nobody's: the system's own), about which collection, and under which cap."""

    user: int | None = None
    collection: str = ""
    budget: Budget | None = None


_THE_SYSTEMS = Account()
_current: ContextVar[Account] = ContextVar("account", default=_THE_SYSTEMS)


def current() -> Account:
    """Return the account of calls that are made here and now."""
    return _current.get()


@contextmanager
def charged_to(
    user: User | None = None, *, collection: str | None = None, budget: Budget | None = None
) -> Iterator[None]:
    """Charge what is called inside to `user`, and to this collection and cap; what is None stays as it was.

    Not around a `yield` of a generator: what its consumer does meanwhile would be charged too.
    """
    held = _current.get()
    new = replace(
        held,
        user=held.user if user is None else user.pk,
        collection=held.collection if collection is None else collection[:100],
        budget=held.budget if budget is None else budget,
    )
    token = _current.set(new)
    try:
        yield
    finally:
        _current.reset(token)


@contextmanager
def held(account: Account) -> Iterator[None]:
    """Charge what is called inside to exactly `account`, kept from where the work began."""
    token = _current.set(account)
    try:
        yield
    finally:
        _current.reset(token)


def collection_of(scope: RetrievalScope) -> str:
    """Return the collection that a scope is about when it names exactly one, else nothing."""
    return scope.buckets[0] if scope.buckets is not None and len(scope.buckets) == 1 else ""
