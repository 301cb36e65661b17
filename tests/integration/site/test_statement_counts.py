"""How many statements an answer and each list send to the database, however many rows there are.

docs/speed.md has the same numbers, and says why some are what they are.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest
from asgiref.sync import async_to_sync
from django.contrib.auth.models import User
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from answers.conversations import Conversation
from answers.models import Answer
from answers.notebook.models import Observation
from corpus.models import Chunk, Document, IngestionRun, Source
from corpus.usage import ledger
from retrieval.models import Entity, Mention
from sci_rag_site.mcp import answering
from sci_rag_site.mcp.callers import ByKey
from sci_rag_site.mcp.inputs import AnswerInput
from tests.factories.corpus import ChunkFactory, DocumentFactory, IngestionRunFactory, SourceFactory
from tests.factories.graph import EntityFactory, MentionFactory
from tests.factories.keys import secret_of
from tests.integration.answers.conftest import small_corpus, straw  # noqa: F401 fixtures
from tests.integration.api.calling import Api
from tests.integration.statements import counted
from tests.loopback.openai_server import OpenAIServer, says

QUESTION = "What is the methane yield of rice straw?"
ANSWER = says("The methane yield of rice straw was 210 L/kg [1].")
FEW = 10

# By the way a question comes, its search, its storing and what models were used for included.
ANSWERS = {"by_page": 27, "by_rest": 19, "by_tool": 19}
# By name of the route, a page of the list with the reader's session, rights and notices.
LISTS = {
    "documents": 12,
    "answers": 9,
    "notes": 9,
    "runs": 10,
    "evaluations": 8,
    "question_sets": 7,
    "entities": 11,
    "extractions": 7,
    "notices": 9,
    "campaigns": 7,
    "account": 12,
    "api_documents": 5,
    "api_sources": 6,
    "api_notes": 6,
    "api_entities": 6,
    "admin:corpus_document_changelist": 24,
    "admin:corpus_source_changelist": 20,
    "admin:corpus_ingestionrun_changelist": 18,
    "admin:answers_answer_changelist": 18,
    "admin:auth_user_changelist": 16,
    "admin:retrieval_entity_changelist": 17,
}


async def _read(response: HttpResponse) -> None:
    async for _ in response.streaming_content:  # type: ignore[attr-defined]
        pass


def by_page(asker: User) -> Callable[[], None]:
    client = Client()
    client.force_login(asker)

    def ask() -> None:
        async_to_sync(_read)(client.post(reverse("answer_stream"), {"question": QUESTION}))

    return ask


def by_rest(asker: User) -> Callable[[], None]:
    api = Api.of(asker)

    def ask() -> None:
        assert api.post("/answer", {"query": QUESTION}).status_code == 200

    return ask


def by_tool(asker: User) -> Callable[[], None]:
    identity = ByKey(secret_of(asker))

    async def report(words: str) -> None:
        pass

    def ask() -> None:
        asked = AnswerInput(query=QUESTION)
        told = asyncio.run(answering.answered(identity.counted().user, asked, report))
        assert told["finish"] == "stop"

    return ask


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("small_corpus")
def test_an_answer_sends_no_more_statements_than_are_recorded(
    asker: User, configured_model: OpenAIServer
) -> None:
    sent = {}
    for way in (by_page, by_rest, by_tool):
        ask = way(asker)
        configured_model.will(ANSWER)
        configured_model.will(ANSWER)
        # What is loaded once is not what an answer costs.
        ask()
        ledger.settle()
        with counted() as statements:
            ask()
            ledger.settle()
        sent[way.__name__] = len(statements)

    assert {way: number for way, number in sent.items() if number > ANSWERS[way]} == {}


def fill(number: int, by: User) -> None:
    """Have `number` more rows in each list, all of which `by` may see."""
    sources = Source.objects.bulk_create(SourceFactory.build() for _ in range(number))
    documents = Document.objects.bulk_create(
        DocumentFactory.build(source=source, license_class="public") for source in sources
    )
    chunks = Chunk.objects.bulk_create(ChunkFactory.build(document=document) for document in documents)
    entities = Entity.objects.bulk_create(EntityFactory.build() for _ in range(number))
    Mention.objects.bulk_create(
        MentionFactory.build(entity=entity, chunk=chunk)
        for entity, chunk in zip(entities, chunks, strict=True)
    )
    IngestionRun.objects.bulk_create(IngestionRunFactory.build(started_by=by) for _ in range(number))
    conversations = Conversation.objects.bulk_create(Conversation(asked_by=by) for _ in range(number))
    Answer.objects.bulk_create(
        Answer(
            asked_by=by,
            conversation=conversation,
            question="Why?",
            profile="interactive",
            engine="extractive",
            scope_digest="0" * 64,
            state="done",
            finish="stop",
        )
        for conversation in conversations
    )
    Observation.objects.bulk_create(
        Observation(owner=by, text=f"Note {place}.", title=f"Note {place}") for place in range(number)
    )


@pytest.mark.parametrize("many", [100, pytest.param(1_000, marks=pytest.mark.long)])
@pytest.mark.django_db
def test_a_list_sends_as_many_statements_for_many_rows_as_for_ten(administrator: User, many: int) -> None:
    client, api = Client(), Api.of(administrator)
    client.force_login(administrator)

    def costs() -> dict[str, int]:
        found = {}
        for name in LISTS:
            reader = api.client if name.startswith("api") else client
            with counted() as statements:
                status = reader.get(reverse(name)).status_code
            assert status == 200, name
            found[name] = len(statements)
        return found

    fill(FEW, administrator)
    costs()
    few = costs()
    fill(many - FEW, administrator)

    assert costs() == few
    assert {name: number for name, number in few.items() if number > LISTS[name]} == {}
