"""Searching and answering by key: what the pages do, with the key's rights and as JSON."""

import json
from collections.abc import Iterator

import pytest
from django.contrib.auth.models import User
from django.test import Client

from answers import admission
from answers.api.shapes import AnswerTold
from answers.models import Answer
from corpus.models import Document
from corpus.rights import LicenseClass
from corpus.scope import Ceiling
from retrieval.api.shapes import Search
from tests.factories.keys import make_key
from tests.integration.api.calling import Api, events_of
from tests.loopback.fixtures import forget_clients
from tests.loopback.openai_server import OpenAIServer, fails, says

pytestmark = pytest.mark.django_db(transaction=True)
QUESTION = "What is the methane yield of rice straw?"


@pytest.fixture(scope="module", autouse=True)
def _close_clients() -> Iterator[None]:
    yield
    forget_clients()


def test_a_search_says_what_the_command_says(asker: User, small_corpus: dict[str, Document]) -> None:
    response = Api.of(asker).post("/query", {"query": QUESTION, "top_k": 2})

    told = response.json()
    assert response.status_code == 200
    assert Search.model_validate(told).items[0].title == "Methane from rice straw"
    assert len(told["items"]) <= 2
    assert told["eligible"]["documents"] == 3
    assert {trace["stage"] for trace in told["traces"]} >= {"vector", "keyword", "fusion"}
    assert "Zanzibar" not in response.content.decode()


def test_the_rights_are_the_owners_met_with_the_keys(
    librarian: User,
    small_corpus: dict[str, Document],
) -> None:
    wide, narrow = (
        Api.of(librarian),
        Api(make_key(librarian, ceiling=Ceiling((LicenseClass.PUBLIC,), None)).secret.reveal()),
    )

    assert "Zanzibar" in wide.post("/query", {"query": QUESTION}).content.decode()
    told = narrow.post("/query", {"query": QUESTION}).json()
    assert told["items"] == []
    assert told["scope"]["license_classes"] == ["public"]
    answered = narrow.post("/answer", {"query": QUESTION}).json()
    assert (answered["answered"], answered["finish"]) == (False, "no_sources")


@pytest.mark.parametrize("classes", [["restricted"], ["public", "unknown", "restricted"]])
def test_a_request_cannot_ask_for_more_than_its_key_may_see(
    asker: User,
    small_corpus: dict[str, Document],
    classes: list[str],
) -> None:
    response = Api.of(asker).post("/query", {"query": QUESTION, "scope": {"license_classes": classes}})

    assert response.status_code == 200
    assert "Zanzibar" not in response.content.decode()


def test_an_empty_list_allows_nothing_and_null_does_not_restrict(
    asker: User,
    small_corpus: dict[str, Document],
) -> None:
    api = Api.of(asker)

    nothing = api.post("/query", {"query": QUESTION, "scope": {"buckets": []}}).json()
    everything = api.post("/query", {"query": QUESTION, "scope": {"buckets": None}}).json()

    assert [trace["status"] for trace in nothing["traces"]] == ["denied"]
    assert everything["items"]


def test_an_answer_is_whole_stored_and_its_askers(asker: User, small_corpus: dict[str, Document]) -> None:
    response = Api.of(asker).post("/answer", {"query": QUESTION})

    told = response.json()
    AnswerTold.model_validate(told)
    stored = Answer.objects.get(pk=told["answer_id"])
    assert response.status_code == 200
    assert told["answered"]
    assert (stored.asked_by, stored.text) == (asker, told["answer"])
    assert told["citations"][0]["title"] == "Methane from rice straw"
    assert told["items"][told["citations"][0]["number"] - 1]["id"] == told["citations"][0]["id"]
    start, end = told["citations"][0]["marks"][0]
    assert told["answer"][start:end].startswith("[")


@pytest.mark.parametrize("by_header", [True, False])
def test_a_stream_tells_the_events_in_their_order_and_is_what_is_stored(
    asker: User,
    small_corpus: dict[str, Document],
    configured_model: OpenAIServer,
    by_header: bool,
) -> None:
    configured_model.will(says("The yield was ", "210 L/kg [1]."))
    body = {"query": QUESTION} | ({} if by_header else {"stream": True})
    headers = {"Accept": "text/event-stream"} if by_header else {}

    response = Api.of(asker).post("/answer", body, **headers)
    events = events_of(response)

    assert response.headers["Content-Type"] == "text/event-stream"
    names = [name for name, _ in events]
    assert list(dict.fromkeys(names)) == [
        "retrieval_started", "retrieval_done", "generation_started", "delta", "citations", "done",
    ]  # fmt: skip
    stored = Answer.objects.get(pk=events[0][1]["answer"])
    assert "".join(data["text"] for name, data in events if name == "delta") == stored.text
    assert events[-1][1]["answered"]


def test_a_model_that_fails_is_a_problem_and_what_it_wrote_is_kept(
    asker: User,
    small_corpus: dict[str, Document],
    configured_model: OpenAIServer,
) -> None:
    configured_model.will(fails(500))
    api = Api.of(asker)

    whole = api.post("/answer", {"query": QUESTION})
    streamed = events_of(api.post("/answer", {"query": QUESTION, "stream": True}))

    told = whole.json()
    assert whole.status_code == 502
    assert whole.headers["Content-Type"] == "application/problem+json"
    assert (told["code"], told["offer"]) == ("generation_failed", "extractive")
    assert Answer.objects.get(pk=told["answer_id"]).asked_by == asker
    assert streamed[-1][0] == "error"
    assert streamed[-1][1]["code"] == told["reason"]


def test_a_model_that_is_not_there_is_not_asked_for(asker: User) -> None:
    response = Api.of(asker).post("/answer", {"query": QUESTION, "engine": "model"})

    assert (response.status_code, response.json()["code"]) == (503, "llm_unavailable")


def test_a_site_that_is_full_says_when_to_come_back(asker: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(admission, "MOST_AT_ONCE", 0)

    response = Api.of(asker).post("/answer", {"query": QUESTION})

    assert (response.status_code, response.json()["code"]) == (503, "llm_unavailable")
    assert response.headers["Retry-After"] == str(admission.RETRY_AFTER_SECONDS)


def test_a_key_answers_only_for_who_may_ask(asker: User) -> None:
    asker.groups.clear()

    response = Api.of(asker).post("/answer", {"query": QUESTION})

    assert (response.status_code, response.json()["code"]) == (403, "insufficient_scope")


def test_a_session_does_not_authenticate(client: Client, librarian: User) -> None:
    client.force_login(librarian)

    response = client.post("/api/v1/query", json.dumps({"query": QUESTION}), content_type="application/json")

    assert (response.status_code, response.json()["code"]) == (401, "missing_key")
    assert "Set-Cookie" not in response.headers
