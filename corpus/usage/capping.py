"""The cap of a run that is a row: read when it is carried on, kept between its units."""

from __future__ import annotations

from django.conf import settings
from django.db.models import F

from corpus.usage.budget import Budget, Cap, Spent
from corpus.usage.models import CappedRun


def cap_of_a_run(cap: Cap = Cap()) -> Cap:  # noqa: B008 - a value that never changes
    """Return `cap`, with the settings' tokens a run where it says nothing of them."""
    if cap.max_tokens is None and settings.SCI_RAG_MAX_TOKENS_PER_RUN:
        return Cap(settings.SCI_RAG_MAX_TOKENS_PER_RUN, cap.max_cost_usd)
    return cap


def fields_of(cap: Cap) -> dict[str, object]:
    """Return a cap as the columns of a run that begins."""
    return {"max_tokens": cap.max_tokens, "max_cost_usd": cap.max_cost_usd}


def budget_of(run: CappedRun) -> Budget:
    """Return what a run may use and has used, as its row says."""
    spent = Spent(run.calls_made, run.tokens_used, run.cost_usd, run.unpriced_calls)
    return Budget(Cap(run.max_tokens, run.max_cost_usd), spent)


def keep(run: CappedRun, budget: Budget) -> None:
    """Add to a run's row what was used since this was called last: exact, whoever else adds to it."""
    new = budget.taken()
    if new != Spent():
        type(run)._default_manager.filter(pk=run.pk).update(
            calls_made=F("calls_made") + new.calls,
            tokens_used=F("tokens_used") + new.tokens,
            cost_usd=F("cost_usd") + new.cost_usd,
            unpriced_calls=F("unpriced_calls") + new.unpriced,
        )


def keep_and_check(run: CappedRun, budget: Budget) -> None:
    """Keep what a unit used; raise `CapReached` when the next may not begin."""
    keep(run, budget)
    budget.check()
