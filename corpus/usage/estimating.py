"""What a run will come to, said before it begins: calls, tokens and cost, without asking anybody."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any, Final, TypeVar

from django.db.models import F, Sum

from corpus.gateways import costs
from corpus.usage.models import ModelUse
from corpus.usage.purposes import LABELS, USUAL_REPLY, Purpose

# So many prompts are counted at most, spread evenly; the others are taken to be like them.
SAMPLE: Final = 40
_LOOK_BACK = timedelta(days=90)
_ENOUGH_CALLS = 5
_Each = TypeVar("_Each")


@dataclass(frozen=True, slots=True)
class Line:
    """Calls of one kind to one model. `cost_usd` is None where nobody knows the price."""

    purpose: Purpose
    model: str
    calls: int
    prompt_tokens: int
    completion_tokens: int
    cost_usd: Decimal | None

    @property
    def tokens(self) -> int:
        """Both kinds of tokens."""
        return self.prompt_tokens + self.completion_tokens


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a run will come to. `requests` are those to other services than models."""

    lines: tuple[Line, ...] = ()
    requests: int = 0

    @property
    def calls(self) -> int:
        """Calls to models."""
        return sum(line.calls for line in self.lines)

    @property
    def tokens(self) -> int:
        """Tokens of prompts and replies."""
        return sum(line.tokens for line in self.lines)

    @property
    def cost_usd(self) -> Decimal | None:
        """What it costs; None when the price of any call is not known."""
        costs_known = [line.cost_usd for line in self.lines if line.calls]
        if any(cost is None for cost in costs_known):
            return None
        return sum((cost for cost in costs_known if cost is not None), Decimal(0))

    def as_dict(self) -> dict[str, Any]:
        """Return it as commands print and runs keep it."""
        return {
            "calls": self.calls,
            "tokens": self.tokens,
            "cost_usd": None if self.cost_usd is None else float(self.cost_usd),
            "requests": self.requests,
            "lines": [
                {
                    "purpose": line.purpose.value,
                    "model": line.model,
                    "calls": line.calls,
                    "prompt_tokens": line.prompt_tokens,
                    "completion_tokens": line.completion_tokens,
                    "cost_usd": None if line.cost_usd is None else float(line.cost_usd),
                }
                for line in self.lines
            ],
        }

    def sentences(self) -> list[str]:
        """Say it in words, a line for each kind of call."""
        if not self.calls and not self.requests:
            return ["Estimate: no calls to a model and no requests."]
        said = [
            f"Estimate: {line.calls:,} calls to {line.model} ({LABELS[line.purpose].lower()}), about "
            f"{line.prompt_tokens:,} + {line.completion_tokens:,} tokens, {dollars(line.cost_usd)}."
            for line in self.lines
            if line.calls
        ]
        if self.requests:
            said.append(f"Estimate: {self.requests:,} requests to other services.")
        if len([line for line in self.lines if line.calls]) > 1:
            total = f"{self.calls:,} calls, about {self.tokens:,} tokens, {dollars(self.cost_usd)}"
            said.append(f"Estimate in all: {total}.")
        return said


def dollars(cost: Decimal | None) -> str:
    """Return a cost for people: what is not known is never nothing."""
    return "cost unknown" if cost is None else f"{cost:.4f} USD"


def line(
    *,
    purpose: Purpose,
    model: str,
    calls: int,
    prompts: Sequence[tuple[str, str]],
    reply_tokens: float | None = None,
) -> Line:
    """Return what `calls` calls come to, `prompts` being those of some of them: system and user part.

    Replies are as long as they usually are, unless their form says how long.
    """
    counted = [costs.prompt_tokens(model, system=system, user=user) for system, user in prompts]
    mean = sum(counted) / len(counted) if counted else 0.0
    return of_tokens(
        purpose=purpose,
        model=model,
        calls=calls,
        prompt_tokens=round(mean * calls),
        reply_tokens=reply_tokens,
    )


def of_tokens(
    *,
    purpose: Purpose,
    model: str,
    calls: int,
    prompt_tokens: int,
    reply_tokens: float | None = None,
    is_embedding: bool = False,
) -> Line:
    """Return what calls with so many tokens in all come to; replies are as long as they usually are."""
    each = usual_reply(purpose, model) if reply_tokens is None else reply_tokens
    completion = 0 if is_embedding else round(each * calls)
    cost = costs.cost_of(model, prompt=prompt_tokens, completion=completion, is_embedding=is_embedding)
    return Line(purpose, model, calls, prompt_tokens, completion, cost)


def usual_reply(purpose: Purpose, model: str) -> float:
    """Return how many tokens a reply has: as the ledger knows this model's, else as they are taken to be."""
    rows = ModelUse.objects.filter(
        purpose=purpose.value,
        model=model[:200],
        day__gte=datetime.now(UTC).date() - _LOOK_BACK,
        estimated_calls=0,
        failures=0,
    )
    sums = rows.aggregate(calls=Sum(F("calls")), tokens=Sum(F("completion_tokens")))
    if (sums["calls"] or 0) < _ENOUGH_CALLS:
        return USUAL_REPLY[purpose]
    return float(sums["tokens"]) / float(sums["calls"])


def spread(units: Sequence[_Each], most: int = SAMPLE) -> list[_Each]:
    """Return at most so many of `units`, evenly spread over all of them."""
    count = min(most, len(units))
    return [units[place * len(units) // count] for place in range(count)]


def together(estimates: Iterable[Estimate]) -> Estimate:
    """Return several estimates as one."""
    several = list(estimates)
    return Estimate(
        tuple(line for one in several for line in one.lines), sum(one.requests for one in several)
    )
