"""A budget is kept whoever spends at once; what nobody knows the price of reaches a cap on cost."""

from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal

import pytest

from corpus.usage.accounts import Account, charged_to, current, held
from corpus.usage.budget import Budget, Cap, CapReached, Spent


def test_without_a_cap_nothing_is_reached() -> None:
    budget = Budget(Cap(), Spent(9, 10**12, Decimal(10**6), 9))

    budget.check()

    assert budget.in_the_way_of(10**12) == ""


@pytest.mark.parametrize(
    ("cap", "spent", "said"),
    [
        (Cap(100), Spent(tokens=99), ""),
        (Cap(100), Spent(tokens=100), "100 of 100 tokens"),
        (Cap(100), Spent(tokens=2500), "2,500 of 100 tokens"),
        (Cap(None, Decimal("0.5")), Spent(cost_usd=Decimal("0.49")), ""),
        (Cap(None, Decimal("0.5")), Spent(cost_usd=Decimal("0.5")), "0.5000 of 0.5000 USD"),
        (Cap(None, Decimal("0.5")), Spent(unpriced=1), "is not known"),
        (Cap(100, Decimal("0.5")), Spent(tokens=5, unpriced=1), "is not known"),
        (Cap(100), Spent(tokens=5, unpriced=1), ""),
    ],
)
def test_a_cap_is_reached_by_what_was_spent(cap: Cap, spent: Spent, said: str) -> None:
    budget = Budget(cap, spent)

    assert (said in budget.reached) if said else budget.reached == ""
    if said:
        with pytest.raises(CapReached, match="Stopped at the cap"):
            budget.check()


def test_a_unit_that_would_go_over_is_in_the_way() -> None:
    budget = Budget(Cap(100), Spent(tokens=60))

    assert budget.in_the_way_of(40) == ""
    assert "about 41 tokens" in budget.in_the_way_of(41)


def test_threads_lose_nothing_and_what_is_taken_is_taken_once() -> None:
    budget = Budget(Cap(), Spent(tokens=7))

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda _: budget.add(Spent(1, 3, Decimal("0.1"), 1)), range(400)))
    first, second = budget.taken(), budget.taken()

    assert first == Spent(400, 1200, Decimal("40.0"), 400)
    assert second == Spent()
    assert budget.spent.tokens == 1207


def test_an_account_is_put_together_from_where_work_begins_inside() -> None:
    budget = Budget(Cap())

    with charged_to(collection="theses", budget=budget), charged_to(collection=None):
        inside = current()
        with held(Account(user=5)):
            exact = current()

    assert (inside.collection, inside.budget, exact) == ("theses", budget, Account(user=5))
    assert current() == Account()
