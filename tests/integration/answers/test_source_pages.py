"""From an answer's source to the marked sentence and the page of the original."""

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from answers.models import Answer
from corpus.models import Chunk, Document
from corpus.sentences import sentence_spans

pytestmark = pytest.mark.django_db(transaction=True)
QUESTION = "What is the methane yield of rice straw?"


@pytest.fixture
def pdf(straw: Document) -> Document:
    Document.objects.filter(pk=straw.pk).update(media_type="application/pdf", page_count=4)
    Chunk.objects.filter(document=straw).update(boxes=[[1, 0.1, 0.2, 0.5, 0.3]])
    return straw


def answered(client: Client) -> str:
    return client.post(reverse("ask"), {"question": QUESTION}, follow=True).text


def test_a_source_shows_its_page_and_links_to_the_cited_sentence(
    client: Client, asker: User, pdf: Document
) -> None:
    client.force_login(asker)

    text = answered(client)

    chunk = Chunk.objects.get()
    start, end = next(
        span for span in sentence_spans(chunk.body) if "210 L/kg" in chunk.body[span[0] : span[1]]
    )
    assert f"<mark>{chunk.body[start:end]}</mark>" in text
    assert f"{start}-{end}" in text.split("?cited=")[1].split("#")[0]
    assert reverse("page_image", args=[pdf.id, 1]) in text
    assert "Show on the page" in text


def test_neither_is_shown_once_the_source_is_kept_back(client: Client, asker: User, pdf: Document) -> None:
    client.force_login(asker)
    answered(client)
    Document.objects.update(license_class="restricted")

    text = client.get(reverse("answer", args=[Answer.objects.get().id])).text

    assert "page_image" not in text
    assert str(pdf.id) not in text
    assert "cited=" not in text
