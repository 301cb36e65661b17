"""The panel of disagreements on pages and in files: what the reader may see, with year and status."""

import json

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from answers import engine
from answers.models import Answer
from corpus.models import Document
from corpus.rights import LicenseClass
from corpus.scope import RetrievalScope
from tests.factories.corpus import DocumentFactory
from tests.integration.answers.conftest import passages

pytestmark = pytest.mark.django_db(transaction=True)
QUESTION = "What is the methane yield of rice straw?"
LOW = "The methane yield of rice straw was 210 L/kg of volatile solids."
HIGH = "Rice straw had a methane yield of 264 L/kg of volatile solids."


@pytest.fixture
def disagreeing(transactional_db: None) -> dict[str, Document]:
    made = {
        "low": DocumentFactory(title="Low yields", year=2011),
        "high": DocumentFactory(title="High <b>yields</b>", year=2019),
    }
    passages(made["low"], LOW)
    passages(made["high"], HIGH)
    return made


@pytest.fixture
def answer(disagreeing: dict[str, Document], asker: User) -> Answer:
    return engine.answer(question=QUESTION, requested=RetrievalScope(), by=asker)


@pytest.fixture
def reader(client: Client, asker: User) -> Client:
    client.force_login(asker)
    return client


def page(reader: Client, answer: Answer) -> str:
    return str(reader.get(reverse("answer", args=[answer.pk])).text)


def export(reader: Client, answer: Answer, form: str) -> str:
    return reader.get(reverse("answer_export", args=[answer.pk, form])).content.decode()


def test_the_page_sets_the_sources_side_by_side_with_year_and_sentence(
    reader: Client, answer: Answer
) -> None:
    shown = page(reader, answer)

    panel = shown[
        shown.index('class="differences"') : shown.index("</section>", shown.index('class="differences"'))
    ]
    assert "The figures differ" in panel
    assert all(words in panel for words in ("2011", "210 L/kg", LOW, "2019", "264 L/kg", HIGH))
    assert "237" not in panel, "never averaged"
    assert "<b>yields" not in panel


def test_a_superseded_source_is_marked_in_its_row(
    reader: Client, answer: Answer, disagreeing: dict[str, Document]
) -> None:
    newer = DocumentFactory(title="Low yields, revised")
    Document.objects.filter(pk=disagreeing["low"].pk).update(status="superseded", superseded_by=newer)

    (difference,) = json.loads(export(reader, answer, "json"))["differences"]

    assert {side["year"]: side["status"] for side in difference["sides"]} == {
        2011: "superseded since",
        2019: "",
    }


def test_files_say_it_as_the_page_does(reader: Client, answer: Answer) -> None:
    text = export(reader, answer, "markdown")

    assert "# Where the sources differ" in text
    assert "264 L/kg (2019): Rice straw had a methane yield" in text


def test_a_source_that_is_out_of_reach_stands_in_no_row(
    reader: Client, answer: Answer, disagreeing: dict[str, Document]
) -> None:
    Document.objects.filter(pk=disagreeing["high"].pk).update(license_class=LicenseClass.RESTRICTED.value)

    shown = page(reader, answer)

    assert "264" not in shown
    assert 'class="differences"' not in shown
    assert json.loads(export(reader, answer, "json"))["differences"] == []


def test_sources_that_agree_have_no_panel(asker: User, reader: Client, transactional_db: None) -> None:
    for title in ("One", "Other"):
        passages(DocumentFactory(title=title), f"{title}. {LOW}")
    agreed = engine.answer(question=QUESTION, requested=RetrievalScope(), by=asker)

    assert 'class="differences"' not in page(reader, agreed)
