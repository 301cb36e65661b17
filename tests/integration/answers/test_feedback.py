"""What readers say about answers, where it goes, and what is kept of it."""

import hashlib
import uuid

import pytest
from django.contrib.auth.models import Group, User
from django.db import IntegrityError
from django.test import Client
from django.urls import reverse

from answers import engine, waiting
from answers.actions import feedback
from answers.actions.conversations import delete
from answers.feedback import AcquisitionRequest, WrongReport
from answers.models import Answer
from corpus.models import Document, GroupCeiling
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


def report(client: Client, answer: Answer, words: str = "It was 180.") -> None:
    response = client.post(reverse("answer_wrong", args=[answer.pk]), {"words": words})
    assert response.status_code == 302


def test_what_is_reported_keeps_its_evidence_as_it_was(reader: Client, asker: User, answer: Answer) -> None:
    report(reader, answer)

    draft = WrongReport.objects.get()
    (evidence,) = draft.evidence.all()
    source = answer.sources.select_related("chunk").get(is_cited=True)
    assert (draft.answer_ref, draft.question, draft.comment) == (answer.pk, QUESTION, "It was 180.")
    assert draft.answer_sha256 == hashlib.sha256(answer.text.encode()).hexdigest()
    assert (draft.reported_by, draft.state) == (asker, "open")
    assert source.chunk is not None
    assert (evidence.number, evidence.content_sha256, evidence.quote, evidence.passage_id) == (
        source.number, source.content_sha256, source.chunk.body, source.chunk.public_id,
    )  # fmt: skip


def test_reporting_again_changes_the_comment_of_the_one_draft(reader: Client, answer: Answer) -> None:
    report(reader, answer)
    report(reader, answer, "It was 190.")

    assert WrongReport.objects.get().comment == "It was 190."
    assert WrongReport.objects.get().evidence.count() == 1
    second = WrongReport.objects.get()
    second.pk = uuid.uuid4()
    with pytest.raises(IntegrityError, match="once_while_open"):
        second.save(force_insert=True)


@pytest.mark.parametrize("words", ["", "  \n ", "\u200b", "x" * 4001])
def test_a_report_without_words_is_refused_and_nothing_typed_is_lost(
    reader: Client, answer: Answer, words: str
) -> None:
    response = reader.post(reverse("answer_wrong", args=[answer.pk]), {"words": words})

    assert response.status_code == 422
    assert words.strip() in response.text
    assert not WrongReport.objects.exists()


def test_nobody_reports_what_they_may_not_read(
    reader: Client, answer: Answer, expert: User, small_corpus: dict[str, Document]
) -> None:
    Document.objects.filter(pk=small_corpus["straw"].pk).update(license_class="restricted")
    withheld = reader.post(reverse("answer_wrong", args=[answer.pk]), {"words": "No."})
    reader.force_login(expert)
    not_theirs = reader.post(reverse("answer_wrong", args=[answer.pk]), {"words": "No."})

    assert (withheld.status_code, not_theirs.status_code) == (404, 404)
    assert not WrongReport.objects.exists()


def test_a_report_outlives_the_answer_and_loses_its_quotation_with_the_document(
    reader: Client, asker: User, librarian: User, answer: Answer, small_corpus: dict[str, Document]
) -> None:
    report(reader, answer)
    assert answer.conversation is not None
    delete(conversation=answer.conversation, by=asker)

    assert WrongReport.objects.get().answer is None
    assert WrongReport.objects.get().evidence.get().quote
    small_corpus["straw"].delete()
    evidence = WrongReport.objects.get().evidence.get()
    assert (evidence.quote, evidence.document) == ("", None)
    assert len(evidence.content_sha256) == 64


def test_librarians_see_and_dismiss_reports_and_only_those_they_may_know_of(
    reader: Client, librarian: User, answer: Answer, small_corpus: dict[str, Document]
) -> None:
    report(reader, answer)
    draft = WrongReport.objects.get()
    reader.force_login(librarian)
    listing = reverse("admin:answers_wrongreport_changelist")
    shown = reader.get(reverse("admin:answers_wrongreport_change", args=[draft.pk])).text
    assert "It was 180." in shown
    assert "210 L/kg" in shown
    assert "Answers reported as wrong" in reader.get(reverse("admin:index")).text

    narrow = GroupCeiling.objects.get(group=Group.objects.get(name="librarian"))
    narrow.license_classes = ["public"]
    narrow.save()
    assert "It was 180." not in reader.get(listing).text
    assert not waiting.known_reports(librarian).exists()

    narrow.license_classes = ["public", "open_commercial"]
    narrow.save()
    reader.post(listing, {"action": "dismiss", "_selected_action": [str(draft.pk)]})
    draft.refresh_from_db()
    assert (draft.state, draft.decided_by) == ("dismissed", librarian)
    assert draft.decided_at is not None


def test_what_is_not_covered_can_be_requested_and_reaches_the_dashboard(
    reader: Client, asker: User, librarian: User, small_corpus: dict[str, Document]
) -> None:
    page = reader.post(
        reverse("ask"),
        {"question": "Which bridge collapsed in Genoa and when?", "year_min": "2019"},
        follow=True,
    ).text
    answer = Answer.objects.get()
    assert answer.finish == "not_covered"
    assert "Request documents on this" in page
    assert "The nearest passages are listed" in page
    assert 'id="source-1"' in page

    for note in ("", "The report of 2019"):
        reader.post(reverse("answer_acquire", args=[answer.pk]), {"words": note})

    request = AcquisitionRequest.objects.get()
    assert (request.question, request.note, request.asked_by) == (
        answer.question,
        "The report of 2019",
        asker,
    )
    assert request.requested_scope["year_min"] == 2019
    reader.force_login(librarian)
    assert "Requests for documents" in reader.get(reverse("admin:index")).text
    listing = reverse("admin:answers_acquisitionrequest_changelist")
    reader.post(listing, {"action": "mark_acquired", "_selected_action": [str(request.pk)]})
    request.refresh_from_db()
    assert (request.state, request.decided_by) == ("done", librarian)
    assert feedback.decide_acquisitions(requests=[request], state=request.State.DECLINED, by=librarian) == 0


def test_an_answer_that_is_one_offers_no_request(reader: Client, answer: Answer) -> None:
    page = reader.get(reverse("answer", args=[answer.pk])).text

    assert "Request documents on this" not in page
    assert "This is wrong" in page


def test_only_ones_own_question_can_be_requested(reader: Client, answer: Answer, librarian: User) -> None:
    reader.force_login(librarian)

    assert reader.post(reverse("answer_acquire", args=[answer.pk]), {"words": ""}).status_code == 404
    assert not AcquisitionRequest.objects.exists()
