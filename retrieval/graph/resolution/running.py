"""Resolving the whole graph: find pairs, ask a model about the open ones, keep and apply what is chosen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from uuid import UUID

from corpus.connections import release
from corpus.gateways.llm import ChatModel
from corpus.usage.estimating import Estimate
from corpus.usage.purposes import Purpose
from retrieval.graph.actions import proposals, resolution
from retrieval.graph.actions.proposals import Stored
from retrieval.graph.ontology import active_ontology
from retrieval.graph.resolution import asking, reading
from retrieval.graph.resolution.finding import find
from retrieval.graph.resolution.lists import names_of
from retrieval.graph.resolution.types import Named, Pair
from retrieval.graph.resolution_models import MergeProposal

if TYPE_CHECKING:
    from django.contrib.auth.models import User

Begin = Callable[[int], None]
# Hears what asking the model comes to, before it is asked.
Expect = Callable[[Estimate], None]
Advance = Callable[[int], None]
MODEL_TIER = 3


@dataclass(frozen=True, slots=True)
class Findings:
    """What a run found: the proposals, what a model refused, what it left open and why.

    `open` counts the pairs in the band that only a model can decide, before it was asked, which `estimate`
    says the price of. `stopped` says what of a cap kept it from being asked.
    """

    names: dict[UUID, Named]
    pairs: tuple[Pair, ...] = ()
    different: tuple[Pair, ...] = ()
    open: int = 0
    undecided: Counter[str] = field(default_factory=Counter)
    failure: str = ""
    stopped: str = ""
    estimate: Estimate = field(default_factory=Estimate)

    @property
    def by_tier(self) -> dict[int, int]:
        """How many proposals each tier has."""
        counts = Counter(pair.tier for pair in self.pairs)
        return {tier: counts[tier] for tier in (1, 2, MODEL_TIER)}


@dataclass(frozen=True, slots=True)
class Applied:
    """How many proposals were stored, how many were to be applied, how many became one."""

    stored: Stored
    chosen: int
    merged: int


def resolve(
    *,
    model: ChatModel | None,
    asks: bool = True,
    expect: Expect = lambda _: None,
    advance: Advance = lambda _: None,
    begin: Begin = lambda _: None,
) -> Findings:
    """Find what might be one; write nothing. Without a model the open pairs are only counted.

    The same where it is not to be asked: then what it would come to is said.
    Raises `InvalidOntology`, `InvalidThesaurus` and `InvalidPrompt`.
    """
    thesaurus = names_of(active_ontology())
    entities = reading.entities()
    decided, waiting = reading.decided(), reading.proposed()
    release()
    begin(len(entities))
    found = [pair for pair in find(entities, thesaurus, advance=advance) if pair.ids not in decided]
    names = {entity.id: entity for entity in entities}
    # What waits for a person already is not asked a model again.
    sure = tuple(pair for pair in found if pair.tier < MODEL_TIER or pair.ids in waiting)
    still_open = [pair for pair in found if pair.tier == MODEL_TIER and pair.ids not in waiting]
    if model is None:
        return Findings(names, sure, open=len(still_open))
    question = asking.question(still_open, names, readable=model.readable(Purpose.RESOLUTION))
    estimate = question.estimate(model)
    if not asks:
        return Findings(names, sure, open=len(still_open), undecided=question.left, estimate=estimate)
    expect(estimate)
    judged = asking.judge(model, question)
    return Findings(
        names,
        (*sure, *judged.same),
        judged.different,
        len(still_open),
        judged.undecided,
        judged.failure,
        judged.stopped,
        estimate,
    )


def apply(
    findings: Findings, *, highest_tier: int, min_confidence: float = 0.0, by: User | None = None
) -> Applied:
    """Store every proposal, and make one what is at most of `highest_tier` and at least as sure.

    Each pair is approved by itself: nothing follows from two pairs for a third. Raises `holding.Busy`.
    """
    stored = proposals.store(pairs=findings.pairs, different=findings.different)
    wanted = {
        pair.ids for pair in findings.pairs if pair.tier <= highest_tier and pair.confidence >= min_confidence
    }
    rows = MergeProposal.objects.filter(
        state=MergeProposal.State.PROPOSED, low__in=[low for low, _ in wanted]
    ).order_by("pk")
    chosen = [row for row in rows if (row.low_id, row.high_id) in wanted]
    merged = resolution.approve(proposals=chosen, by=by) if chosen else 0
    return Applied(stored, len(chosen), merged)
