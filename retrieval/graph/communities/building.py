"""Building the communities of a named scope: read, grouped, summarised, embedded, put in place at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING
from uuid import UUID

import structlog
from pgvector import HalfVector

from corpus import carrying
from corpus.connections import release
from corpus.gateways import embedding
from corpus.gateways.embedding import EmbeddingError, TextWithheld
from corpus.models import EmbeddingVersion
from corpus.scope import RetrievalScope
from corpus.snapshots import one_moment
from corpus.usage import accounts, estimating
from corpus.usage import vectors as vector_costs
from corpus.usage.budget import CapReached
from corpus.usage.estimating import Estimate
from corpus.usage.purposes import Purpose
from corpus.vectors import active_version
from retrieval.graph.actions import communities as action
from retrieval.graph.actions.communities import Summaries, Summary
from retrieval.graph.communities import queries, scopes
from retrieval.graph.communities.clustering import METHOD
from retrieval.graph.communities.drafting import Draft, drafts
from retrieval.graph.communities.reading import Graph
from retrieval.graph.communities.summarising import Extractive, Modelled, NotSummarised, Summariser
from retrieval.graph.community_models import CommunityBuild

if TYPE_CHECKING:
    from django.contrib.auth.models import User

logger = structlog.get_logger(__name__)

# A provider that is down is not asked about every community of a library.
FAILURES_IN_A_ROW = 5
TOGETHER = 8

Advance = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Plan:
    """What a build is made from, read at one moment."""

    name: str
    scope: RetrievalScope
    graph_sha256: str
    documents: tuple[UUID, ...]
    drafts: tuple[Draft, ...]


@dataclass(slots=True)
class Outcome:
    """What came of building one scope, or would come of it. `stopped` says what of a cap was in the way."""

    scope: str
    stopped: str = ""
    estimate: Estimate = field(default_factory=Estimate)
    is_unchanged: bool = False
    communities: Counter[int] = field(default_factory=Counter)
    documents: int = 0
    kept: int = 0
    written: Counter[str] = field(default_factory=Counter)
    failed: Counter[str] = field(default_factory=Counter)
    not_embedded: int = 0


def build(
    *,
    name: str,
    summariser: Summariser,
    by: User | None = None,
    advance: Advance = lambda done, of: None,
) -> Outcome:
    """Build the communities of the scope called `name`, unless nothing would change.

    Summaries whose members and evidence are the same are kept. The current build stays in use until the new
    one is whole, and whatever interrupts this leaves it so; at a cap that is an outcome, and the next build
    takes over what was written. Raises `UnknownScopeName`, `BuildUnderWay`.
    """
    wanted = scopes.scope_named(name)
    if (current := _unchanged(name, wanted, summariser)) is not None:
        return _as_it_is(current)
    planned = plan(name, wanted)
    # Before it begins: what a dead build left goes with its beginning.
    known = action.written(name)
    started = action.begin(
        name=name,
        scope=wanted,
        graph_sha256=planned.graph_sha256,
        method=_method(summariser),
        by=by,
    )
    building = _Building(started, planned, known, summariser, advance)
    try:
        with accounts.charged_to(by, collection=accounts.collection_of(wanted)):
            outcome = building.fill()
        finished = action.finish(build=started, scope=wanted, documents=planned.documents)
    except CapReached:
        action.let_go(build=started)
        return building.stopped()
    except BaseException:
        action.let_go(build=started)
        raise
    outcome.communities = levels(finished)
    return outcome


def rehearse(*, name: str, summariser: Summariser) -> Outcome:
    """Say what `build` would do and what it comes to; write nothing and ask no model."""
    wanted = scopes.scope_named(name)
    if (current := _unchanged(name, wanted, summariser)) is not None:
        return _as_it_is(current)
    planned = plan(name, wanted)
    known = action.written(name)
    outcome = Outcome(name, documents=len(planned.documents))
    to_write = []
    for draft in planned.drafts:
        outcome.communities[draft.level] += 1
        if _known(draft, known, summariser) is None:
            outcome.written[summariser.name] += 1
            to_write.append(draft)
        else:
            outcome.kept += 1
    outcome.estimate = _estimate(to_write, summariser)
    return outcome


def may_cost(summariser: Summariser) -> bool:
    """Whether building asks somebody for summaries or vectors."""
    version = active_version()
    return isinstance(summariser, Modelled) or (
        version is not None and vector_costs.are_made_elsewhere(version.name)
    )


def _estimate(to_write: Sequence[Draft], summariser: Summariser) -> Estimate:
    """Return what the summaries come to that are still to be written, and their vectors."""
    sample = estimating.spread(to_write)
    parts = []
    if isinstance(summariser, Modelled):
        prompts = [summariser.prompt_of(draft) for draft in sample]
        line = estimating.line(
            purpose=Purpose.COMMUNITIES, model=summariser.model_name, calls=len(to_write), prompts=prompts
        )
        parts.append(Estimate((line,)))
    if (version := active_version()) is not None:
        # As long as quotes are: what a model would write of them is not known.
        texts = [f"{draft.title}\n{Extractive().write(draft)}" for draft in sample]
        parts.append(
            vector_costs.estimate(version.name, count=len(to_write), sample=texts, together=TOGETHER)
        )
    return estimating.together(parts)


def plan(name: str, wanted: RetrievalScope) -> Plan:
    """Read the graph of `wanted` and group it."""
    with one_moment():
        graph = Graph(wanted)
        return Plan(name, wanted, graph.stamp(), tuple(graph.documents()), tuple(drafts(graph)))


def _unchanged(name: str, wanted: RetrievalScope, summariser: Summariser) -> CommunityBuild | None:
    """Return the current build when building again would change nothing of it."""
    current = queries.current_build_of(name)
    if current is None or current.method != _method(summariser):
        return None
    if not queries.stands(current, wanted, queries.stamp(wanted)):
        return None
    version = active_version()
    lacking = current.communities.exclude(written_by=summariser.name, version=version)
    return None if lacking.exists() else current


def _method(summariser: Summariser) -> str:
    return f"{METHOD}; {summariser.basis}"


def _as_it_is(build: CommunityBuild) -> Outcome:
    return Outcome(
        build.scope_name,
        is_unchanged=True,
        communities=levels(build),
        documents=build.documents_read,
        kept=build.size,
    )


def levels(build: CommunityBuild) -> Counter[int]:
    """Return how many communities a build has on each level."""
    return Counter(build.communities.order_by().values_list("level", flat=True))


def _known(draft: Draft, known: Summaries, summariser: Summariser) -> Summary | None:
    """Return a summary that this writer wrote from the same evidence."""
    evidence = draft.evidence(summariser.basis)
    same = (
        each
        for each in known.get((draft.level, draft.key), ())
        if each.evidence_sha256 == evidence and each.written_by == summariser.name
    )
    return next(same, None)


class _Building:
    """One build being filled: in small batches, each summarised, embedded and stored."""

    def __init__(
        self,
        started: CommunityBuild,
        planned: Plan,
        known: Summaries,
        summariser: Summariser,
        advance: Advance,
    ) -> None:
        self._build = started
        self._plan = planned
        self._summariser = summariser
        self._advance = advance
        self._known = known
        self._version = active_version()
        self._failed_in_a_row = 0
        self._embeds = self._version is not None
        self._outcome = Outcome(planned.name, documents=len(planned.documents))

    def fill(self) -> Outcome:
        """Store every community; return what came of it."""
        done, of = 0, len(self._plan.drafts)
        self._advance(done, of)
        for batch in _batches(self._plan.drafts):
            summaries: list[Summary] = []
            try:
                for draft in batch:
                    summaries.append(self._summary(draft))  # noqa: PERF401 - those before the cap are kept
            except CapReached:
                # What was paid for is kept.
                self._keep(batch[: len(summaries)], summaries)
                raise
            self._keep(batch, summaries)
            done += len(batch)
            self._advance(done, of)
        return self._outcome

    def stopped(self) -> Outcome:
        """Return what came of a build that its cap ended."""
        budget = accounts.current().budget
        self._outcome.stopped = budget.reached if budget is not None else ""
        return self._outcome

    def _keep(self, batch: Sequence[Draft], summaries: Sequence[Summary]) -> None:
        if batch:
            made = self._embedded(batch, summaries)
            action.keep(build=self._build, summarised=list(zip(batch, made, strict=True)))

    def _summary(self, draft: Draft) -> Summary:
        known = _known(draft, self._known, self._summariser)
        if known is not None:
            self._outcome.kept += 1
            return known
        text, writer = self._written(draft)
        self._outcome.written[writer.name] += 1
        return Summary(text, writer.name, draft.evidence(writer.basis))

    def _written(self, draft: Draft) -> tuple[str, Summariser]:
        """Return a summary and who wrote it: the quotes themselves where the model did not."""
        if self._failed_in_a_row < FAILURES_IN_A_ROW:
            action.touch(build=self._build)
            self._check_the_cap()
            try:
                text = self._summariser.write(draft)
            except NotSummarised as failure:
                self._outcome.failed[failure.code] += 1
                # What may not be sent says nothing of the model.
                self._failed_in_a_row += failure.code != "withheld"
                logger.warning("communities.not_summarised", code=failure.code)
            else:
                self._failed_in_a_row = 0
                return text, self._summariser
        else:
            self._outcome.failed["given_up"] += 1
        extractive = Extractive()
        return extractive.write(draft), extractive

    def _check_the_cap(self) -> None:
        """Raise `CapReached` before a model is asked that may not be."""
        budget = accounts.current().budget
        if budget is not None and isinstance(self._summariser, Modelled):
            budget.check()

    def _embedded(self, batch: Sequence[Draft], summaries: Sequence[Summary]) -> list[Summary]:
        """Return the summaries with vectors of the active version; without when they cannot be made."""
        version = self._version
        lacking = [
            place for place, each in enumerate(summaries) if version is None or each.version != version.pk
        ]
        texts = [f"{batch[place].title}\n{summaries[place].text}" for place in lacking]
        found = list(summaries)
        sources = {document for place in lacking for document in batch[place].documents}
        for place, vector in zip(lacking, self._vectors(version, texts, sources), strict=True):
            pk = None if version is None or vector is None else version.pk
            found[place] = replace(found[place], version=pk, vector=vector)
        return found

    def _vectors(
        self, version: EmbeddingVersion | None, texts: Sequence[str], sources: Collection[UUID]
    ) -> list[HalfVector | None]:
        if version is not None and texts and self._embeds:
            carries = carrying.of_documents(sources)
            release()
            try:
                rows = embedding.embedder_of(version.name).embed(texts, task="document", carries=carries)
                return [HalfVector(row) for row in rows]
            except TextWithheld:
                logger.warning("communities.vectors_withheld", count=len(texts))
            except EmbeddingError as error:
                logger.warning("communities.not_embedded", error=type(error).__name__)
                self._embeds = False
        self._outcome.not_embedded += len(texts)
        return [None] * len(texts)


def _batches(drafts: Sequence[Draft]) -> Iterator[Sequence[Draft]]:
    for start in range(0, len(drafts), TOGETHER):
        yield drafts[start : start + TOGETHER]
