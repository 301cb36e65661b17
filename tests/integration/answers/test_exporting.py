"""Exports hold every source against who asks for them, at the moment they ask."""

import json
import uuid

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from pybtex.database import parse_string

from answers import engine
from answers.exports.forms import FORMS
from answers.models import Answer
from answers.turns import Turn
from corpus.models import Document
from corpus.scope import scope

pytestmark = pytest.mark.django_db(transaction=True)
QUESTION = "What is the methane yield of rice straw?"
ANSWERS = scope(exclude_retracted=True)


@pytest.fixture
def reader(client: Client, asker: User) -> Client:
    client.force_login(asker)
    return client


@pytest.fixture
def answer(asker: User, small_corpus: dict[str, Document]) -> Answer:
    return engine.answer(question=QUESTION, requested=ANSWERS, by=asker)


def exported(client: Client, answer: Answer, form: str) -> str:
    response = client.get(reverse("answer_export", args=[answer.pk, form]))
    assert response.status_code == 200
    assert response["Content-Disposition"].startswith("attachment;")
    assert response["Cache-Control"] == "private, no-store"
    return response.content.decode()


def test_the_record_is_what_is_stored(reader: Client, answer: Answer) -> None:
    kept = json.loads(exported(reader, answer, "json"))

    stored = {
        "id": str(answer.pk), "question": answer.question, "effective_scope": answer.effective_scope,
        "scope_digest": answer.scope_digest, "profile": answer.profile, "engine": answer.engine,
        "model_parameters": answer.model_parameters, "embedding_version": answer.embedding_version,
        "fingerprint": answer.fingerprint, "traces": answer.traces, "timings_ms": answer.timings,
        "text": answer.text, "asked_by": "asker", "asked_at": answer.created_at.isoformat(),
    }  # fmt: skip
    assert {name: kept[name] for name in stored} == stored
    assert [source["content_sha256"] for source in kept["sources"]] == list(
        answer.sources.order_by("number").values_list("content_sha256", flat=True)
    )
    assert [finding["kind"] for finding in kept["findings"]] == ["supported"]
    assert kept["tokens"] == {"prompt": None, "completion": None}


@pytest.mark.parametrize("form", list(FORMS))
def test_a_source_that_fell_out_of_reach_is_in_no_file(
    reader: Client, answer: Answer, small_corpus: dict[str, Document], form: str
) -> None:
    before = exported(reader, answer, form)
    Document.objects.filter(pk=small_corpus["straw"].pk).update(license_class="restricted")

    after = exported(reader, answer, form)

    assert "Methane from rice straw" in before
    assert "Methane from rice straw" not in after
    assert "210 L/kg" not in after


@pytest.mark.parametrize("form", list(FORMS))
def test_a_document_that_was_deleted_is_a_placeholder_without_title(
    reader: Client, answer: Answer, small_corpus: dict[str, Document], form: str
) -> None:
    small_corpus["straw"].delete()

    text = exported(reader, answer, form)

    assert "Methane from rice straw" not in text
    assert "210 L/kg" not in text


def test_only_what_was_cited_is_a_reference(reader: Client, answer: Answer) -> None:
    entries = parse_string(exported(reader, answer, "bibtex"), "bibtex").entries

    assert answer.sources.count() > 1
    assert [entry.fields["title"] for entry in entries.values()] == ["{Methane from rice straw}"]


@pytest.mark.parametrize("form", list(FORMS))
def test_a_conversation_is_exported_whole_by_its_owner_alone(
    reader: Client, asker: User, librarian: User, answer: Answer, form: str
) -> None:
    engine.answer(question="And if ground?", requested=ANSWERS, by=asker, turn=Turn(follows=answer))
    address = reverse("conversation_export", args=[answer.conversation_id, form])

    text = reader.get(address).content.decode()
    reader.force_login(librarian)

    assert "rice straw" in text
    if form in {"markdown", "json", "fountain", "json-ld", "csv"}:
        assert "methane yield rice straw: And if ground?" in text
    assert reader.get(address).status_code == 404


def test_an_export_of_what_is_not_there_or_in_no_form_is_not_found(
    reader: Client, answer: Answer, expert: User
) -> None:
    assert reader.get(reverse("answer_export", args=[answer.pk, "docx"])).status_code == 404
    absent = reader.get(reverse("answer_export", args=[uuid.uuid4(), "json"]))
    reader.force_login(expert)
    kept_back = reader.get(reverse("answer_export", args=[answer.pk, "json"]))
    assert (absent.status_code, kept_back.status_code) == (404, 404)
