"""Asking by form, the stored answer's page and the history."""

import re
import uuid
from collections.abc import Iterator

import pytest
from asgiref.sync import async_to_sync
from django.contrib.auth.models import User
from django.db import OperationalError, connection
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from answers import admission
from answers.conversations import Conversation
from answers.models import Answer, Finding
from corpus.actions import rights
from corpus.models import Document
from retrieval import profiles
from tests.factories.corpus import DocumentFactory
from tests.loopback.fixtures import forget_clients
from tests.loopback.openai_server import OpenAIServer, fails, says

pytestmark = pytest.mark.django_db(transaction=True)
QUESTION = "What is the methane yield of rice straw?"


@pytest.fixture(scope="module", autouse=True)
def _close_clients() -> Iterator[None]:
    yield
    forget_clients()


@pytest.fixture
def reader(client: Client, asker: User) -> Client:
    client.force_login(asker)
    return client


async def drained(response: HttpResponse) -> str:
    return b"".join([piece async for piece in response.streaming_content]).decode()  # type: ignore[attr-defined]


def streamed(client: Client, **data: str) -> str:
    response = client.post(reverse("answer_stream"), data, headers={"HX-Request": "true"})
    assert response.headers["Content-Type"] == "text/event-stream"
    assert response.headers["X-Accel-Buffering"] == "no"
    return async_to_sync(drained)(response)


def asked(client: Client, **data: str) -> HttpResponse:
    return client.post(reverse("ask"), {"question": QUESTION} | data, follow=True)


def test_a_posted_question_is_answered_on_the_answers_own_page(
    reader: Client, small_corpus: dict[str, Document], asker: User
) -> None:
    response = asked(reader)

    answer = Answer.objects.get()
    assert response.redirect_chain == [(reverse("answer", args=[answer.id]), 302)]
    assert answer.asked_by == asker
    assert answer.effective_scope["exclude_retracted"] is True
    assert "210 L/kg" in response.text
    assert 'href="#source-1"' in response.text


@pytest.mark.parametrize(
    ("profile", "layers"),
    [
        ("", {"vector", "keyword"}),
        ("interactive", {"vector", "keyword"}),
        ("deep", set(profiles.LAYERS)),
        ("auto", {"vector", "keyword"}),
    ],
)
def test_a_question_is_searched_the_way_that_was_chosen(
    reader: Client, small_corpus: dict[str, Document], profile: str, layers: set[str]
) -> None:
    asked(reader, profile=profile)

    answer = Answer.objects.get()
    assert answer.profile == (profile or "interactive")
    assert {trace["stage"] for trace in answer.traces} & set(profiles.LAYERS) == layers


def test_the_stream_searches_the_way_that_was_chosen(
    reader: Client, small_corpus: dict[str, Document]
) -> None:
    streamed(reader, question=QUESTION, profile="deep")

    assert Answer.objects.get().profile == "deep"


def test_a_way_of_searching_that_does_not_exist_is_refused_and_the_page_keeps_the_one_chosen(
    reader: Client, small_corpus: dict[str, Document]
) -> None:
    assert asked(reader, profile="deepest").status_code == 422
    assert not Answer.objects.exists()
    page = reader.get(reverse("ask"), {"profile": "deep"}).text
    assert '<option value="deep" selected>' in page


def test_asking_needs_the_permission(client: Client, small_corpus: dict[str, Document]) -> None:
    client.force_login(User.objects.create_user("without_role"))

    assert client.get(reverse("ask")).status_code == 403
    assert asked(client).status_code == 403
    assert client.post(reverse("answer_stream"), {"question": QUESTION}).status_code == 403
    assert not Answer.objects.exists()


def test_a_question_without_a_word_is_refused_and_everything_typed_is_kept(
    reader: Client, small_corpus: dict[str, Document]
) -> None:
    response = asked(reader, question="?!", year_min="2019", rights="chosen", license_class="public")

    assert response.status_code == 422
    assert "Write a question first." in response.text
    assert ">?!</textarea>" in response.text
    assert 'value="2019"' in response.text
    assert re.search(r'name="license_class" value="public" checked', response.text)
    assert not Answer.objects.exists()


@pytest.mark.parametrize(
    "scope",
    [
        {"as_of": "2019-13"},
        {"year_min": "abc"},
        {"rights": "chosen", "license_class": "nonsense"},
        {"rights": "some"},
    ],
)
def test_a_scope_that_makes_no_sense_asks_nothing(
    reader: Client, small_corpus: dict[str, Document], scope: dict[str, str]
) -> None:
    assert asked(reader, **scope).status_code == 422
    assert reader.get(reverse("ask"), scope).status_code == 422
    assert reader.get(reverse("scope"), scope).status_code == 422
    assert reader.post(reverse("answer_stream"), {"question": QUESTION} | scope).status_code == 422
    assert not Answer.objects.exists()


def test_classes_chosen_with_none_ticked_allow_nothing(
    reader: Client, small_corpus: dict[str, Document]
) -> None:
    response = asked(reader, rights="chosen")

    assert Answer.objects.get().eligible_documents == 0
    assert "The scope leaves no document to search" in response.text


def test_the_form_cannot_raise_the_ceiling(reader: Client, small_corpus: dict[str, Document]) -> None:
    response = asked(
        reader, question="Who operates the Calder pilot plant?", rights="chosen", license_class="restricted"
    )

    assert Answer.objects.get().effective_scope["license_classes"] == []
    assert "Zanzibar" not in response.text
    assert Answer.objects.get().eligible_documents == 0


def test_the_stream_tells_the_steps_in_order(reader: Client, small_corpus: dict[str, Document]) -> None:
    text = streamed(reader, question=QUESTION)

    steps = ['class="question"', ">Searching<", 'id="source-1"', "#draft", "data-ended", "Answer ready"]
    places = [text.index(step) for step in steps]
    assert places == sorted(places)
    assert Answer.objects.get().state == Answer.State.DONE


def test_a_refusal_is_told_as_a_result_and_not_as_something_that_broke(
    reader: Client, small_corpus: dict[str, Document]
) -> None:
    told = streamed(reader, question="Which satellites watch vineyards in Patagonia?")

    assert Answer.objects.get().finish in {Answer.Finish.NOT_COVERED, Answer.Finish.NO_SOURCES}
    assert "Nothing found that answers" in told
    assert "Ended early" not in told


def test_every_line_of_the_stream_belongs_to_the_format(
    reader: Client, small_corpus: dict[str, Document]
) -> None:
    text = streamed(reader, question=QUESTION)

    assert all(line == "" or line.startswith("data: ") for line in text.split("\n"))


def test_a_fault_while_streaming_is_said_on_the_page(
    reader: Client, small_corpus: dict[str, Document], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*args: object, **kwargs: object) -> None:
        raise RuntimeError("canary-words-of-a-fault")

    monkeypatch.setattr("answers.pages.page_of", broken)

    text = streamed(reader, question=QUESTION)

    assert "Something went wrong on our side" in text
    assert "canary" not in text


def test_asking_again_without_the_model_keeps_question_and_scope(
    reader: Client, small_corpus: dict[str, Document], configured_model: OpenAIServer
) -> None:
    configured_model.will(fails(401))
    asked(reader, year_min="2019", include_retracted="on")
    failed = Answer.objects.get()

    response = asked(reader, question="", instead_of=str(failed.id))

    instead = Answer.objects.exclude(id=failed.id).get()
    assert (instead.engine, instead.instead_of, instead.question) == ("extractive", failed, QUESTION)
    assert instead.requested_scope == failed.requested_scope
    assert "210 L/kg" in response.text
    again = reader.get(reverse("answer", args=[failed.id])).text
    assert reverse("answer", args=[instead.id]) in again
    assert "Show the extractive answer" not in again


def test_another_persons_answer_cannot_be_asked_again(
    reader: Client, small_corpus: dict[str, Document], expert: User
) -> None:
    theirs = Answer.objects.create(
        asked_by=expert, question="Their question?", scope_digest="0", profile="interactive", engine="model"
    )

    response = asked(reader, question="", instead_of=str(theirs.id))
    prefilled = reader.get(reverse("ask"), {"from": str(theirs.id)})

    assert response.status_code == 422
    assert "Their question?" not in response.text + prefilled.text


def test_findings_stand_in_words_beside_the_sentence(
    reader: Client, small_corpus: dict[str, Document], configured_model: OpenAIServer
) -> None:
    configured_model.will(
        says(
            "The yield of rice straw was 210 L/kg of volatile solids [1]. It was 999 L/kg [1]. Cows fly [7]."
        )
    )

    text = asked(reader).text

    kinds = set(Finding.objects.values_list("kind", flat=True))
    assert {"number_not_in_source", "cites_unretrieved"} <= kinds
    assert "A number is not in the source" in text
    assert "Cites a source that was not retrieved" in text
    assert "[7?]" in text


def test_the_answer_page_says_what_was_searched(reader: Client, small_corpus: dict[str, Document]) -> None:
    text = asked(reader).text
    answer = Answer.objects.get()

    assert answer.fingerprint in text
    assert "a corpus of 3 documents" in text
    assert "retracted work left out" in text
    assert answer.embedding_version in text
    assert "Retrieved, not cited" in text


def test_the_text_goes_when_a_source_is_no_longer_the_readers(
    reader: Client, small_corpus: dict[str, Document], librarian: User
) -> None:
    asked(reader)
    answer = Answer.objects.get()
    rights.set_license(
        documents=[small_corpus["straw"]], license_class="restricted", by=librarian, evidence="letter"
    )

    text = reader.get(reverse("answer", args=[answer.id])).text

    assert "210 L/kg" not in text
    assert "Methane from rice straw" not in text
    assert "The text is not shown" in text
    assert "not available to you" in text


def test_an_answer_is_its_askers_and_the_librarians(
    reader: Client, small_corpus: dict[str, Document], expert: User, librarian: User
) -> None:
    asked(reader)
    address = reverse("answer", args=[Answer.objects.get().id])
    absent = reader.get(reverse("answer", args=[uuid.uuid4()]))

    reader.force_login(expert)
    refused = reader.get(address)
    reader.force_login(librarian)
    allowed = reader.get(address)

    assert refused.status_code == 404
    assert refused.content == absent.content
    assert "asked by asker" in allowed.text
    assert "Ask again" not in allowed.text


def test_the_history_holds_only_ones_own_questions(reader: Client, asker: User, expert: User) -> None:
    for person, question in ((asker, "Mine about straw?"), (expert, "Theirs about straw?")):
        Answer.objects.create(
            asked_by=person,
            conversation=Conversation.objects.create(asked_by=person),
            question=question,
            scope_digest="0",
            profile="interactive",
            engine="extractive",
        )

    listed = reader.get(reverse("answers")).text
    found = reader.get(reverse("answers"), {"q": "STRAW"}, headers={"HX-Request": "true"}).text

    assert "Mine about straw?" in listed
    assert "Mine about straw?" in found
    assert "Theirs" not in listed + found
    assert "<html" not in found
    assert "None of your questions" in reader.get(reverse("answers"), {"q": "nothing\0"}).text


def test_the_scope_line_counts_within_the_ceiling_and_names_the_address(
    reader: Client, small_corpus: dict[str, Document]
) -> None:
    response = reader.get(
        reverse("scope"), {"rights": "chosen", "license_class": ["open_commercial", "restricted"]}
    )

    assert "3 documents" in response.text
    assert "Restricted" not in response.text
    assert response.headers["HX-Replace-Url"].startswith("/?rights=chosen&license_class=")


def test_an_empty_corpus_says_what_to_do(client: Client, asker: User, librarian: User) -> None:
    DocumentFactory(license_class="restricted")
    client.force_login(asker)
    for_asker = client.get(reverse("ask")).text
    Document.objects.all().delete()
    client.force_login(librarian)
    for_librarian = client.get(reverse("ask")).text

    assert "your account may not see any of them" in for_asker
    assert "sci-rag ingest" in for_librarian


def test_examples_are_questions_the_readers_own_documents_can_answer(reader: Client, librarian: User) -> None:
    DocumentFactory(doi="10.5555/demo.2021.001", license_class="restricted")
    button = "At what temperature do thermophilic digesters run?</button>"

    assert button not in reader.get(reverse("ask")).text
    reader.force_login(librarian)
    assert button in reader.get(reverse("ask")).text


def test_more_questions_than_can_be_answered_are_turned_away_at_once_and_kept(
    reader: Client, small_corpus: dict[str, Document], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("answers.admission.MOST_AT_ONCE", 0)

    posted = asked(reader)
    fragment = reader.post(reverse("answer_stream"), {"question": QUESTION})

    for response in (posted, fragment):
        assert response.status_code == 503
        assert response.headers["Retry-After"] == "5"
        assert "ask it again in a few seconds" in response.text
    assert f">{QUESTION}</textarea>" in posted.text
    assert not Answer.objects.exists()


def test_a_place_is_free_again_when_the_stream_has_ended(
    reader: Client, small_corpus: dict[str, Document], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("answers.admission.MOST_AT_ONCE", 1)

    streamed(reader, question=QUESTION)

    assert asked(reader).status_code == 200


def test_a_place_that_was_taken_since_is_said_in_the_stream(
    reader: Client, small_corpus: dict[str, Document], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("answers.admission.MOST_AT_ONCE", 1)

    response = reader.post(reverse("answer_stream"), {"question": QUESTION})
    with admission.admitted():
        text = async_to_sync(drained)(response)

    assert response.status_code == 200
    assert "ask it again in a few seconds" in text
    assert not Answer.objects.exists()


def test_a_request_holds_no_connection_while_its_answer_streams(
    reader: Client, small_corpus: dict[str, Document]
) -> None:
    response = reader.post(reverse("answer_stream"), {"question": QUESTION})

    assert connection.connection is None
    assert "data-ended" in async_to_sync(drained)(response)


def test_a_fault_before_the_first_event_is_said_on_the_page_too(
    reader: Client, small_corpus: dict[str, Document], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(**_question: object) -> None:
        raise OperationalError("canary: the pool is empty")

    monkeypatch.setattr("answers.actions.answers.begin", broken)

    text = streamed(reader, question=QUESTION)

    assert "Something went wrong on our side" in text
    assert "canary" not in text
    assert 'hx-partial hx-target="#answer"' not in text
