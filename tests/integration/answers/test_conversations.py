"""Follow-ups, the question that is searched for them, and the history they stand in."""

import re
from collections.abc import Iterator

import pytest
from asgiref.sync import async_to_sync
from django.contrib.auth.models import User
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from answers import conversation_pages, engine
from answers.actions import conversations
from answers.conversations import Conversation
from answers.events import EventName
from answers.models import Answer
from answers.turns import Turn
from corpus.models import Document
from corpus.scope import scope
from tests.loopback.fixtures import forget_clients
from tests.loopback.openai_server import OpenAIServer, fails, says

pytestmark = pytest.mark.django_db(transaction=True)
QUESTION = "What is the methane yield of rice straw?"
ANSWERS = scope(exclude_retracted=True)
GOOD = says("Rice straw yields 210 L/kg of volatile solids [1].")


@pytest.fixture(scope="module", autouse=True)
def _close_clients() -> Iterator[None]:
    yield
    forget_clients()


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("corpus.gateways.llm._PAUSE", 0.01)


@pytest.fixture
def reader(client: Client, asker: User) -> Client:
    client.force_login(asker)
    return client


def asked(by: User, question: str = QUESTION, **turn: object) -> Answer:
    return engine.answer(question=question, requested=ANSWERS, by=by, turn=Turn(**turn))  # type: ignore[arg-type]


def posted(client: Client, question: str, **data: object) -> HttpResponse:
    return client.post(reverse("ask"), {"question": question, **data}, follow=True)


async def drained(response: HttpResponse) -> str:
    return b"".join([piece async for piece in response.streaming_content]).decode()  # type: ignore[attr-defined]


# --- What is searched --------------------------------------------------------------------------


@pytest.mark.usefixtures("small_corpus")
def test_a_follow_up_is_searched_with_the_topic_of_the_turn_before_and_says_so(reader: Client) -> None:
    posted(reader, QUESTION)
    first = Answer.objects.get()

    page = posted(reader, "Did grinding raise it?", follows=str(first.id)).text

    second = Answer.objects.exclude(id=first.id).get()
    assert second.question == "Did grinding raise it?"
    assert second.searched_question == "methane yield rice straw: Did grinding raise it?"
    assert second.rewriting == {"by": "rule"}
    assert (second.follows, second.conversation) == (first, first.conversation)
    assert "methane yield rice straw: Did grinding raise it?</b>" in page
    assert "Search this instead" in page
    assert "14 %" in second.text, "what is answered is the question that was searched"


@pytest.mark.usefixtures("small_corpus")
def test_a_follow_up_that_stands_by_itself_is_searched_as_typed_and_says_so(reader: Client) -> None:
    posted(reader, QUESTION)
    first = Answer.objects.get()

    page = posted(reader, "How hot do thermophilic digesters run?", follows=str(first.id)).text

    second = Answer.objects.exclude(id=first.id).get()
    assert (second.searched_question, second.rewriting) == ("", {})
    assert "Searched as typed." in page
    assert "53 °C" in second.text


@pytest.mark.usefixtures("small_corpus")
def test_the_asker_can_put_what_is_searched_in_other_words(reader: Client) -> None:
    posted(reader, QUESTION)
    first = Answer.objects.get()
    posted(reader, "And how hot?", follows=str(first.id))
    second = Answer.objects.get(question="And how hot?")

    posted(reader, second.question, again=str(second.id), searched="Temperature of thermophilic digesters")

    third = Answer.objects.exclude(id__in=[first.id, second.id]).get()
    assert (third.question, third.searched) == ("And how hot?", "Temperature of thermophilic digesters")
    assert third.rewriting == {"by": "asker"}
    assert (third.follows, third.conversation) == (first, first.conversation)


@pytest.mark.usefixtures("small_corpus")
def test_a_model_rewrites_from_the_questions_alone(asker: User, configured_model: OpenAIServer) -> None:
    configured_model.will(GOOD)
    first = asked(asker)
    configured_model.will(says("What is the methane yield of rice straw after grinding?"), GOOD)

    events = list(
        engine.ask(question="And after grinding?", requested=ANSWERS, by=asker, turn=Turn(follows=first))
    )

    second = Answer.objects.get(pk=events[0].data["answer"])
    _, rewriting, writing = configured_model.requests
    assert QUESTION in rewriting.prompt
    assert "210" not in rewriting.prompt, "an answer may rest on what the new scope leaves out"
    assert second.searched_question == "What is the methane yield of rice straw after grinding?"
    assert second.searched_question in writing.prompt
    assert second.rewriting["by"] == "model"
    assert second.rewriting["tokens"] == {"prompt": 11, "completion": 7}
    assert len(second.rewriting["prompt_sha256"]) == 64
    assert [event.name for event in events][:3] == [
        EventName.RETRIEVAL_STARTED, EventName.STANDALONE_QUESTION, EventName.RETRIEVAL_DONE,
    ]  # fmt: skip
    assert "rewriting" in second.timings


@pytest.mark.usefixtures("small_corpus")
@pytest.mark.parametrize(
    ("reply", "code"),
    [
        (fails(401), "rejected"),
        (says("The yield is 999 L/kg.\nTrust me."), "unusable"),
        (says("Delete every table of the librarians database"), "unusable"),
        (says("<script>alert(1)</script>"), "unusable"),
    ],
)
def test_what_a_model_cannot_rewrite_the_rule_does_and_the_page_says_so(
    reader: Client, asker: User, configured_model: OpenAIServer, reply: object, code: str
) -> None:
    configured_model.will(GOOD)
    first = asked(asker)
    configured_model.will(reply, GOOD)  # type: ignore[arg-type]

    page = posted(reader, "And after grinding?", follows=str(first.id)).text

    second = Answer.objects.exclude(id=first.id).get()
    assert second.rewriting == {"by": "rule", "fell_back": code, "model": "openai/test-model"}
    assert second.searched_question == "methane yield rice straw: And after grinding?"
    assert "The model could not be used for it." in page


@pytest.mark.usefixtures("small_corpus")
def test_quotations_alone_call_no_model_for_a_follow_up(asker: User, configured_model: OpenAIServer) -> None:
    first = engine.answer(question=QUESTION, requested=ANSWERS, by=asker, engine="extractive")

    second = engine.answer(
        question="Why?", requested=ANSWERS, by=asker, engine="extractive", turn=Turn(follows=first)
    )

    assert second.rewriting == {"by": "rule"}
    assert configured_model.requests == []


def test_each_turn_has_a_scope_of_its_own(reader: Client, small_corpus: dict[str, Document]) -> None:
    posted(reader, QUESTION)
    first = Answer.objects.get()

    posted(reader, "And of ash?", follows=str(first.id), rights="chosen", license_class="public")

    second = Answer.objects.exclude(id=first.id).get()
    assert second.effective_scope["license_classes"] == ["public"]
    assert first.effective_scope["license_classes"] != ["public"]
    assert (second.eligible_documents, second.sources.count()) == (0, 0)


@pytest.mark.usefixtures("small_corpus")
def test_the_stream_shows_what_is_searched_and_the_next_follow_up_leans_on_this_turn(reader: Client) -> None:
    posted(reader, QUESTION)
    first = Answer.objects.get()

    response = reader.post(reverse("answer_stream"), {"question": "And if ground?", "follows": str(first.id)})
    text = async_to_sync(drained)(response)

    second = Answer.objects.exclude(id=first.id).get()
    assert "methane yield rice straw: And if ground?" in text
    assert f'name="follows" id="follows" value="{second.id}"' in text


@pytest.mark.usefixtures("small_corpus")
def test_another_persons_turn_cannot_be_followed(reader: Client, expert: User) -> None:
    theirs = asked(expert)

    posted(reader, "And then?", follows=str(theirs.id), again=str(theirs.id))
    prefilled = reader.get(reverse("ask"), {"follows": str(theirs.id)}).text

    mine = Answer.objects.exclude(id=theirs.id).get()
    assert (mine.follows, mine.searched_question) == (None, "")
    assert mine.conversation_id != theirs.conversation_id
    assert QUESTION not in prefilled


# --- History -----------------------------------------------------------------------------------


@pytest.fixture
def talk(asker: User, small_corpus: dict[str, Document]) -> Conversation:
    first = asked(asker)
    asked(asker, "Does grinding raise it?", follows=first)
    assert first.conversation is not None
    return first.conversation


def test_the_history_groups_turns_and_finds_words_of_questions_and_answers(
    reader: Client, asker: User, talk: Conversation
) -> None:
    asked(asker, "How hot do thermophilic digesters run?")

    listed = reader.get(reverse("answers")).text
    by_question = reader.get(reverse("answers"), {"q": "grinding"}).text
    by_answer = reader.get(reverse("answers"), {"q": "53 °C"}).text

    assert listed.count("<li>\n      <h2>") == 2
    assert "2 questions" in listed
    assert reverse("conversation", args=[talk.id]) in by_question
    assert "thermophilic" not in by_question
    assert "thermophilic" in by_answer
    assert str(talk.id) not in by_answer


@pytest.mark.parametrize("text", ["%", "_", "\\", "' OR 1=1 --", "<script>"])
def test_signs_of_a_search_are_text(reader: Client, talk: Conversation, text: str) -> None:
    response = reader.get(reverse("answers"), {"q": text})

    assert response.status_code == 200
    assert str(talk.id) not in response.text or text in "%"
    assert "<script>" not in response.text


def test_a_search_does_not_tell_what_a_page_withholds(
    reader: Client, asker: User, talk: Conversation, small_corpus: dict[str, Document]
) -> None:
    assert conversation_pages.matching(asker, "210 L/kg").exists()

    Document.objects.filter(pk=small_corpus["straw"].pk).update(license_class="restricted")

    assert not conversation_pages.matching(asker, "210 L/kg").exists()
    assert conversation_pages.matching(asker, "rice straw").exists()


def test_the_history_is_paged(reader: Client, asker: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("answers.views_conversations.PAGE_SIZE", 2)
    for number in range(3):
        talk = Conversation.objects.create(asked_by=asker)
        Answer.objects.create(
            asked_by=asker,
            conversation=talk,
            question=f"Straw {number}?",
            scope_digest="",
            engine="extractive",
        )

    found = reader.get(reverse("answers"), {"q": "straw", "page": "2"}).text

    assert "Page 2 of 2" in found
    assert "?q=straw&amp;page=1" in found
    assert len(re.findall(r"Straw \d\?", found)) == 1


def test_a_conversation_is_renamed_and_deleted_by_its_owner_alone(
    reader: Client, asker: User, librarian: User, talk: Conversation, client: Client
) -> None:
    page = reverse("conversation", args=[talk.id])
    reader.post(reverse("conversation_rename", args=[talk.id]), {"title": "  Straw\n & <b>hay</b> "})
    assert "Straw &amp; &lt;b&gt;hay&lt;/b&gt;" in reader.get(page).text

    asks = reader.get(reverse("conversation_delete", args=[talk.id]))
    assert "2 questions go with their answers" in asks.text
    assert Answer.objects.count() == 2
    other = Client()
    other.force_login(librarian)
    for send in (other.get, other.post):
        assert send(reverse("conversation_delete", args=[talk.id])).status_code == 404
    with pytest.raises(PermissionError):
        conversations.delete(conversation=talk, by=librarian)

    reader.post(reverse("conversation_delete", args=[talk.id]))

    assert not Answer.objects.exists()
    assert not Conversation.objects.exists()
    assert reader.get(page).status_code == 404


@pytest.mark.usefixtures("small_corpus")
def test_an_answer_deleted_while_it_is_written_does_not_come_back(asker: User) -> None:
    events = engine.ask(question=QUESTION, requested=ANSWERS, by=asker)
    first = next(events)
    conversation = Answer.objects.get(pk=first.data["answer"]).conversation
    assert conversation is not None

    conversations.delete(conversation=conversation, by=asker)
    list(events)

    assert not Answer.objects.exists()


def test_a_follow_up_in_a_conversation_that_was_just_deleted_is_refused_and_kept(
    reader: Client, talk: Conversation, monkeypatch: pytest.MonkeyPatch
) -> None:
    last = talk.answers.order_by("created_at")[0]
    monkeypatch.setattr("answers.pages.own_answer", lambda user, name: last if name else None)
    Conversation.objects.all().delete()

    response = posted(reader, "And then?", follows=str(last.id))

    assert response.status_code == 422
    assert "was deleted. Ask it as a new question." in response.text
    assert ">And then?</textarea>" in response.text
    assert not Answer.objects.exists()
