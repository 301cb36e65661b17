"""A file of questions on the site: all of it comes in, or nothing and every mistake by its line."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from corpus.models import Document
from evaluation import question_files
from evaluation.models import Question, QuestionSet
from tests.factories.corpus import ChunkFactory, DocumentFactory
from tests.integration.evaluation.questions import FACTS, seed, write

pytestmark = pytest.mark.django_db


@pytest.fixture
def papers() -> dict[str, Document]:
    made = {}
    for key, license_class in (("ash", "public"), ("straw", "public"), ("stack", "restricted")):
        made[key] = DocumentFactory(title=f"About {key}", doi=f"10.5555/{key}", license_class=license_class)
        ChunkFactory(document=made[key], body=FACTS[key])
    return made


@pytest.fixture
def facts(papers: dict[str, Document]) -> QuestionSet:
    return QuestionSet.objects.create(name="facts")


@pytest.fixture
def signer(client: Client, expert: User) -> Client:
    client.force_login(expert)
    return client


def line(key: str, **change: Any) -> str:
    return json.dumps(seed(key).model_dump(mode="json") | change, ensure_ascii=False)


def handed(client: Client, text: str = "", file: bytes | None = None) -> Any:
    data: dict[str, Any] = {"text": text}
    if file is not None:
        data["file"] = SimpleUploadedFile("straw.jsonl", file)
    return client.post(reverse("questions_import", args=["facts"]), data, follow=True)


def test_pasted_questions_come_in_as_drafts(signer: Client, facts: QuestionSet) -> None:
    page = handed(signer, f"# mine\r\n{line('ash')}\r\n\r\n{line('straw')}\r\n").content.decode()

    assert "2 added, 0 changed, 0 as they were." in page
    assert {(one.drafted, one.origin) for one in Question.objects.all()} == {(True, "imported")}
    assert Question.objects.get(key="ash").events.get().note == "from pasted.jsonl"


def test_a_file_takes_the_place_of_the_text_and_what_differs_is_changed(
    signer: Client, facts: QuestionSet
) -> None:
    write(facts, "ash", "straw")
    changed = line("ash", reference_answer="17.3 % of dry mass.")

    page = handed(signer, "not read", f"\ufeff{changed}\n{line('straw')}\n".encode()).content.decode()

    assert "0 added, 1 changed, 1 as they were." in page
    assert Question.objects.get(key="ash").reference_answer == "17.3 % of dry mass."


def test_a_signature_in_the_file_counts_for_nothing(signer: Client, facts: QuestionSet) -> None:
    handed(signer, line("ash", drafted=False, signed_by="ada", signed_at="2026-01-01T00:00:00Z"))

    assert Question.objects.get().drafted


def test_every_mistake_is_named_by_its_line_nothing_comes_in_and_the_text_is_kept(
    signer: Client, facts: QuestionSet
) -> None:
    text = "\n".join(
        [
            line("ash"),
            "no json",
            line("straw", kind="riddle"),
            line("ash"),
            '{"id": "x", "wrong": 1}',
            "[" * 9999,
        ]
    )

    response = handed(signer, text)

    page = response.content.decode()
    assert response.status_code == 422
    for number, said in (
        (2, "not JSON: Expecting value at column 1"),
        (3, "kind: "),
        (4, "the id &#x27;ash&#x27; stands on line 1 already"),
        (5, "question: Field required"),
        (6, "nested too deeply"),
    ):
        after = page.split(f"</span>{number}</span>", 1)[1]
        assert said in after.split("</li>")[0]
    assert "nothing was taken in" in page
    assert "&quot;riddle&quot;" in page.split("<textarea")[1]
    assert not Question.objects.exists()


def test_evidence_out_of_sight_is_missing_by_line_like_evidence_that_is_nowhere(
    signer: Client, facts: QuestionSet
) -> None:
    nowhere = line("ash", reference_documents=[], evidence_phrases=["Words of nobody"])

    response = handed(signer, f"{line('straw')}\n{line('stack')}\n{nowhere}\n")

    page = " ".join(response.content.decode().split())
    assert response.status_code == 422
    assert "</span>2</span>" in page
    assert "No document that you may see holds the DOI 10.5555/stack" in page
    assert "No document that you may see holds the words “Words of nobody”." in page
    assert not Question.objects.exists()


def test_a_question_one_may_not_know_of_is_not_changed_by_its_name(
    signer: Client, facts: QuestionSet
) -> None:
    _, hidden = write(facts, "ash", "stack")

    response = handed(signer, line("straw", id="stack"))

    assert response.status_code == 422
    assert "The set has a question called stack already." in response.content.decode()
    hidden.refresh_from_db()
    assert hidden.question == "How high may a stack of bales be?"


@pytest.mark.parametrize(
    ("text", "file", "said"),
    [
        ("", None, "Paste questions, or choose a file of them."),
        ("# nothing\n", None, "There is no question in it."),
        ("kept", b"\xff\xfe{", "The file is not UTF-8 text."),
        ("kept", b"x" * 500_001, "too long for this form"),
        ("x" * 500_001, None, "too long for this form"),
    ],
)
def test_what_is_no_file_of_questions_is_refused_and_what_was_typed_is_kept(
    signer: Client, facts: QuestionSet, text: str, file: bytes | None, said: str
) -> None:
    response = handed(signer, text, file)

    assert response.status_code == 422
    assert said in response.content.decode()
    assert text[:20] in response.content.decode()


def test_a_file_with_more_than_a_page_can_wait_for_is_for_the_command(
    signer: Client, facts: QuestionSet, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(question_files, "MOST_QUESTIONS", 1)

    assert "sci-rag eval import" in handed(signer, f"{line('ash')}\n{line('straw')}").content.decode()
    assert not Question.objects.exists()


def test_what_is_handed_out_can_be_handed_in_with_any_sign_in_it(signer: Client, facts: QuestionSet) -> None:
    odd = "Two\u2028lines\x85and a \u2029 paragraph"
    handed(signer, line("ash", reference_answer=odd))

    text = signer.get(reverse("questions_export", args=["facts", "jsonl"])).content.decode()
    page = handed(signer, text).content.decode()

    assert "0 added, 0 changed, 1 as they were." in page
    assert Question.objects.get().reference_answer == odd


def test_a_librarian_takes_no_file_in(client: Client, librarian: User, facts: QuestionSet) -> None:
    client.force_login(librarian)

    assert client.get(reverse("questions_import", args=["facts"])).status_code == 404
