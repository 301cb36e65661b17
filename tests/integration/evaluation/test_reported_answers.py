"""From an answer that a reader reported as wrong to a draft question, and no way to what one may not see."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from answers.feedback import WrongReport, WrongReportSource
from corpus.models import Document
from evaluation.models import Question, QuestionSet
from tests.factories.corpus import ChunkFactory, DocumentFactory
from tests.integration.evaluation.questions import FACTS

pytestmark = pytest.mark.django_db


@pytest.fixture
def paper() -> Document:
    document = DocumentFactory(title="Ash of straw", doi="10.5555/ash")
    ChunkFactory(document=document, body=FACTS["ash"])
    return document


@pytest.fixture
def report(paper: Document) -> WrongReport:
    return reported(paper)


def reported(document: Document, comment: str = "It was 17.3 %.") -> WrongReport:
    made = WrongReport.objects.create(
        answer_ref=uuid4(),
        question="And of straw?",
        searched_question="How much ash does rice straw hold?",
        engine="extractive",
        answer_sha256="0" * 64,
        comment=comment,
    )
    WrongReportSource.objects.create(
        report=made, number=1, document=document, content_sha256="0" * 64, quote=FACTS["ash"],
        license_class=document.license_class, bucket=document.bucket,
    )  # fmt: skip
    return made


@pytest.fixture
def facts() -> QuestionSet:
    return QuestionSet.objects.create(name="facts")


@pytest.fixture
def signer(client: Client, expert: User) -> Client:
    client.force_login(expert)
    return client


def shown(client: Client, name: str, *arguments: object) -> str:
    response = client.get(reverse(name, args=arguments))
    assert response.status_code == 200
    return " ".join(response.content.decode().split())


def saved(client: Client, report: WrongReport, facts: QuestionSet, **change: str) -> Any:
    data = {
        "question_set": str(facts.pk),
        "key": f"reported-{report.pk.hex[:8]}",
        "question": "How much ash does rice straw hold?",
        "reference_answer": "17.3 % of dry mass.",
        "reference_documents": "10.5555/ash",
    }
    return client.post(reverse("reported_question", args=[report.pk]), data | change)


def test_a_report_becomes_a_draft_that_begins_with_what_it_holds(
    signer: Client, report: WrongReport, facts: QuestionSet, expert: User
) -> None:
    assert reverse("reported_question", args=[report.pk]) in shown(signer, "reported_answers")
    form = shown(signer, "reported_question", report.pk)

    response = saved(signer, report, facts)

    question = Question.objects.get()
    assert ">How much ash does rice straw hold?</textarea>" in form
    assert ">It was 17.3 %.</textarea>" in form
    assert ">10.5555/ash</textarea>" in form
    assert FACTS["ash"] in form
    assert response.url == reverse("question", args=[question.pk])
    assert (question.drafted, question.origin, question.wrong_report) == (True, "reported", report)
    report.refresh_from_db()
    assert (report.state, report.decided_by) == ("drawn", expert)
    assert "Nothing waits" in shown(signer, "reported_answers")
    assert signer.get(reverse("reported_question", args=[report.pk])).status_code == 404


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"question_set": "x"}, "Choose a set of questions."),
        ({"evidence_phrases": "Words of nobody"}, "holds the words “Words of nobody”."),
        ({"reference_documents": ""}, "or say unanswerable."),
    ],
)
def test_a_mistake_leaves_the_report_open_and_what_was_typed_is_kept(
    signer: Client, report: WrongReport, facts: QuestionSet, change: dict[str, str], said: str
) -> None:
    response = saved(signer, report, facts, **change)

    report.refresh_from_db()
    assert response.status_code == 422
    assert said in response.content.decode()
    assert "17.3 % of dry mass." in response.content.decode()
    assert (report.state, Question.objects.count()) == ("open", 0)


def test_a_report_that_makes_no_question_is_dismissed(signer: Client, report: WrongReport) -> None:
    signer.post(reverse("reported_dismiss", args=[report.pk]))

    report.refresh_from_db()
    assert report.state == "dismissed"


def test_a_report_that_cites_what_one_may_not_see_is_not_there(
    signer: Client, paper: Document, facts: QuestionSet
) -> None:
    hidden = reported(DocumentFactory(license_class="restricted"), "The secret is 42.")

    assert "The secret is 42." not in shown(signer, "reported_answers")
    assert signer.get(reverse("reported_question", args=[hidden.pk])).status_code == 404
    assert saved(signer, hidden, facts).status_code == 404
    assert signer.post(reverse("reported_dismiss", args=[hidden.pk])).status_code == 404
    hidden.refresh_from_db()
    assert hidden.state == "open"


def test_without_a_set_one_is_to_be_made_first(signer: Client, report: WrongReport) -> None:
    assert "There is no set to put it into" in shown(signer, "reported_question", report.pk)


def test_a_librarian_reads_what_waits_and_makes_no_question(
    client: Client, librarian: User, report: WrongReport
) -> None:
    client.force_login(librarian)

    assert "Make it a question" not in shown(client, "reported_answers")
    assert client.get(reverse("reported_question", args=[report.pk])).status_code == 404


def test_an_administrator_gets_there_from_the_admin(
    client: Client, administrator: User, report: WrongReport
) -> None:
    client.force_login(administrator)

    page = client.get(reverse("admin:answers_wrongreport_change", args=[report.pk])).content.decode()

    assert reverse("reported_question", args=[report.pk]) in page


def test_to_an_asker_nothing_was_reported(client: Client, asker: User, report: WrongReport) -> None:
    client.force_login(asker)

    assert client.get(reverse("reported_answers")).status_code == 404
