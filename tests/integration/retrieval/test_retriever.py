"""The door to retrieval: the denied short cut, items, supersession, collapse, and degraded layers."""

from __future__ import annotations

import json
from time import monotonic, sleep
from typing import Any

import pytest
from django.db import connection

from corpus.gateways import embedding
from corpus.gateways.embedding import EmbeddingError
from corpus.models import Document
from corpus.scope import scope
from retrieval import retriever
from retrieval.layers.base import LayerRequest, Session
from retrieval.profiles import UnknownProfile
from retrieval.request import InvalidRequest
from retrieval.retriever import RetrievalFailed, retrieve
from retrieval.types import RankedList, StageStatus
from tests.factories.corpus import SourceFactory
from tests.integration.retrieval.corpora import add

pytestmark = pytest.mark.django_db(transaction=True)

METHANE = "Rice straw gave 230 litres of methane per kilogram of volatile solids."
BIOCHAR = "Biochar at 20 t/ha raised the yield of maize."
QUESTION = "How much methane does rice straw give?"


def statuses(result: Any) -> dict[str, str]:
    return {trace.stage: str(trace.status) for trace in result.traces}


@pytest.mark.parametrize("part", ["license_classes", "buckets", "authors", "journals"])
def test_a_scope_that_allows_nothing_touches_no_table_and_no_model(
    part: str, statements: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    add("Paper", [METHANE])
    statements.clear()
    monkeypatch.setattr(embedding, "embed_query", lambda *_, **__: pytest.fail("embedded"))

    result = retrieve(question=QUESTION, scope=scope(**{part: []}))

    assert statements == []
    assert statuses(result) == {"scope": "denied"}
    assert result.items == ()
    assert result.eligible.passages == 0


def test_an_item_carries_the_provenance_a_reader_needs() -> None:
    source = SourceFactory(is_retracted=True)
    document = add(
        "Straw digestion", [BIOCHAR, METHANE], source=source, doi="10.1234/ABC", authors=["A B", "C D", "E F"]
    )

    result = retrieve(question=QUESTION, scope=scope(), limit=1)
    (item,) = result.items

    assert item.body == METHANE
    assert item.ordinal == 1
    assert item.ranks == {"keyword": 1, "vector": 1}
    assert item.score == pytest.approx(1.6 / 61)
    assert item.document_id == str(document.pk)
    assert item.citation == "A B et al. (2020). Straw digestion. Journal of Biochar."
    assert item.doi == "10.1234/abc"
    assert item.badges == ("retracted",)
    assert item.embedding_version == result.embedding_version == "all-MiniLM-L6-v2@384"
    assert len(result.fingerprint) == 64
    assert statuses(result) == {"vector": "ok", "keyword": "ok", "fusion": "ok"}
    json.dumps(result.as_dict())
    assert "chunk_pk" not in result.as_dict()["items"][0]


def test_traces_hold_no_words_of_question_or_passage() -> None:
    add("Paper", [METHANE])

    traces = json.dumps([trace.as_dict() for trace in retrieve(question=QUESTION, scope=scope()).traces])

    assert "methane" not in traces.lower()
    assert "straw" not in traces.lower()


def test_a_superseded_passage_keeps_half_its_score_and_says_why() -> None:
    new = add("New edition", [METHANE + " Second edition."])
    add("Old edition", [METHANE], status=Document.Status.SUPERSEDED, superseded_by=new)

    first, second = retrieve(question=METHANE, scope=scope()).items

    assert (first.title, second.title) == ("New edition", "Old edition")
    assert second.score == pytest.approx(1.6 / 61 / 2)
    assert second.adjustments == ("superseded: score x 0.50",)
    assert (second.superseded_by_id, second.superseded_by_title) == (str(new.pk), "New edition")
    assert first.adjustments == ()


def test_identical_passages_become_one_that_lists_the_others() -> None:
    add("First copy", [METHANE])
    add("Second copy", [METHANE])

    (item,) = retrieve(question=QUESTION, scope=scope()).items

    assert {item.title, item.also_in[0].title} == {"First copy", "Second copy"}
    assert item.also_in[0].document_id != item.document_id


def test_an_identical_passage_one_may_not_see_is_not_listed() -> None:
    add("Open copy", [METHANE], license_class="public")
    add("Closed copy", [METHANE], license_class="restricted")

    (item,) = retrieve(question=QUESTION, scope=scope(license_classes=["public"])).items

    assert item.title == "Open copy"
    assert item.also_in == ()


def test_documents_a_year_bound_leaves_out_for_having_no_year_are_counted() -> None:
    add("Dated", [METHANE], year=2020)
    add("Undated", [BIOCHAR], year=None)

    eligible = retrieve(question=QUESTION, scope=scope(year_min=2000)).eligible

    assert (eligible.documents, eligible.passages, eligible.undated) == (1, 1, 1)


def test_an_empty_corpus_is_empty_and_not_an_error() -> None:
    result = retrieve(question=QUESTION, scope=scope())

    assert statuses(result) == {"vector": "empty", "keyword": "empty", "fusion": "empty"}
    assert result.degraded == ()


@pytest.mark.parametrize("limit", [0, -1, 51])
def test_a_limit_out_of_bounds_is_refused(limit: int) -> None:
    with pytest.raises(InvalidRequest):
        retrieve(question=QUESTION, scope=scope(), limit=limit)


@pytest.mark.parametrize("question", ["", " \n\x00", "a" * 2001])
def test_a_question_that_says_nothing_or_never_ends_is_refused(question: str) -> None:
    with pytest.raises(InvalidRequest):
        retrieve(question=question, scope=scope())


@pytest.mark.parametrize("name", ["deeper", "automatic", "", "Interactive"])
def test_a_profile_that_does_not_exist_is_refused_by_name(name: str) -> None:
    with pytest.raises(UnknownProfile, match="interactive"):
        retrieve(question=QUESTION, scope=scope(), profile=name)


# --- Layers that fail ------------------------------------------------------------------------


class _Layer:
    """A layer that does as the test says."""

    def __init__(self, name: str, act: Any, prepare: Any = None) -> None:
        self.name = name
        self._act = act
        self._prepare = prepare

    def prepare(self, request: LayerRequest) -> Any:
        return self._prepare() if self._prepare else None

    def candidates(self, request: LayerRequest, prepared: Any, session: Session) -> RankedList:
        return RankedList(self.name, tuple(self._act(session)))


def raising(error: Exception) -> Any:
    def act(*_: object, **__: object) -> Any:
        raise error

    return act


def sleeping(session: Session) -> list[int]:
    session.rows("SELECT pg_sleep(30)", [])
    return []


def killed(session: Session) -> list[int]:
    session.rows("SELECT pg_terminate_backend(pg_backend_pid())", [])
    return []


@pytest.fixture
def replace_layer(monkeypatch: pytest.MonkeyPatch) -> Any:
    def replace(layer: _Layer) -> None:
        monkeypatch.setitem(retriever._LAYERS, layer.name, layer)

    return replace


SCOPES = [scope(), scope(license_classes=["public"])]


@pytest.mark.parametrize("wanted", SCOPES, ids=["everything", "restricted"])
@pytest.mark.parametrize("name", retriever.profiles.LAYERS)
@pytest.mark.parametrize(
    ("act", "status"),
    [
        (raising(RuntimeError("secret question")), "error"),
        (raising(EmbeddingError("the provider is away")), "error"),
        (lambda session: session.rows("SELECT 1/0", []), "error"),
        (killed, "error"),
        (lambda _: [], "empty"),
        (lambda _: [999_999_999], "ok"),
    ],
)
def test_a_layer_that_fails_is_named_and_the_others_go_on(
    replace_layer: Any, name: str, act: Any, status: str, wanted: Any
) -> None:
    add("Paper", [METHANE], license_class="public")
    replace_layer(_Layer(name, act))

    result = retrieve(question=QUESTION, scope=wanted, profile="deep")

    assert statuses(result)[name] == status
    assert result.degraded == ((name,) if status == "error" else ())
    assert [item.body for item in result.items] == [METHANE]
    assert "secret" not in json.dumps(result.as_dict())


@pytest.mark.parametrize("name", retriever.profiles.LAYERS)
def test_a_slow_layer_is_cut_at_its_deadline_and_its_statement_cancelled(
    replace_layer: Any, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    add("Paper", [METHANE])
    retrieve(question=QUESTION, scope=scope())
    quick = retriever.profiles.Profile("deep", retriever.profiles.LAYERS, 0.5)
    monkeypatch.setitem(retriever.profiles.PROFILES, "deep", quick)
    replace_layer(_Layer(name, sleeping))

    result = retrieve(question=QUESTION, scope=scope(), profile="deep")

    trace = next(trace for trace in result.traces if trace.stage == name)
    assert trace.status is StageStatus.TIMEOUT
    assert 450 <= trace.milliseconds < 1500
    assert name in result.degraded
    assert [item.body for item in result.items] == [METHANE]
    with connection.cursor() as cursor:
        # Other databases of the server belong to tests that run beside this one.
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity"
            " WHERE datname = current_database() AND query LIKE 'SELECT pg_sleep%'"
        )
        assert cursor.fetchone() == (0,)


def test_a_question_that_cannot_be_embedded_is_answered_by_words(monkeypatch: pytest.MonkeyPatch) -> None:
    add("Paper", [METHANE])
    monkeypatch.setattr(embedding, "embed_query", raising(EmbeddingError("the provider is away")))

    result = retrieve(question=QUESTION, scope=scope())

    assert statuses(result)["vector"] == "error"
    assert result.traces[0].reason == "the provider is away"
    assert [item.ranks for item in result.items] == [{"keyword": 1}]


def test_the_version_in_the_database_embeds_the_question_whatever_the_settings_name(settings: Any) -> None:
    add("Paper", [METHANE])
    settings.SCI_RAG_EMBEDDING_MODEL = "openai/another"
    settings.SCI_RAG_EMBEDDING_DIMENSIONS = 512

    result = retrieve(question=QUESTION, scope=scope())

    assert result.degraded == ()
    assert result.embedding_version == "all-MiniLM-L6-v2@384"
    assert result.items[0].ranks["vector"] == 1


def test_an_ineligible_id_from_a_broken_layer_never_becomes_an_item(replace_layer: Any) -> None:
    closed = add("Closed", [METHANE], license_class="restricted")
    add("Open", [BIOCHAR], license_class="public")
    key = closed.chunks.get().pk
    replace_layer(_Layer("vector", lambda _: [key]))

    result = retrieve(question=QUESTION, scope=scope(license_classes=["public"]))

    assert str(closed.pk) not in json.dumps(result.as_dict())
    assert METHANE not in json.dumps(result.as_dict())


def test_eligibility_that_cannot_be_read_fails_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    from django.db import OperationalError

    monkeypatch.setattr(retriever.eligibility, "read", raising(OperationalError("gone")))

    with pytest.raises(RetrievalFailed):
        retrieve(question=QUESTION, scope=scope())


def test_no_connection_is_held_while_the_question_is_embedded(replace_layer: Any) -> None:
    add("Paper", [METHANE])
    held: list[int] = []

    def look() -> None:
        stats = connection.pool.get_stats()
        held.append(stats["pool_size"] - stats["pool_available"])

    replace_layer(_Layer("vector", lambda _: [], prepare=look))
    replace_layer(_Layer("keyword", lambda _: []))
    retrieve(question=QUESTION, scope=scope())

    # The other layer may be at its work at that moment; the request itself holds none.
    assert held[0] <= 1


def test_connections_come_back_after_successes_failures_and_timeouts(
    replace_layer: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    add("Paper", [METHANE])
    quick = retriever.profiles.Profile("interactive", ("vector", "keyword"), 0.05)
    for act in (raising(RuntimeError()), killed, sleeping, lambda _: []):
        replace_layer(_Layer("vector", act))
        monkeypatch.setitem(retriever.profiles.PROFILES, "interactive", quick)
        for _ in range(5):
            retrieve(question=QUESTION, scope=scope())
    assert_all_connections_are_back()


@pytest.mark.long
def test_after_a_thousand_requests_with_broken_layers_no_connection_is_missing(
    replace_layer: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    add("Paper", [METHANE])
    quick = retriever.profiles.Profile("deep", retriever.profiles.LAYERS, 0.1)
    monkeypatch.setitem(retriever.profiles.PROFILES, "deep", quick)
    faults = (raising(RuntimeError()), killed, sleeping, lambda _: [])
    for number in range(1000):
        name = retriever.profiles.LAYERS[number % len(retriever.profiles.LAYERS)]
        with monkeypatch.context() as patch:
            patch.setitem(
                retriever._LAYERS,
                name,
                _Layer(name, faults[number // len(retriever.profiles.LAYERS) % len(faults)]),
            )
            retrieve(question=QUESTION, scope=scope(), profile="deep")

    assert_all_connections_are_back()


def assert_all_connections_are_back() -> None:
    """Give the pool a moment to put a new connection where one was killed."""
    pool = connection.pool
    connection.close()
    until = monotonic() + 10
    while (stats := pool.get_stats())["pool_available"] < stats["pool_size"] and monotonic() < until:
        sleep(0.05)
    assert stats["pool_available"] == stats["pool_size"]
    assert stats.get("requests_waiting", 0) == 0
