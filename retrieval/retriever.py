"""Retrieve passages for a question within a scope: the one door to retrieval."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from time import monotonic

import structlog
from django.db import DatabaseError
from psycopg_pool import PoolTimeout

from corpus import connections
from corpus.domain_profile import DomainProfile, active_profile
from corpus.fingerprint import fingerprint
from corpus.models import Chunk, Document
from corpus.scope import RetrievalScope
from retrieval import eligibility, hydration, ordering, profiles
from retrieval.fusion import fuse
from retrieval.layers.base import Layer, LayerRequest, Version
from retrieval.layers.keyword import KeywordLayer
from retrieval.layers.vector import VectorLayer
from retrieval.request import checked_limit, checked_question
from retrieval.runner import run
from retrieval.types import (
    DEGRADED,
    Eligible,
    Item,
    RankedList,
    RetrievalResult,
    StageStatus,
    StageTrace,
)

logger = structlog.get_logger(__name__)

_LAYERS: dict[str, Layer] = {layer.name: layer for layer in (VectorLayer(), KeywordLayer())}


class RetrievalFailed(RuntimeError):
    """The database could not say what is eligible or what was found: nothing may be shown."""


@dataclass(frozen=True, slots=True)
class _Corpus:
    """What the scope lets the request see, read once for the whole request."""

    eligible: Eligible
    version: Version | None
    fingerprint: str

    @property
    def version_name(self) -> str:
        return self.version.name if self.version else ""


def retrieve(
    *, question: str, scope: RetrievalScope, profile: str = "interactive", limit: int = 8
) -> RetrievalResult:
    """Return the passages that speak to `question`, best first, and what each stage did.

    `scope` is effective already: the caller met it with the asker's ceiling. A scope that allows
    nothing reaches neither the database nor a model. A layer that fails or is slow is named in
    `degraded` and the others go on; `RetrievalFailed` is raised only when eligibility itself cannot be
    established. Raises `UnknownProfile` and `InvalidRequest` for what cannot be asked.
    """
    chosen = profiles.profile(profile)
    question, limit = checked_question(question), checked_limit(limit)
    request_id = uuid.uuid4().hex
    if scope.denied:
        corpus = _Corpus(Eligible(), None, fingerprint(scope))
        denied = StageTrace("scope", StageStatus.DENIED, reason="the scope allows nothing")
        return _result(request_id, chosen, scope, corpus, [], [denied])
    started = monotonic()
    domain = active_profile()
    try:
        corpus = _corpus(scope)
        lists, traces = _run_layers(chosen, question, scope, corpus, domain, limit)
        items, fusion = _fused(lists, scope, corpus, domain, limit)
    except (DatabaseError, PoolTimeout) as error:
        logger.error("retrieval.failed", request=request_id, error=type(error).__name__)  # noqa: TRY400
        raise RetrievalFailed("The database could not be read. Nothing was retrieved.") from error
    result = _result(request_id, chosen, scope, corpus, items, [*traces, fusion])
    logger.info(
        "retrieval.finished",
        request=request_id,
        milliseconds=round((monotonic() - started) * 1000, 1),
        items=len(result.items),
        degraded=list(result.degraded),
    )
    return result


def _corpus(scope: RetrievalScope) -> _Corpus:
    version = eligibility.version()
    pinned = fingerprint(scope, embedding=version.name if version else None)
    return _Corpus(eligibility.count(scope), version, pinned)


def _run_layers(
    chosen: profiles.Profile,
    question: str,
    scope: RetrievalScope,
    corpus: _Corpus,
    domain: DomainProfile,
    limit: int,
) -> tuple[list[RankedList], list[StageTrace]]:
    if not corpus.eligible.passages:
        reason = "the scope holds no passages"
        return [], [StageTrace(name, StageStatus.EMPTY, reason=reason) for name in chosen.layers]
    requests = {
        name: LayerRequest(
            question=question,
            scope=scope,
            limit=profiles.pool(domain, name, limit),
            passages=corpus.eligible.passages,
            version=corpus.version,
        )
        for name in chosen.layers
    }
    # The layers take connections of their own, and those of other requests may be waiting for this one.
    connections.release()
    outcomes = run([_LAYERS[name] for name in chosen.layers], requests, seconds=chosen.seconds)
    return [ranked for ranked, _ in outcomes], [trace for _, trace in outcomes]


def _fused(
    lists: Sequence[RankedList], scope: RetrievalScope, corpus: _Corpus, domain: DomainProfile, limit: int
) -> tuple[list[Item], StageTrace]:
    started = monotonic()
    found = {chunk_id for ranked in lists for chunk_id in ranked.chunk_ids}
    passages = hydration.load(found, scope) if found else {}
    fused = fuse(
        lists,
        weights=profiles.weights(domain),
        places={key: hydration.place(passage) for key, passage in passages.items()},
        k=domain.fusion_k,
    )
    placed = ordering.demote(
        fused,
        superseded=lambda key: passages[key].document.status == Document.Status.SUPERSEDED,
        factor=Fraction(str(domain.supersession_factor)),
    )
    kept = ordering.collapse(placed, content=lambda key: passages[key].content_sha256)[:limit]
    items = _items(kept, passages, scope, corpus)
    status = StageStatus.OK if items else StageStatus.EMPTY
    milliseconds = round((monotonic() - started) * 1000, 1)
    return items, StageTrace("fusion", status, milliseconds, len(fused), "weighted reciprocal ranks")


def _items(
    kept: Sequence[ordering.Placed], passages: Mapping[int, Chunk], scope: RetrievalScope, corpus: _Corpus
) -> list[Item]:
    successors = hydration.visible_successors((passages[one.fused.chunk_id] for one in kept), scope)
    return [
        hydration.item(
            passages[one.fused.chunk_id],
            one.fused,
            score=float(one.score),
            adjustments=one.adjustments,
            also_in=tuple(hydration.twin(passages[key]) for key in one.also),
            successors=successors,
            embedding_version=corpus.version_name,
        )
        for one in kept
    ]


def _result(
    request_id: str,
    chosen: profiles.Profile,
    scope: RetrievalScope,
    corpus: _Corpus,
    items: Sequence[Item],
    traces: Sequence[StageTrace],
) -> RetrievalResult:
    return RetrievalResult(
        request_id=request_id,
        profile=chosen.name,
        scope=scope,
        eligible=corpus.eligible,
        items=tuple(items),
        traces=tuple(traces),
        degraded=tuple(trace.stage for trace in traces if trace.status in DEGRADED),
        embedding_version=corpus.version_name,
        fingerprint=corpus.fingerprint,
    )
