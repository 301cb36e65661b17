"""Retrieve passages for a question within a scope: the one door to retrieval."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from time import monotonic

import structlog
from django.db import DatabaseError
from django.utils.module_loading import import_string
from psycopg_pool import PoolTimeout

from corpus import connections
from corpus.domain_profile import DomainProfile, GraphProfile, active_profile
from corpus.metrics import catalogue
from corpus.metrics.spans import span
from corpus.models import Chunk
from corpus.rights import LicenseClass
from corpus.scope import RetrievalScope
from retrieval import (
    communities,
    eligibility,
    history,
    hydration,
    ordering,
    other_versions,
    profiles,
    replica,
    rerank,
)
from retrieval.eligibility import Corpus
from retrieval.following import Place
from retrieval.fusion import RANKS, SCORES, Fused, Fusion, fuse, fuse_scores
from retrieval.fusion import Place as PassagePlace
from retrieval.layers.base import Layer, LayerRequest
from retrieval.layers.registered import REGISTERED
from retrieval.request import checked_limit, checked_question
from retrieval.routing import Route, route
from retrieval.runner import run, turns
from retrieval.types import (
    DEGRADED,
    Asked,
    CommunityItem,
    Item,
    OtherVersion,
    RankedList,
    RetrievalResult,
    StageStatus,
    StageTrace,
)

logger = structlog.get_logger(__name__)

_LAYERS: dict[str, Layer] = {layer.name: import_string(layer.place)() for layer in REGISTERED}

_FUSION_MODES: dict[Fusion, str] = {
    RANKS: "weighted reciprocal ranks",
    SCORES: "convex combination of scores",
}


class RetrievalFailed(RuntimeError):
    """The database could not say what is eligible or what was found: nothing may be shown."""


@dataclass(frozen=True, slots=True)
class _Instead:
    """What the request says in place of the domain profile."""

    reranker: str | None
    walk: GraphProfile | None
    fusion: Fusion


@dataclass(frozen=True, slots=True)
class _Search:
    """One request as it is carried out: what was asked, by which profile and layers."""

    request_id: str
    question: str
    scope: RetrievalScope
    limit: int
    profile: profiles.Profile
    layers: tuple[str, ...]
    route: Route
    domain: DomainProfile
    instead: _Instead


@dataclass(frozen=True, slots=True)
class _Found:
    """What became of the layers' candidates."""

    items: Sequence[Item] = ()
    traces: Sequence[StageTrace] = ()
    history: Asked = field(default_factory=Asked)
    other_versions: tuple[OtherVersion, ...] = ()
    communities: tuple[CommunityItem, ...] = ()


def retrieve(
    *,
    question: str,
    scope: RetrievalScope,
    profile: str = "interactive",
    limit: int = 8,
    switches: Mapping[str, bool] | None = None,
    reranker: str | None = None,
    walk: GraphProfile | None = None,
    fusion: Fusion = RANKS,
) -> RetrievalResult:
    """Return the passages that speak to `question`, best first, and what each stage did.

    `scope` is effective already: the caller met it with the asker's ceiling. A scope that allows
    nothing reaches neither the database nor a model. Profile `auto` goes where `routing.route` says;
    `switches` puts single layers in or takes them out; `reranker` and `walk` override the domain
    profile's, and `fusion` by scores is there to be compared with that by ranks. A layer that fails or is
    slow is named in `degraded` and the others go on; `RetrievalFailed` is raised only when eligibility
    itself cannot be established. Raises `UnknownProfile`, `UnknownLayer` and `InvalidRequest` for what
    cannot be asked.
    """
    search = _search(question, scope, profile, limit, switches or {}, _Instead(reranker, walk, fusion))
    with span("retrieval", request=search.request_id, profile=search.profile.name) as measured:
        result = _retrieved(search)
        measured.set_attributes({"items": len(result.items), "degraded": len(result.degraded)})
    return result


def _retrieved(search: _Search) -> RetrievalResult:
    scope = search.scope
    if scope.denied:
        denied = StageTrace("scope", StageStatus.DENIED, reason="the scope allows nothing")
        return _result(search, eligibility.read(scope), _Found(), [denied])
    started, arrival = monotonic(), turns.arrive()
    try:
        with turns.taken(arrival):
            corpus = eligibility.read(scope)
            place = replica.place()
        lists, traces = _run_layers(search, corpus, arrival, place)
        found = _ranked(search, lists, corpus)
    except (DatabaseError, PoolTimeout) as error:
        logger.error("retrieval.failed", request=search.request_id, error=type(error).__name__)  # noqa: TRY400
        raise RetrievalFailed("The database could not be read. Nothing was retrieved.") from error
    result = _result(search, corpus, found, [*traces, *found.traces])
    catalogue.RETRIEVAL_SECONDS.observe(monotonic() - started, profile=search.profile.name)
    for trace in result.traces:
        catalogue.LAYERS.count(layer=trace.stage, status=trace.status)
    logger.info(
        "retrieval.finished",
        request=search.request_id,
        milliseconds=round((monotonic() - started) * 1000, 1),
        items=len(result.items),
        degraded=list(result.degraded),
    )
    return result


def _search(
    question: str,
    scope: RetrievalScope,
    profile: str,
    limit: int,
    switches: Mapping[str, bool],
    instead: _Instead,
) -> _Search:
    profiles.check(profile)
    question = checked_question(question)
    domain = active_profile()
    routed = route(question, domain.query_classes)
    is_routed = profile == profiles.AUTO
    chosen = profiles.profile(routed.profile if is_routed else profile)
    return _Search(
        request_id=uuid.uuid4().hex,
        question=question,
        scope=scope,
        limit=checked_limit(limit),
        profile=chosen,
        layers=profiles.switched(routed.layers if is_routed else chosen.layers, switches),
        route=routed,
        domain=domain,
        instead=instead,
    )


def _run_layers(
    search: _Search, corpus: Corpus, arrival: int, place: Place | None
) -> tuple[list[RankedList], list[StageTrace]]:
    if not corpus.eligible.passages:
        reason = "the scope holds no passages"
        return [], [StageTrace(name, StageStatus.EMPTY, reason=reason) for name in search.layers]
    style = getattr(search.domain.query_classes, search.route.query_class).style
    requests = {
        name: LayerRequest(
            question=search.question,
            scope=search.scope,
            limit=profiles.pool(search.domain, name, search.limit),
            passages=corpus.eligible.passages,
            version=corpus.version,
            style=style,
            walk=search.instead.walk,
        )
        for name in search.layers
    }
    # The layers take connections of their own, and those of other requests may be waiting for this one.
    connections.release()
    outcomes = run(
        [_LAYERS[name] for name in search.layers],
        requests,
        seconds=search.profile.seconds,
        arrival=arrival,
        server=replica.server_for(place),
    )
    return [ranked for ranked, _ in outcomes], [trace for _, trace in outcomes]


def _ranked(search: _Search, lists: Sequence[RankedList], corpus: Corpus) -> _Found:
    started = monotonic()
    found = {chunk_id for ranked in lists for chunk_id in ranked.chunk_ids}
    passages = hydration.load(found, search.scope) if found else {}
    fused = _fused(search, lists, {key: hydration.place(passage) for key, passage in passages.items()})
    asked = history.of(search.question, search.scope, (passage.document for passage in passages.values()))
    placed = ordering.demote(
        fused,
        remark=lambda key: asked.remark(passages[key].document),
        factor=Fraction(str(search.domain.supersession_factor)),
    )
    single = ordering.collapse(placed, content=lambda key: passages[key].content_sha256)
    milliseconds = round((monotonic() - started) * 1000, 1)
    status = StageStatus.OK if single else StageStatus.EMPTY
    traces = [StageTrace("fusion", status, milliseconds, len(fused), _FUSION_MODES[search.instead.fusion])]
    traces += asked.trace(sum(one.is_demoted for one in placed))
    single, reranking = _reranked(search, single, passages)
    if search.domain.max_per_document is not None:
        single = ordering.spread(
            single, document=lambda key: passages[key].document_id, most=search.domain.max_per_document
        )
    shown = single[: search.limit]
    lines = other_versions.named(single, shown, passages=passages, history=asked, question=search.question)
    return _Found(
        items=_items(shown, passages, search.scope, corpus, lines),
        traces=[*traces, *reranking],
        history=asked.asked(),
        other_versions=tuple(one.line for one in lines if one.under is None),
        communities=communities.load([key for ranked in lists for key in ranked.communities], search.scope),
    )


def _fused(search: _Search, lists: Sequence[RankedList], places: Mapping[int, PassagePlace]) -> list[Fused]:
    if search.instead.fusion == SCORES:
        return fuse_scores(lists, places=places)
    return fuse(lists, weights=profiles.weights(search.domain), places=places, k=search.domain.fusion_k)


def _reranked(
    search: _Search, placed: list[ordering.Placed], passages: Mapping[int, Chunk]
) -> tuple[list[ordering.Placed], list[StageTrace]]:
    """Order the best of `placed` by a reranker's grades; the order stands when it fails, with a trace."""
    started = monotonic()
    wanted = search.domain.reranker
    pool = placed[: wanted.pool]
    try:
        reranker = rerank.reranker_of(wanted, search.instead.reranker)
        if reranker is None or len(pool) < 2:
            return placed, []
        readable = reranker.readable()
        read = [one for one in pool if _class_of(passages[one.fused.chunk_id]) in readable]
        reason = f"{len(pool) - len(read)} withheld by licence" if len(read) < len(pool) else ""
        if len(read) < 2:
            return placed, [_reranker_trace(StageStatus.SKIPPED, started, len(pool), reason=reason)]
        connections.release()
        grades = reranker.grades(
            search.question,
            [passages[one.fused.chunk_id].body for one in read],
            carries=frozenset(_class_of(passages[one.fused.chunk_id]) for one in read),
            seconds=wanted.seconds,
        )
    except rerank.RerankerOff as off:
        return placed, [StageTrace("reranker", StageStatus.DISABLED, reason=str(off))]
    except rerank.RerankFailed as failure:
        logger.warning("retrieval.rerank_failed", request=search.request_id)
        return placed, [_reranker_trace(StageStatus.ERROR, started, len(pool), reason=str(failure))]
    trace = _reranker_trace(StageStatus.OK, started, len(pool), mode=reranker.name, reason=reason)
    ordered = ordering.around(
        pool, moving={one.fused.chunk_id for one in read}, moved=ordering.by_grades(read, grades)
    )
    return [*ordered, *placed[wanted.pool :]], [trace]


def _class_of(passage: Chunk) -> LicenseClass:
    return LicenseClass(passage.document.license_class)


def _reranker_trace(
    status: StageStatus, started: float, pool: int, *, mode: str = "", reason: str = ""
) -> StageTrace:
    return StageTrace("reranker", status, round((monotonic() - started) * 1000, 1), pool, mode, reason)


def _items(
    kept: Sequence[ordering.Placed],
    passages: Mapping[int, Chunk],
    scope: RetrievalScope,
    corpus: Corpus,
    lines: Sequence[other_versions.Named],
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
            other_versions=tuple(line.line for line in lines if line.under == one.fused.chunk_id),
        )
        for one in kept
    ]


def _result(search: _Search, corpus: Corpus, found: _Found, traces: Sequence[StageTrace]) -> RetrievalResult:
    return RetrievalResult(
        request_id=search.request_id,
        profile=search.profile.name,
        scope=search.scope,
        eligible=corpus.eligible,
        items=tuple(found.items),
        traces=tuple(traces),
        degraded=tuple(trace.stage for trace in traces if trace.status in DEGRADED),
        embedding_version=corpus.version_name,
        fingerprint=corpus.fingerprint,
        layers=search.layers,
        route=search.route,
        history=found.history,
        other_versions=found.other_versions,
        communities=found.communities,
    )
