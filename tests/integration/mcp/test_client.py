"""The client against the site: every operation, an answer as it is written, and a model that is stopped."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.contrib.auth.models import User

from answers.models import Answer
from corpus.keys.permissions import Permission
from corpus.models import Document
from sci_rag_site.client import Client, InsufficientScope, InvalidKey, InvalidRequest, NotFound, Scope
from tests.factories.keys import secret_of
from tests.loopback.openai_server import OpenAIServer, says

pytestmark = pytest.mark.django_db(transaction=True)
QUESTION = "What is the methane yield of rice straw?"
WORDS = ["Rice straw yields 210 L/kg of volatile solids [1]. ", "Grinding\u2028helps. ", *["More. "] * 400]


@pytest.fixture
def corpus(site: str, librarian: User) -> Iterator[Client]:
    with Client(site, secret_of(librarian)) as client:
        yield client


def test_every_operation_is_there_and_typed(
    corpus: Client, small_corpus: dict[str, Document], tmp_path: Path
) -> None:
    straw = small_corpus["straw"]
    file = tmp_path / "new.md"
    file.write_text("# New\n\nBiochar holds water.\n")

    found = corpus.query(QUESTION, top_k=2, scope=Scope(license_classes=["open_commercial"]))
    answered = corpus.answer(QUESTION, engine="extractive")
    document = corpus.document(straw.pk)
    passage = corpus.passage(document.chunks[0])
    taken = corpus.ingest([file], bucket="new")
    kept = corpus.keep_note("Straw yields methane.", cites=["10.1234/abc"], from_answer=answered.answer_id)

    assert found.items[0].document_id == straw.pk
    assert (answered.answered, answered.engine) == (True, "extractive")
    assert passage.document.id == straw.pk
    assert "210 L/kg" in passage.body
    assert corpus.documents(q="methane").items[0].id == straw.pk
    assert corpus.sources().items[0].documents == [straw.pk]
    assert corpus.entities().items == []
    assert [line.verdict for line in taken.files] == ["accepted"]
    assert taken.run is not None
    assert corpus.run(taken.run).items[0].path == "new.md"
    assert corpus.notes(q="methane").items[0].id == kept.id
    assert corpus.status().documents == corpus.manifest().counts.documents == 4
    assert corpus.health().status == "ok"


def test_what_the_key_does_not_allow_is_an_exception_with_the_number_of_the_request(
    site: str, asker: User, small_corpus: dict[str, Document]
) -> None:
    with Client(site, secret_of(asker, permissions=[Permission.READ])) as client:
        with pytest.raises(InsufficientScope) as refused:
            client.answer(QUESTION)
        with pytest.raises(InsufficientScope):
            client.stream(QUESTION)
        with pytest.raises(NotFound):
            client.document(small_corpus["secret"].pk)
        with pytest.raises(InvalidRequest) as wrong:
            client.documents(page_size=1000)
    with Client(site, "sr_aaaaaaaa_" + "x" * 43) as stranger, pytest.raises(InvalidKey):
        stranger.status()

    assert len(refused.value.request_id) == 32
    assert wrong.value.errors[0]["field"] == "page_size"
    assert not Answer.objects.exists()


def test_the_events_of_an_answer_come_in_the_order_that_is_written_down(
    corpus: Client, straw: Document, configured_model: OpenAIServer
) -> None:
    configured_model.will(says(*WORDS[:4]))

    with corpus.stream(QUESTION) as answer:
        names = [event.name for event in answer]

    once = list(dict.fromkeys(names))
    assert once == [
        "retrieval_started", "retrieval_done", "generation_started", "delta", "citations", "done",
    ]  # fmt: skip
    assert names == sorted(names, key=once.index)
    stored = Answer.objects.get()
    # What is stored is what was streamed, byte for byte.
    assert answer.text == stored.text == "".join(WORDS[:4])
    assert answer.ending is not None
    assert answer.ending.data["answer"] == str(stored.pk)


def test_closing_a_stream_stops_the_model(
    corpus: Client, straw: Document, configured_model: OpenAIServer
) -> None:
    configured_model.will(says(*WORDS, pause=0.05))

    with corpus.stream(QUESTION) as answer:
        for event in answer:
            if event.name == "delta":
                break

    assert configured_model.hung_up.wait(15)
    deadline = time.monotonic() + 20
    while Answer.objects.get().finish != "cancelled":
        assert time.monotonic() < deadline, "the answer goes on"
        time.sleep(0.05)
    row = Answer.objects.get()
    assert row.state == "partial"
    assert row.text.startswith(WORDS[0])
    assert len(row.text) < len("".join(WORDS))


def test_a_model_that_fails_ends_the_stream_with_what_it_wrote(
    corpus: Client, straw: Document, configured_model: OpenAIServer
) -> None:
    configured_model.will(says(WORDS[0], ending="cut"))

    with corpus.stream(QUESTION) as answer:
        last = list(answer)[-1]

    assert (last.name, last.data["offer"], answer.text) == ("error", "extractive", WORDS[0])
