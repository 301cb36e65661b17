"""Every layer of retrieval and what comes behind it against everything that can befall it, in both scopes.

The cells are those of the plan: where it has none, the fault cannot befall that stage. In each, a stage that
fails is named and the others go on, or the request ends without showing anything; nothing out of scope is
told, and no model is asked for what nobody may see.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest
from django.db import OperationalError, connection, transaction

from answers import compression, engine
from answers.models import Answer
from corpus import ceilings
from corpus.audit.models import AuditEvent
from corpus.domain_profile import DomainProfile
from corpus.gateways import embedding
from corpus.gateways.embedding import EmbeddingError
from corpus.models import Chunk, ChunkEmbedding, Document, EmbeddingVersion
from corpus.scope import scope
from retrieval import hydration, retriever
from retrieval.graph.community_models import Community
from retrieval.layers.base import Session
from retrieval.models import Mention
from retrieval.retriever import RetrievalFailed
from retrieval.types import RetrievalResult
from tests.loopback.fixtures import forget_clients
from tests.loopback.openai_server import HANGS, fails, says
from tests.reliability.layer_world import (  # noqa: F401 two fixtures
    ANSWER,
    COMPRESS,
    FUSION,
    GRACE,
    LAYERS,
    QUESTION,
    RERANK,
    SCOPES,
    SECONDS,
    UNNAMED,
    World,
    maker_of_worlds,
    purpose_of,
    statements,
)

pytestmark = pytest.mark.django_db(transaction=True)

# Which stages each fault can befall.
MATRIX: dict[str, tuple[str, ...]] = {
    "empty scope": (*LAYERS, FUSION, ANSWER),
    "scope unknown": (*LAYERS, RERANK, COMPRESS, FUSION, ANSWER),
    "statement late": (*LAYERS, FUSION, ANSWER),
    "connection lost": (*LAYERS, FUSION, ANSWER),
    "call fails": ("vector", "graph", "community", "hyde", RERANK, COMPRESS, ANSWER),
    "garbage": ("vector", "graph", "community", "hyde", RERANK, COMPRESS, ANSWER),
    "ineligible": (FUSION, ANSWER),
    "odd ids": (*LAYERS, RERANK, COMPRESS, FUSION),
    "stale version": ("vector", "community", "hyde"),
    "nothing there": (*LAYERS, FUSION, ANSWER),
    "ten times slower": (*LAYERS, RERANK, COMPRESS, ANSWER),
}
CELLS = [(fault, stage) for fault, stages in MATRIX.items() for stage in stages]
SAMPLE = [
    ("empty scope", "hyde"), ("scope unknown", COMPRESS), ("connection lost", "graph"),
    ("call fails", RERANK), ("garbage", ANSWER), ("ineligible", FUSION), ("odd ids", "community"),
    ("stale version", "vector"),
]  # fmt: skip


@pytest.fixture(scope="module", autouse=True)
def _close_clients() -> Iterator[None]:
    yield
    forget_clients()


def status_of(result: RetrievalResult, stage: str) -> str:
    return next(str(trace.status) for trace in result.traces if trace.stage == stage)


def raising(error: Exception) -> Callable[..., Any]:
    def act(*_: object, **__: object) -> Any:
        raise error

    return act


def goes_on_without(world: World, stage: str, status: str, **options: Any) -> RetrievalResult:
    """Search by all layers; this one is named, the others are as ever."""
    result = world.search(**options)
    assert status_of(result, stage) == status
    degraded = {trace.stage for trace in result.traces if trace.status in ("error", "timeout")}
    assert set(result.degraded) == degraded
    assert stage in degraded
    assert "Straw" in {item.title for item in result.items}
    assert all(stage not in item.ranks for item in result.items)
    return result


def fails_closed(world: World) -> None:
    """Search and ask: the search raises, the answer ends as failed and shows nothing."""
    with pytest.raises(RetrievalFailed):
        world.search("vector", "keyword")
    # As the end of the request does.
    connection.close()
    row = world.answer()
    assert (row.state, row.finish) == ("failed", "retrieval_failed")
    assert (row.text, row.sources.count()) == ("", 0)
    assert world.asked(ANSWER) == 0


def fails_with_its_sources(row: Answer, finish: str, error: str = "") -> None:
    """The answer ended by name, and what was found is there to be read."""
    assert (row.state, row.finish) == ("failed", finish)
    assert row.error == error or (not error and row.error)
    assert row.text == ""
    assert row.sources.exists()


def empty_scope(world: World, stage: str) -> None:
    nothing = dataclasses.replace(world.wanted, buckets=()) if world.wanted.license_classes else None
    world.wanted = nothing or scope(license_classes=[])
    world.statements.clear()
    if stage == ANSWER:
        row = world.answer()
        assert (row.state, row.finish, row.text) == ("done", "no_sources", engine.NO_SOURCES_TEXT)
    else:
        world.patch.setattr(embedding, "embed_query", raising(AssertionError("embedded")))
        world.patch.setattr(hydration, "load", raising(AssertionError("loaded")))
        result = world.search(*([stage] if stage in LAYERS else []))
        assert [(trace.stage, trace.status) for trace in result.traces] == [("scope", "denied")]
        assert (result.items, result.communities) == ((), ())
        assert world.statements == []
    assert world.server.requests == []


def scope_unknown(world: World, stage: str) -> None:
    touched: list[str] = []

    def touching(name: str) -> Callable[..., Any]:
        return lambda *_, **__: touched.append(name)

    for name in LAYERS:
        world.patch.setattr(retriever._LAYERS[name], "prepare", touching(name), raising=True)
    world.patch.setattr(hydration, "load", touching(FUSION))
    world.patch.setattr(retriever, "_reranked", touching(RERANK))
    world.patch.setattr(compression, "compress", touching(COMPRESS))
    world.patch.setattr(engine.writers, "draft", touching(ANSWER))
    world.patch.setattr(ceilings, "of", raising(OperationalError("gone")))

    with pytest.raises(OperationalError):
        engine.answer(question=QUESTION, requested=world.wanted, by=world.asker, profile="deep")

    assert stage not in touched
    assert touched == []
    assert not Answer.objects.exists()
    assert world.server.requests == []


def late(*_: object, **__: object) -> Any:
    """Have the server cut a statement of the request itself."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL statement_timeout = 50")
        cursor.execute("SELECT pg_sleep(20)")


def lost(*_: object, **__: object) -> Any:
    """End the session that the request has at that moment."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_terminate_backend(pg_backend_pid())")


def statement_late(world: World, stage: str) -> None:
    if stage in LAYERS:
        world.profile("deep", SECONDS)
    _database_fails(world, stage, late, "SELECT pg_sleep(30)", "timeout")


def connection_lost(world: World, stage: str) -> None:
    _database_fails(world, stage, lost, "SELECT pg_terminate_backend(pg_backend_pid())", "error")


def _database_fails(world: World, stage: str, act: Callable[..., Any], statement: str, status: str) -> None:
    """Have the database fail the request itself by `act`, or a layer by its statement."""
    if stage == FUSION:
        world.patch.setattr(hydration, "load", act)
        fails_closed(world)
    elif stage == ANSWER:
        world.patch.setattr("answers.actions.answers.record_writing", act)
        fails_with_its_sources(world.answer(), "abandoned", "internal_error")
    else:
        world.break_layer(stage, lambda session: session.rows(statement, []))  # type: ignore[arg-type]
        goes_on_without(world, stage, status)


def call_fails(world: World, stage: str) -> None:
    if stage in ("vector", "community"):
        world.patch.setattr(embedding, "embed_query", raising(EmbeddingError("the provider is away")))
        result = goes_on_without(world, stage, "error")
        assert [trace.reason for trace in result.traces if trace.stage == stage] == ["the provider is away"]
    else:
        world.instead[stage] = fails(500)
        _model_fails(world, stage, "unavailable")


def garbage(world: World, stage: str) -> None:
    if stage in ("vector", "community"):
        world.patch.setattr(embedding, "embed_query", lambda *_, **__: np.ones(7))
        goes_on_without(world, stage, "error")
    elif stage == ANSWER:
        world.instead[ANSWER] = says("Straw is a fine material [7] and everybody knows it.")
        row = world.answer()
        assert (row.state, row.finish) == ("done", "uncited")
    else:
        world.instead[stage] = says(" \n") if stage == "hyde" else says("I would rather not.")
        _model_fails(world, stage, "malformed")


def _model_fails(world: World, stage: str, outcome: str) -> None:
    if stage == ANSWER:
        fails_with_its_sources(world.answer(), "model_failed")
    elif stage == RERANK:
        _keeps_the_fused_order(world)
    elif stage == COMPRESS:
        _reads_the_whole_text(world, outcome)
    elif stage == "graph":
        result = world.search(question=UNNAMED)
        assert status_of(result, stage) == "error"
        assert result.degraded == ("graph",)
        assert result.items
    else:
        goes_on_without(world, stage, "error")


def _keeps_the_fused_order(world: World) -> RetrievalResult:
    before = [item.id for item in world.search("vector", "keyword").items]
    result = world.search("vector", "keyword", reranker="model")
    assert [item.id for item in result.items] == before
    assert status_of(result, "reranker") == "error"
    assert result.degraded == ("reranker",)
    return result


def _reads_the_whole_text(world: World, outcome: str) -> None:
    row = world.answer(compressed=True)
    assert (row.state, row.finish) == ("done", "stop")
    kept = row.model_parameters["compression"]["whole"]
    assert kept.get(outcome, 0) > 0, kept
    (written,) = [request for request in world.server.requests if purpose_of(request) == ANSWER]
    assert "stirred by hand" in written.prompt


def ineligible(world: World, stage: str) -> None:
    closed = _out_of_scope(world)
    if stage == FUSION:
        world.break_layer("keyword", lambda _: [closed])
        result = world.search("vector", "keyword")
        events = AuditEvent.objects.filter(kind=AuditEvent.Kind.RECHECKED)
        assert [event.about for event in events] == [{"passages": 1}]
        assert closed not in {item.chunk_pk for item in result.items}
    else:
        world.break_layer("keyword", lambda _: [closed])
        everything = Chunk.objects.select_related("document", "document__source").in_bulk
        world.patch.setattr(hydration, "load", lambda keys, _: everything(list(keys)))
        # With the check before it broken, a reranker would read what the answer must not.
        world.patch.setattr(retriever, "active_profile", DomainProfile)
        row = world.answer()
        assert row.state == "done"
        assert "Calder" not in str(list(row.sources.values()))
    assert all("Calder" not in request.prompt for request in world.server.requests)


def _out_of_scope(world: World) -> int:
    """Return a passage that the scope does not allow; of no restriction, one that has been set aside."""
    document = world.documents["Closed"]
    key = int(document.chunks.get().pk)
    if world.wanted.license_classes is None:
        world.wanted = scope(exclude_document_ids=[str(document.pk)])
    return key


def odd_ids(world: World, stage: str) -> None:
    key = int(world.documents["Straw"].chunks.get().pk)
    if stage == RERANK:
        world.instead[RERANK] = says('{"grades": [1, 2, 3, 4], "passages": [9, 9]}')
        _keeps_the_fused_order(world)
    elif stage == COMPRESS:
        world.instead[COMPRESS] = says('{"relevance": 99, "summary": "x", "passage": 4, "passage": 4}')
        _reads_the_whole_text(world, "malformed")
    elif stage == FUSION:
        for name in ("vector", "keyword"):
            world.break_layer(name, lambda _: [key, 999_999_999, key])
        (item,) = world.search("vector", "keyword").items
        assert item.ranks == {"vector": 1, "keyword": 1}
    else:
        world.break_layer(stage, lambda _: [key, key, 999_999_999])
        result = world.search(stage)
        assert status_of(result, stage) == "ok"
        assert [item.chunk_pk for item in result.items] == [key]
        assert result.items[0].ranks == {stage: 1}


def stale_version(world: World, stage: str) -> None:
    other = EmbeddingVersion.objects.create(name="other", dimensions=384)
    if stage == "community":
        Community.objects.update(version=other)
        result = world.search(stage)
        assert result.communities == ()
        assert result.items == ()
    else:
        ChunkEmbedding.objects.filter(document=world.documents["Straw"]).update(version=other)
        result = world.search(stage)
        assert "Straw" not in {item.title for item in result.items}
        assert "Silage" in {item.title for item in result.items}
    assert result.degraded == ()


def nothing_there(world: World, stage: str) -> None:
    if stage in (FUSION, ANSWER):
        Document.objects.all().delete()
        result = world.search()
        assert {str(trace.status) for trace in result.traces} == {"empty"}
        assert result.items == ()
        if stage == ANSWER:
            world.server.requests.clear()
            row = world.answer()
            assert (row.state, row.finish, row.text) == ("done", "no_sources", engine.NO_SOURCES_TEXT)
            assert world.server.requests == []
        return
    if stage in ("vector", "hyde"):
        ChunkEmbedding.objects.all().delete()
    elif stage == "graph":
        Mention.objects.all().delete()
    elif stage == "community":
        Community.objects.all().delete()
    question = "Zeolite?" if stage == "keyword" else QUESTION
    result = world.search(stage, question=question)
    assert status_of(result, stage) == "empty"
    assert (result.items, result.degraded) == ((), ())


def ten_times_slower(world: World, stage: str) -> None:
    started = time.monotonic()
    if stage in LAYERS:
        world.profile("deep", SECONDS)
        world.break_layer(stage, _slowly)
        world.search()
        started = time.monotonic()
        goes_on_without(world, stage, "timeout")
        assert time.monotonic() - started <= SECONDS * 1.1 + GRACE
    elif stage == ANSWER:
        world.patch.setattr("answers.writers.DEADLINE_SECONDS", SECONDS)
        world.instead[ANSWER] = HANGS
        fails_with_its_sources(world.answer(), "model_failed", "timeout")
        assert time.monotonic() - started <= SECONDS * 2.2 + GRACE
    else:
        world.instead[stage] = HANGS
        if stage == RERANK:
            _keeps_the_fused_order(world)
        else:
            _reads_the_whole_text(world, "timeout")
        assert time.monotonic() - started <= SECONDS * 4 * 1.1 + GRACE


def _slowly(session: Session) -> Sequence[int]:
    """Ask again and again, each time within the limit."""
    until = time.monotonic() + SECONDS * 10
    while time.monotonic() < until:
        session.rows("SELECT pg_sleep(0.05)", [])
    return []


OUTCOMES: dict[str, Callable[[World, str], None]] = {
    "empty scope": empty_scope,
    "scope unknown": scope_unknown,
    "statement late": statement_late,
    "connection lost": connection_lost,
    "call fails": call_fails,
    "garbage": garbage,
    "ineligible": ineligible,
    "odd ids": odd_ids,
    "stale version": stale_version,
    "nothing there": nothing_there,
    "ten times slower": ten_times_slower,
}


def test_there_are_as_many_cells_as_the_plan_has() -> None:
    assert len(CELLS) == len(set(CELLS)) == 72
    assert len(CELLS) * len(SCOPES) == 144
    assert OUTCOMES.keys() == MATRIX.keys()
    assert set(SAMPLE) <= set(CELLS)


@pytest.mark.parametrize("name", SCOPES)
@pytest.mark.parametrize(("fault", "stage"), SAMPLE)
def test_a_sample_of_faults_of_layers_ends_as_it_must(
    make_world: Callable[[str], World], fault: str, stage: str, name: str
) -> None:
    OUTCOMES[fault](make_world(name), stage)


def test_an_answer_that_loses_its_connection_is_stored_as_broken_off(
    make_world: Callable[[str], World],
) -> None:
    connection_lost(make_world("everything"), ANSWER)


@pytest.mark.long
@pytest.mark.parametrize("name", SCOPES)
@pytest.mark.parametrize(("fault", "stage"), CELLS)
def test_a_fault_of_a_layer_ends_as_it_must(
    make_world: Callable[[str], World], fault: str, stage: str, name: str
) -> None:
    OUTCOMES[fault](make_world(name), stage)
