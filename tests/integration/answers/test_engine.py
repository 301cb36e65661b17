"""The engine on a real database: what is told, what is stored, and what survives a failure."""

import dataclasses
import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import OperationalError, connection

from answers import engine, reading
from answers.events import AnswerEvent, EventName
from answers.models import Answer, Finding
from answers.turns import Turn
from answers.writers import EngineUnavailable
from corpus.models import Document
from corpus.rights import LicenseClass
from corpus.scope import RetrievalScope, scope
from retrieval.profiles import UnknownProfile
from retrieval.request import InvalidRequest
from retrieval.types import RetrievalResult, StageStatus
from tests.loopback.fixtures import KEY_CANARY, forget_clients
from tests.loopback.openai_server import HANGS, HTML, NOT_JSON, OpenAIServer, Reply, fails, says

pytestmark = pytest.mark.django_db(transaction=True)
QUESTION = "What is the methane yield of rice straw?"
ANSWERS = scope(exclude_retracted=True)
# Slow enough that each piece is handed over by itself.
GOOD = says("Rice straw yields ", "210 L/kg of volatile ", "solids [1].", pause=0.12)


@pytest.fixture(scope="module", autouse=True)
def _close_clients() -> Iterator[None]:
    yield
    forget_clients()


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("corpus.gateways.llm._PAUSE", 0.01)


def told(
    question: str = QUESTION, requested: RetrievalScope = ANSWERS, by: User | None = None, **kw
) -> list[AnswerEvent]:
    return list(engine.ask(question=question, requested=requested, by=by, **kw))


def names(events: list[AnswerEvent]) -> list[str]:
    return [event.name.value for event in events]


def text_of(events: list[AnswerEvent]) -> str:
    return "".join(event.data["text"] for event in events if event.name == EventName.DELTA)


def stored(events: list[AnswerEvent]) -> Answer:
    return Answer.objects.get(pk=events[0].data["answer"])


# --- The extractive engine ---------------------------------------------------------------------


@pytest.mark.usefixtures("small_corpus")
def test_without_a_model_the_answer_is_a_verbatim_quotation(asker: User) -> None:
    events = told(by=asker)

    row = stored(events)
    assert names(events) == [
        "retrieval_started", "retrieval_done", "generation_started", "delta", "citations", "done",
    ]  # fmt: skip
    assert row.text == text_of(events)
    assert "“The methane yield of rice straw was 210 L/kg of volatile solids.” [1]" in row.text
    assert (row.state, row.finish, row.engine) == ("done", "stop", "extractive")
    assert row.sources.get(number=1).is_cited
    assert set(row.findings.values_list("kind", flat=True)) == {Finding.Kind.SUPPORTED}


@pytest.mark.usefixtures("small_corpus")
def test_a_row_of_a_table_is_quoted_under_its_head(asker: User) -> None:
    row = stored(told("How much ash does corn stover contain?", by=asker))

    assert "| Corn stover | 5.8 | 18.6 |" in row.text
    assert "| Residue | Ash (% of dry mass) | Lignin (%) |" in row.text
    assert "Rice straw" not in row.text


@pytest.mark.usefixtures("small_corpus")
@pytest.mark.parametrize(
    "question",
    ["How many satellites watch vineyards in Patagonia?", "Which bridge collapsed in Genoa and when?"],
)
def test_what_no_passage_answers_is_refused(asker: User, question: str) -> None:
    row = stored(told(question, by=asker))

    assert (row.state, row.finish) == ("done", "not_covered")
    assert not row.sources.filter(is_cited=True).exists()


@pytest.mark.usefixtures("small_corpus")
def test_the_record_names_everything_needed_to_repeat_the_answer(asker: User) -> None:
    row = stored(told(by=asker))

    assert row.asked_by == asker
    assert row.effective_scope["license_classes"] == ["public", "open_commercial", "open_noncommercial"]
    assert row.requested_scope["license_classes"] is None
    assert row.embedding_version == "all-MiniLM-L6-v2@384"
    assert len(row.fingerprint) == 64
    assert (row.eligible_documents, row.eligible_passages) == (3, 3)
    assert {trace["stage"] for trace in row.traces} >= {"vector", "keyword"}
    assert row.model_parameters["threshold"] > 0
    assert row.timings.keys() == {"retrieval", "generation", "total"}
    assert row.finished_at is not None


# --- Scope -------------------------------------------------------------------------------------


@pytest.mark.usefixtures("small_corpus")
def test_what_the_asker_may_not_see_enters_no_prompt_and_no_event(
    asker: User, configured_model: OpenAIServer
) -> None:
    configured_model.will(GOOD)

    events = told(by=asker)

    (request,) = configured_model.requests
    everything = json.dumps([dataclasses.asdict(event) for event in events]) + request.prompt
    assert "377 L/kg" not in everything
    assert "Calder" not in everything
    assert "Zanzibar" not in everything


@pytest.mark.usefixtures("small_corpus")
def test_the_operator_at_the_command_line_sees_everything() -> None:
    events = told(by=None)

    assert "Calder pilot plant" in [source["title"] for source in events[1].data["sources"]]


@pytest.mark.usefixtures("small_corpus")
def test_an_empty_allowlist_is_refused_without_touching_a_table(
    asker: User, configured_model: OpenAIServer
) -> None:
    events = engine.ask(question=QUESTION, requested=scope(license_classes=[]), by=asker)
    seen: list[AnswerEvent] = [next(events)]
    with connection.execute_wrapper(_only_answers):
        seen += list(events)

    row = stored(seen)
    assert (row.state, row.finish) == ("done", "no_sources")
    assert row.text == text_of(seen) == engine.NO_SOURCES_TEXT
    assert [trace["status"] for trace in row.traces] == ["denied"]
    assert configured_model.requests == []


def _only_answers(execute: Any, sql: str, params: Any, many: Any, context: Any) -> Any:
    assert "corpus_" not in sql
    return execute(sql, params, many, context)


@pytest.mark.usefixtures("small_corpus")
def test_nothing_in_scope_is_refused_without_a_model_call(
    asker: User, configured_model: OpenAIServer
) -> None:
    row = stored(told(by=asker, requested=scope(buckets=["nowhere"])))

    assert (row.state, row.finish) == ("done", "no_sources")
    assert configured_model.requests == []


@pytest.mark.parametrize(
    ("status", "finish"),
    [(StageStatus.TIMEOUT, "retrieval_timeout"), (StageStatus.ERROR, "retrieval_failed")],
)
def test_when_no_layer_finishes_the_layers_are_named(
    small_corpus: dict[str, Document],
    asker: User,
    monkeypatch: pytest.MonkeyPatch,
    status: StageStatus,
    finish: str,
) -> None:
    real = engine.retrieve

    def broken(**request: object) -> RetrievalResult:
        result = real(**request)  # type: ignore[arg-type]
        traces = tuple(
            dataclasses.replace(trace, status=StageStatus.EMPTY if trace.stage == "fusion" else status)
            for trace in result.traces
        )
        return dataclasses.replace(result, items=(), traces=traces, degraded=("vector", "keyword"))

    monkeypatch.setattr(engine, "retrieve", broken)

    events = told(by=asker)

    row = stored(events)
    assert (row.state, row.finish) == ("failed", finish)
    assert events[-1].name == EventName.ERROR
    assert "vector, keyword" in events[-1].data["message"]


def test_a_passage_that_falls_out_of_scope_after_retrieval_is_dropped(
    small_corpus: dict[str, Document], asker: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = engine.retrieve

    def slow(**request: object) -> RetrievalResult:
        result = real(**request)  # type: ignore[arg-type]
        Document.objects.filter(pk=small_corpus["straw"].pk).update(license_class="restricted")
        return result

    monkeypatch.setattr(engine, "retrieve", slow)

    row = stored(told(by=asker))

    assert str(small_corpus["straw"].pk) not in {str(source.document_id) for source in row.sources.all()}
    assert "210" not in row.text


# --- The model engine --------------------------------------------------------------------------


@pytest.mark.usefixtures("small_corpus")
def test_a_model_streams_and_what_is_stored_is_what_was_streamed(
    asker: User, configured_model: OpenAIServer
) -> None:
    configured_model.will(GOOD)

    events = told(by=asker)

    row = stored(events)
    assert [e.data["text"] for e in events if e.name == EventName.DELTA] == list(GOOD.pieces)
    assert row.text == text_of(events)
    assert (row.state, row.finish, row.engine, row.model) == ("done", "stop", "model", "openai/test-model")
    assert (row.prompt_tokens, row.completion_tokens) == (11, 7)
    assert len(row.prompt_sha256) == len(row.model_parameters["orders_sha256"]) == 64
    assert row.findings.get().kind == Finding.Kind.SUPPORTED
    assert KEY_CANARY not in json.dumps(row.model_parameters)


@pytest.mark.usefixtures("small_corpus")
def test_sources_are_fenced_and_numbered_in_the_prompt_as_they_are_stored(
    asker: User, configured_model: OpenAIServer
) -> None:
    configured_model.will(GOOD)

    row = stored(told(by=asker))

    prompt = configured_model.requests[0].prompt
    first = row.sources.get(number=1)
    assert f'number="1">\nTitle: {first.title}' in prompt
    assert "for 40 days ⟦12⟧" in prompt
    assert prompt.index("Again, the rules") < prompt.index(QUESTION)


@pytest.mark.usefixtures("small_corpus")
def test_findings_point_into_the_stored_text(asker: User, configured_model: OpenAIServer) -> None:
    configured_model.will(
        says("Rice straw yields 210 L/kg of volatile solids [1]. It yields 999 L/kg [1]. So [9]. And so.")
    )

    row = stored(told(by=asker))

    found = [(row.text[f.start : f.end], f.kind) for f in row.findings.order_by("sentence", "id")]
    assert found == [
        ("Rice straw yields 210 L/kg of volatile solids [1].", "supported"),
        ("It yields 999 L/kg [1].", "number_not_in_source"),
        ("So [9].", "cites_unretrieved"),
        ("And so.", "uncited"),
    ]


@pytest.mark.usefixtures("small_corpus")
@pytest.mark.parametrize(
    ("said", "finish"),
    [
        ("Everybody knows that it is 210 L/kg.", "uncited"),
        ("It is 210 L/kg [17].", "uncited"),
        ("The sources do not answer this question. They cover rice straw [1].", "not_covered"),
    ],
)
def test_a_text_that_names_no_source_is_no_answer(
    asker: User, configured_model: OpenAIServer, said: str, finish: str
) -> None:
    configured_model.will(says(said))

    row = stored(told(by=asker))

    assert (row.state, row.finish) == ("done", finish)
    assert not reading.readable(row, asker).answered


BROKEN = {
    "hanging": (HANGS, "timeout"),
    "silent half-way": (says("Rice straw yields ", ending="silence"), "timeout"),
    "429": (fails(429), "rate_limited"),
    "500": (fails(500), "unavailable"),
    "401": (fails(401), "rejected"),
    "html": (HTML, "garbage"),
    "not json": (NOT_JSON, "garbage"),
    "cut": (says("Rice straw yields ", ending="cut"), "unavailable"),
    "reset": (says("Rice straw yields ", ending="reset"), "unavailable"),
    "too long": (says("Rice straw yields ", ending="length"), "cut_off"),
}


@pytest.mark.usefixtures("small_corpus")
@pytest.mark.parametrize("case", BROKEN)
def test_when_the_model_breaks_nothing_is_lost_and_quotations_are_offered(
    asker: User,
    configured_model: OpenAIServer,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    case: str,
) -> None:
    reply, code = BROKEN[case]
    monkeypatch.setattr("answers.writers.DEADLINE_SECONDS", 3.0)
    caplog.set_level(logging.DEBUG)
    configured_model.will(reply)

    events = told(by=asker)

    row = stored(events)
    error = events[-1]
    assert error.name == EventName.ERROR
    assert error.data["code"] == row.error == code
    assert error.data["offer"] == "extractive"
    assert row.finish == "model_failed"
    assert row.text == text_of(events)
    assert row.state == ("partial" if reply.pieces else "failed")
    assert row.sources.count() == 3
    logged = " ".join(record.getMessage() for record in caplog.records)
    assert KEY_CANARY not in logged + str(error.data) + row.error
    assert QUESTION not in logged

    instead = told(by=asker, engine="extractive", turn=Turn(instead_of=row))

    assert "210 L/kg" in text_of(instead)
    assert list(row.alternatives.all()) == [stored(instead)]


@pytest.mark.usefixtures("small_corpus")
def test_a_client_that_leaves_keeps_what_was_written(asker: User, configured_model: OpenAIServer) -> None:
    configured_model.will(Reply(pieces=("Rice straw ", "yields ") * 50, pause=0.02))
    events = engine.ask(question=QUESTION, requested=ANSWERS, by=asker)
    seen = []
    for event in events:
        seen.append(event)
        if len(text_of(seen)) > 30:
            break

    events.close()

    row = stored(seen)
    assert (row.state, row.finish, row.error) == ("partial", "cancelled", "cancelled")
    assert row.text == text_of(seen)


@pytest.mark.usefixtures("small_corpus")
def test_no_connection_is_held_while_the_model_writes(asker: User, configured_model: OpenAIServer) -> None:
    configured_model.will(GOOD)
    events = engine.ask(question=QUESTION, requested=ANSWERS, by=asker)

    held = [connection.connection is not None for event in events if event.name == EventName.DELTA]

    assert held == [False] * len(GOOD.pieces)


@pytest.mark.usefixtures("small_corpus")
def test_a_long_answer_is_kept_while_it_is_written(
    asker: User, configured_model: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "_CHECKPOINT_SECONDS", 0.0)
    configured_model.will(says("Rice straw ", "yields 210 L/kg [1]."))
    events = engine.ask(question=QUESTION, requested=ANSWERS, by=asker)
    seen = [next(events) for _ in range(4)]

    row = stored(seen)

    # Pieces that arrive close together are handed over as one.
    assert seen[-1].data["text"].startswith("Rice straw ")
    assert (row.state, row.text) == ("generating", seen[-1].data["text"])
    list(events)


@pytest.mark.usefixtures("small_corpus")
def test_a_database_that_is_busy_while_the_model_writes_costs_no_answer(
    asker: User, configured_model: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def busy(**_: object) -> None:
        raise OperationalError("no connection was free")

    monkeypatch.setattr(engine, "_CHECKPOINT_SECONDS", 0.0)
    monkeypatch.setattr("answers.engine.actions.record_progress", busy)
    configured_model.will(GOOD)

    row = stored(told(by=asker))

    assert (row.state, row.finish, row.text) == ("done", "stop", "".join(GOOD.pieces))


@pytest.mark.usefixtures("small_corpus")
def test_hidden_characters_of_a_model_are_neither_streamed_nor_stored(
    asker: User, configured_model: OpenAIServer
) -> None:
    configured_model.will(says("Rice\u202e straw\x00 \U000e0041yields\u200b 210 L/kg [1]."))

    events = told(by=asker)

    assert stored(events).text == text_of(events) == "Rice straw yields 210 L/kg [1]."


# --- What cannot be asked ----------------------------------------------------------------------


@pytest.mark.parametrize("question", ["", "  \n ", "\x00\u200b", "x" * 2001])
def test_a_question_that_cannot_be_asked_is_refused_before_anything_is_stored(question: str) -> None:
    with pytest.raises(InvalidRequest):
        engine.ask(question=question, requested=ANSWERS, by=None)

    assert not Answer.objects.exists()


def test_an_engine_that_is_not_configured_and_a_profile_that_does_not_exist_are_refused() -> None:
    with pytest.raises(EngineUnavailable, match="SCI_RAG_LLM_MODEL"):
        engine.ask(question=QUESTION, requested=ANSWERS, by=None, engine="model")
    with pytest.raises(EngineUnavailable, match="oracle"):
        engine.ask(question=QUESTION, requested=ANSWERS, by=None, engine="oracle")
    with pytest.raises(UnknownProfile):
        engine.ask(question=QUESTION, requested=ANSWERS, by=None, profile="guess")

    assert not Answer.objects.exists()


@pytest.mark.usefixtures("small_corpus")
def test_a_nul_in_the_question_does_no_harm(asker: User) -> None:
    row = stored(told("What is the \x00methane yield of\ud800 rice straw?", by=asker))

    assert row.question == "What is the methane yield of rice straw?"
    assert row.finish == "stop"


def test_retracted_work_is_left_out_by_default_and_badged_when_included(
    small_corpus: dict[str, Document], asker: User
) -> None:
    source = small_corpus["straw"].source
    source.is_retracted = True
    source.save()

    default = stored(told(by=asker))
    inspected = stored(told(by=asker, requested=scope()))

    assert not default.sources.filter(document=small_corpus["straw"]).exists()
    assert inspected.sources.get(document=small_corpus["straw"]).badges == ["retracted"]


def test_restricted_documents_answer_a_librarian(small_corpus: dict[str, Document], librarian: User) -> None:
    row = stored(told("What is the methane yield of the Calder pilot plant?", by=librarian))

    assert "377 L/kg" in row.text
    assert row.sources.get(document=small_corpus["secret"]).license_class == LicenseClass.RESTRICTED
