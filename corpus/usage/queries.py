"""Reading the ledger: what was used, by day, model, purpose, user or collection."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final

from django.contrib.auth.models import User as Account
from django.db.models import QuerySet, Sum

from corpus import ceilings
from corpus.scope import EVERYTHING
from corpus.usage.models import ModelUse
from corpus.usage.purposes import LABELS

if TYPE_CHECKING:
    from django.contrib.auth.models import User

PERMISSION: Final = "corpus.view_modeluse"
GROUPINGS: Final = {
    "day": "day", "model": "model", "purpose": "purpose", "user": "user_id", "collection": "collection",
}  # fmt: skip
DAYS: Final = 30
MOST_DAYS: Final = 366
NOBODY: Final = "the system"
_SUMS: Final = (
    "calls", "failures", "prompt_tokens", "completion_tokens",
    "estimated_calls", "unpriced_calls", "cost_usd",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Sums:
    """What calls came to. `share` is that of the largest row's tokens, in hundredths."""

    label: str
    calls: int = 0
    failures: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    estimated_calls: int = 0
    unpriced_calls: int = 0
    cost_usd: Decimal = Decimal(0)
    share: int = 0

    @property
    def tokens(self) -> int:
        """Tokens of prompts and replies."""
        return self.prompt_tokens + self.completion_tokens

    @property
    def known_cost(self) -> Decimal | None:
        """The cost of the calls with a price; None when there is no such call. Never nothing for unknown."""
        return self.cost_usd if self.unpriced_calls < self.calls or not self.calls else None

    def as_dict(self) -> dict[str, Any]:
        """Return it as the command prints it."""
        return {
            "calls": self.calls,
            "failures": self.failures,
            "prompt_tokens": self.prompt_tokens,
            "completion_tokens": self.completion_tokens,
            "calls_with_estimated_tokens": self.estimated_calls,
            "calls_without_price": self.unpriced_calls,
            "cost_usd": None if self.known_cost is None else float(self.known_cost),
        }


def may_look(user: User) -> bool:
    """Whether `user` may see the ledger: it is about all collections, so a ceiling must cover them."""
    return user.has_perm(PERMISSION) and ceilings.of(user) == EVERYTHING


def today() -> date:
    """Return the day of calls that end now."""
    return datetime.now(UTC).date()


def since(days: int) -> QuerySet[ModelUse]:
    """Return the rows of the last so many days, today among them."""
    return ModelUse.objects.filter(day__gt=today() - timedelta(days=days))


def total(rows: QuerySet[ModelUse]) -> Sums:
    """Return what all rows come to."""
    found = rows.aggregate(**{name: Sum(name, default=0) for name in _SUMS})
    return Sums("", **found)


def grouped(rows: QuerySet[ModelUse], by: str) -> list[Sums]:
    """Return what the rows come to by one of `GROUPINGS`: days in order, others the largest first."""
    field = GROUPINGS[by]
    found = list(rows.order_by().values(field).annotate(**{f"{name}_sum": Sum(name) for name in _SUMS}))
    names = usernames(row[field] for row in found) if by == "user" else {}
    most = max((row["prompt_tokens_sum"] + row["completion_tokens_sum"] for row in found), default=0)
    sums = [
        Sums(
            label(by, row[field], names),
            **{name: row[f"{name}_sum"] for name in _SUMS},
            share=_share(row["prompt_tokens_sum"] + row["completion_tokens_sum"], most),
        )
        for row in found
    ]
    if by == "day":
        return sorted(sums, key=lambda one: one.label, reverse=True)
    return sorted(sums, key=lambda one: (-one.tokens, -one.calls, one.label))


def _share(tokens: int, most: int) -> int:
    return round(100 * tokens / most) if most else 0


def usernames(ids: Iterable[int | None]) -> dict[int, str]:
    """Return the names of the accounts that there still are."""
    known = {key for key in ids if key is not None}
    return dict(Account.objects.filter(pk__in=known).values_list("pk", "username"))


def label(by: str, value: Any, names: dict[int, str]) -> str:
    """Return what a row is called."""
    if by == "user":
        return NOBODY if value is None else names.get(value, f"account {value}, deleted")
    if by == "purpose":
        return str(LABELS.get(value, value))
    if by == "collection":
        return value or "no single one"
    return str(value)


def lines(rows: QuerySet[ModelUse]) -> Iterator[list[str]]:
    """Yield a heading and every row as cells, the newest day first."""
    yield [
        "day", "user", "purpose", "collection", "model", "calls", "failures", "prompt_tokens",
        "completion_tokens", "calls_with_estimated_tokens", "calls_without_price", "cost_usd",
    ]  # fmt: skip
    found = list(rows.order_by("-day", "purpose", "model", "pk"))
    names = usernames(row.user_id for row in found)
    for row in found:
        cost = "unknown" if row.unpriced_calls == row.calls else f"{row.cost_usd:f}"
        yield [
            row.day.isoformat(), label("user", row.user_id, names), row.purpose, row.collection, row.model,
            str(row.calls), str(row.failures), str(row.prompt_tokens), str(row.completion_tokens),
            str(row.estimated_calls), str(row.unpriced_calls), cost,
        ]  # fmt: skip
