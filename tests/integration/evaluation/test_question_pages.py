"""The pages of questions: read, written, signed by experts alone; what was typed is kept."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from corpus.models import Document
from evaluation.models import Question, QuestionSet
from evaluation.questions import read_questions
from tests.factories.corpus import ChunkFactory, DocumentFactory
from tests.integration.evaluation.questions import FACTS, write

pytestmark = pytest.mark.django_db

TYPED = {
    "key": "ash",
    "question": "How much ash does rice straw hold?",
    "reference_answer": "17.3 %.",
    "reference_documents": "https://doi.org/10.5555/ASH",
    "reference_titles": "",
    "evidence_phrases": "The ash content of rice straw was 17.3 %",
    "kind": "lookup",
    "split": "test",
    "tags": "numeric, straw",
}


@pytest.fixture
def paper() -> Document:
    document = DocumentFactory(title="Ash of straw", doi="10.5555/ash")
    ChunkFactory(document=document, body=FACTS["ash"], locator="3 Results")
    return document


@pytest.fixture
def made(paper: Document) -> QuestionSet:
    return QuestionSet.objects.create(name="facts")


@pytest.fixture
def question(made: QuestionSet) -> Question:
    (written,) = write(made, "ash")
    return written


@pytest.fixture
def signer(client: Client, expert: User) -> Client:
    client.force_login(expert)
    return client


def text_of(client: Client, name: str, *arguments: object, **query: str) -> str:
    response = client.get(reverse(name, args=arguments), query)
    assert response.status_code == 200
    return " ".join(response.content.decode().split())


def new(client: Client, made: QuestionSet, **change: str) -> Any:
    return client.post(reverse("question_new", args=[made.name]), TYPED | change)


def test_an_expert_makes_a_set_and_writes_a_question_into_it(signer: Client, paper: Document) -> None:
    assert "There are no questions yet" in text_of(signer, "question_sets")
    signer.post(reverse("question_sets"), {"name": "facts", "description": "Of straw"})

    response = new(signer, QuestionSet.objects.get())

    written = Question.objects.get()
    assert response.url == reverse("question", args=[written.pk])
    assert (written.origin, written.author, written.kind, written.split) == (
        "written",
        "expert",
        "lookup",
        "test",
    )
    assert written.tags == ["numeric", "straw"]
    assert set(written.evidence.values_list("document", flat=True)) == {paper.pk}
    assert "1 question" in text_of(signer, "question_sets")
    page = text_of(signer, "question", written.pk)
    assert "Draft: nobody has signed it" in page
    assert "Ash of straw</a> · 3 Results" in page


@pytest.mark.parametrize("name", ["", "With Capitals", "facts"])
def test_a_set_without_a_name_of_its_own_is_refused_and_the_name_is_kept(
    signer: Client, made: QuestionSet, name: str
) -> None:
    response = signer.post(reverse("question_sets"), {"name": name})

    assert response.status_code == 422
    assert f'value="{name}"' in response.content.decode()
    assert QuestionSet.objects.count() == 1


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            {"evidence_phrases": "Words of nobody"},
            "No document that you may see holds the words “Words of nobody”.",
        ),
        (
            {"reference_documents": "10.5555/absent"},
            "No document that you may see holds the DOI 10.5555/absent.",
        ),
        ({"reference_documents": "a book"}, "&#x27;a book&#x27; is not a DOI"),
        ({"unanswerable": "on"}, "An unanswerable question names no documents and no evidence."),
        ({"evidence_phrases": "", "reference_documents": ""}, "or say unanswerable."),
        ({"key": "Not One"}, "a letter or digit first."),
        ({"question": ""}, "This field is required."),
    ],
)
def test_a_mistake_is_named_and_what_was_typed_is_kept(
    signer: Client, made: QuestionSet, change: dict[str, str], said: str
) -> None:
    response = new(signer, made, reference_answer="17.3 % of dry mass.", **change)

    text = response.content.decode()
    assert response.status_code == 422
    assert said in text
    assert "17.3 % of dry mass." in text
    assert not Question.objects.exists()


def test_a_name_that_is_taken_is_said_beside_it(
    signer: Client, made: QuestionSet, question: Question
) -> None:
    response = new(signer, made)

    assert response.status_code == 422
    assert "has a question called ash already" in response.content.decode()


def test_an_expert_signs_what_they_read_and_withdraws_it(signer: Client, question: Question) -> None:
    page = reverse("question", args=[question.pk])
    assert f'name="seen" value="{question.content_sha256}"' in signer.get(page).content.decode()

    signer.post(reverse("question_sign", args=[question.pk]), {"seen": question.content_sha256})
    signed = text_of(signer, "question", question.pk)
    signer.post(reverse("question_unsign", args=[question.pk]))

    assert "Signed by expert" in signed
    assert "Draft: nobody has signed it" in text_of(signer, "question", question.pk)
    assert list(question.events.order_by("id").values_list("kind", flat=True)) == [
        "created",
        "signed",
        "unsigned",
    ]


def test_what_changed_since_it_was_read_is_not_signed(signer: Client, question: Question) -> None:
    response = signer.post(reverse("question_sign", args=[question.pk]), {"seen": "f" * 64})

    assert response.status_code == 409
    assert "Somebody has changed this question meanwhile" in response.content.decode()
    question.refresh_from_db()
    assert question.drafted


def test_a_change_makes_a_signed_question_a_draft_and_the_page_says_so_before(
    signer: Client, question: Question
) -> None:
    signer.post(reverse("question_sign", args=[question.pk]), {"seen": question.content_sha256})
    form = text_of(signer, "question_edit", question.pk)
    assert "A change makes it a draft again." in form
    assert "The ash content of rice straw was 17.3 % of its dry mass" in form

    data = TYPED | {"seen": question.content_sha256}
    response = signer.post(reverse("question_edit", args=[question.pk]), data)

    assert response.status_code == 302
    question.refresh_from_db()
    assert (question.drafted, question.reference_answer) == (True, "17.3 %.")


def test_nobody_overwrites_what_they_have_not_read(signer: Client, question: Question) -> None:
    response = signer.post(reverse("question_edit", args=[question.pk]), TYPED | {"seen": "f" * 64})

    assert response.status_code == 422
    assert "read it again" in response.content.decode()


def test_a_question_is_retired_and_taken_up_again(
    signer: Client, made: QuestionSet, question: Question
) -> None:
    signer.post(reverse("question_retire", args=[question.pk]))
    assert "No questions yet" in text_of(signer, "questions", "facts")
    assert "How much ash" in text_of(signer, "questions", "facts", show="retired")

    signer.post(reverse("question_retire", args=[question.pk]))

    assert "How much ash" in text_of(signer, "questions", "facts", show="draft")
    assert "No question of this set is in that state." in text_of(signer, "questions", "facts", show="signed")


def test_a_question_that_lost_its_evidence_can_be_given_other(
    signer: Client, paper: Document, question: Question
) -> None:
    from corpus.actions import deletion

    signer.force_login(User.objects.create_superuser("root"))
    question.evidence.update(doi="")
    deletion.delete(document_id=paper.pk, by=None)
    again = DocumentFactory(doi="10.5555/ash")
    ChunkFactory(document=again, body=FACTS["ash"])
    question.refresh_from_db()
    assert "Its words went with a document" in text_of(signer, "question", question.pk)
    form = text_of(signer, "question_edit", question.pk)

    signer.post(reverse("question_edit", args=[question.pk]), TYPED | {"seen": question.content_sha256})
    signer.post(reverse("question_retire", args=[question.pk]))

    question.refresh_from_db()
    assert "How much ash" in form
    assert question.retired_at is None
    assert question.evidence.filter(document=again).count() == 2


def test_questions_are_handed_over_as_a_file_that_can_be_imported(
    signer: Client, question: Question, tmp_path: Any
) -> None:
    for form in ("jsonl", "yaml"):
        response = signer.get(reverse("questions_export", args=["facts", form]))
        path = tmp_path / f"q.{form}"
        path.write_bytes(response.content)

        (seed,) = read_questions(path)
        assert response["Content-Disposition"] == f'attachment; filename="facts.{form}"'
        assert seed.id == "ash"
    assert signer.get(reverse("questions_export", args=["facts", "pdf"])).status_code == 404


def test_a_librarian_reads_and_does_not_write_or_sign(
    client: Client, librarian: User, question: Question
) -> None:
    client.force_login(librarian)

    page = text_of(client, "question", question.pk)

    assert "Sign:" not in page
    for name in ("question_sign", "question_unsign", "question_retire", "question_edit"):
        assert client.post(reverse(name, args=[question.pk])).status_code == 404
    assert new(client, question.question_set).status_code == 404
    assert client.post(reverse("question_sets"), {"name": "other"}).status_code == 404


def test_an_administrator_writes_and_does_not_sign(
    client: Client, administrator: User, question: Question
) -> None:
    client.force_login(administrator)

    assert client.get(reverse("question_edit", args=[question.pk])).status_code == 200
    assert (
        client.post(
            reverse("question_sign", args=[question.pk]), {"seen": question.content_sha256}
        ).status_code
        == 404
    )


def test_to_an_asker_there_are_no_questions(client: Client, asker: User, question: Question) -> None:
    client.force_login(asker)

    assert client.get(reverse("question_sets")).status_code == 404
    assert client.get(reverse("question", args=[question.pk])).status_code == 404
