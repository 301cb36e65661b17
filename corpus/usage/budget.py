"""What one run may use at most, and has used so far. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from threading import Lock


@dataclass(frozen=True, slots=True)
class Cap:
    """The most a run may use; None is no limit."""

    max_tokens: int | None = None
    max_cost_usd: Decimal | None = None


@dataclass(frozen=True, slots=True)
class Spent:
    """What calls used. `cost_usd` is that of the calls with a price; the others are counted in `unpriced`."""

    calls: int = 0
    tokens: int = 0
    cost_usd: Decimal = Decimal(0)
    unpriced: int = 0

    def __add__(self, other: Spent) -> Spent:
        return Spent(
            self.calls + other.calls,
            self.tokens + other.tokens,
            self.cost_usd + other.cost_usd,
            self.unpriced + other.unpriced,
        )

    def __sub__(self, other: Spent) -> Spent:
        return Spent(
            self.calls - other.calls,
            self.tokens - other.tokens,
            self.cost_usd - other.cost_usd,
            self.unpriced - other.unpriced,
        )


class CapReached(Exception):
    """A run has used what it may. What it did is kept, and it can go on under a higher cap."""


class Budget:
    """The cap of one run and what its calls used, whichever threads make them.

    A run asks `check` between its units, so that none is left half done: it ends over its cap by one unit
    at most. A cost that nobody knows counts as reaching a cap on cost, since it could be any.
    """

    def __init__(self, cap: Cap, spent: Spent | None = None) -> None:
        self.cap = cap
        self._spent = self._taken = spent or Spent()
        self._lock = Lock()

    @property
    def spent(self) -> Spent:
        """What was used so far, before this process too."""
        return self._spent

    def add(self, spent: Spent) -> None:
        """Count what a call used."""
        with self._lock:
            self._spent += spent

    def taken(self) -> Spent:
        """Return what was used since this was asked last, to be kept with the run."""
        with self._lock:
            new, self._taken = self._spent - self._taken, self._spent
            return new

    @property
    def reached(self) -> str:
        """Say what has reached the cap; empty as long as nothing has."""
        return self.in_the_way_of(0)

    def in_the_way_of(self, tokens: int) -> str:
        """Say what of the cap forbids a unit of about so many tokens; empty when nothing does."""
        cap, spent = self.cap, self._spent
        if cap.max_tokens is not None and spent.tokens >= cap.max_tokens:
            return f"{spent.tokens:,} of {cap.max_tokens:,} tokens are used"
        if cap.max_tokens is not None and spent.tokens + tokens > cap.max_tokens:
            return f"the next request has about {tokens:,} tokens, and {cap.max_tokens:,} are allowed"
        if cap.max_cost_usd is None:
            return ""
        if spent.unpriced:
            return "what a call cost is not known, so the cap on cost cannot be kept"
        if spent.cost_usd >= cap.max_cost_usd:
            return f"{spent.cost_usd:.4f} of {cap.max_cost_usd:.4f} USD are used"
        return ""

    def check(self) -> None:
        """Raise `CapReached` when the next unit may not begin."""
        if reached := self.reached:
            raise CapReached(f"Stopped at the cap: {reached}. What is done is kept.")
