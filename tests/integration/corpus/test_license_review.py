"""Deciding in the queue: what waits, what a decision does and leaves, taking it back, two at once."""

import sys
import threading
import time
from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from corpus import review_queue
from corpus.actions import license_review, review, rights
from corpus.actions.license_review import AS_IT_IS, SUGGESTED, Chosen, Refusal
from corpus.curation import ReviewItem
from corpus.models import Document, DocumentEvent, GroupCeiling, RightsDecision
from corpus.review_queue import Filters
from tests.factories.corpus import DocumentFactory

pytestmark = pytest.mark.django_db


def suggest(document, license_class="open_commercial", signal="CC BY 4.0"):
    return review.suggest_license(document=document, license_class=license_class, signal=signal)


def queue(user, **filters):
    return review_queue.rows(review_queue.narrowed(review_queue.waiting(user), Filters.of(filters)))


def titles(user, **filters):
    return [row.document.title for row in queue(user, **filters)]


def chosen(user):
    return [Chosen(row.document.pk, row.seen) for row in queue(user)]


def reasons(plan):
    return {one.title: one.reason for one in plan.refused}


@pytest.fixture
def three():
    """One with a suggestion, one that says something of itself, one that nothing is known about."""
    held = DocumentFactory(title="Held", license_class="restricted", bucket="press")
    stated = DocumentFactory(title="Stated", license_class="unknown", rights_statement="CC0 1.0")
    silent = DocumentFactory(title="Silent", license_class="unknown")
    suggest(held)
    suggest(stated, "public", "CC0 1.0")
    return {"held": held, "stated": stated, "silent": silent}


def test_what_has_a_suggestion_or_unknown_rights_waits_and_nothing_else(three, librarian):
    DocumentFactory(title="Open", license_class="public")

    assert sorted(titles(librarian)) == ["Held", "Silent", "Stated"]


@pytest.mark.parametrize(
    ("filters", "left"),
    [
        ({"bucket": "press"}, ["Held"]),
        ({"license_class": "unknown"}, ["Silent", "Stated"]),
        ({"suggested": "public"}, ["Stated"]),
        ({"signal": "own_words"}, ["Stated"]),
        ({"signal": "text"}, ["Held"]),
        ({"signal": "address"}, []),
        ({"signal": "none"}, ["Silent"]),
        ({"signal": "embargo"}, []),
        ({"q": "cc by"}, ["Held"]),
        ({"q": "sil"}, ["Silent"]),
        ({"age": "7"}, ["Silent"]),
        ({"age": "nonsense", "signal": "'; --", "license_class": "top"}, ["Held", "Silent", "Stated"]),
    ],
)
def test_filters_narrow_and_what_nobody_offers_does_not(three, librarian, filters, left):
    Document.objects.filter(title="Silent").update(ingested_at=timezone.now() - timedelta(days=8))

    assert sorted(titles(librarian, **filters)) == left


def test_the_suggested_class_is_given_with_the_signal_as_evidence(three, librarian):
    done = license_review.decide(chosen=chosen(librarian), choice=SUGGESTED, by=librarian, note="batch")

    assert reasons(done) == {"Silent": Refusal.NOTHING_SUGGESTED}
    assert dict(Document.objects.values_list("title", "license_class")) == {
        "Held": "open_commercial",
        "Stated": "public",
        "Silent": "unknown",
    }
    log = {row.document_title: (row.evidence, row.note) for row in RightsDecision.objects.all()}
    assert log == {"Held": ("CC BY 4.0", "batch"), "Stated": ("CC0 1.0", "batch")}
    assert set(ReviewItem.objects.values_list("state", flat=True)) == {"accepted"}
    assert titles(librarian) == ["Silent"]


def test_a_signal_for_one_class_is_no_evidence_for_another(three, librarian):
    refused = license_review.decide(chosen=chosen(librarian), choice="public", by=librarian)
    assert reasons(refused) == {"Held": Refusal.NO_EVIDENCE, "Silent": Refusal.NO_EVIDENCE}

    done = license_review.decide(
        chosen=chosen(librarian), choice="public", by=librarian, evidence="https://example.org/cc0"
    )

    assert not done.refused
    states = dict(ReviewItem.objects.values_list("document__title", "state"))
    assert states == {"Stated": "accepted", "Held": "rejected"}


def test_left_as_it_is_leaves_the_queue_and_is_on_record(three, librarian):
    license_review.decide(chosen=chosen(librarian), choice=AS_IT_IS, by=librarian)

    assert titles(librarian) == []
    assert set(ReviewItem.objects.values_list("state", flat=True)) == {"rejected"}
    kept = RightsDecision.objects.order_by("document_title").values_list("document_title", "to_class")
    assert list(kept) == [("Silent", "unknown"), ("Stated", "unknown")]


def test_the_second_of_two_is_told_and_the_first_decision_stands(three, librarian, administrator):
    mine = theirs = chosen(librarian)
    license_review.decide(chosen=theirs, choice="restricted", by=administrator, evidence="publisher")

    second = license_review.decide(chosen=mine, choice="public", by=librarian, evidence="me too")

    assert set(reasons(second).values()) == {Refusal.DECIDED}
    assert set(Document.objects.values_list("license_class", flat=True)) == {"restricted"}
    assert not RightsDecision.objects.filter(decided_by=librarian).exists()


def test_what_changed_since_it_was_shown_is_not_decided_on_blindly(three, librarian):
    listed = chosen(librarian)
    rights.set_license(
        documents=[three["held"]], license_class="open_noncommercial", by=librarian, evidence="letter"
    )

    done = license_review.plan(chosen=listed, choice=SUGGESTED, by=librarian)

    assert reasons(done)["Held"] is Refusal.DECIDED


def test_out_of_the_ceiling_is_as_if_it_were_not_there(three, librarian):
    listed = chosen(librarian)
    GroupCeiling.objects.filter(group__name="librarian").update(license_classes=["restricted"])

    done = license_review.decide(chosen=listed, choice="public", by=librarian, evidence="x")

    assert [one.document.title for one in done.planned] == ["Held"]
    assert {(one.title, one.reason) for one in done.refused} == {("", Refusal.NOT_THERE)}


def test_who_may_not_change_licences_decides_and_undoes_nothing(three, librarian, asker):
    listed = chosen(librarian)
    with pytest.raises(rights.NotAllowed):
        license_review.decide(chosen=listed, choice=AS_IT_IS, by=asker)
    with pytest.raises(rights.NotAllowed):
        license_review.undo(by=asker, at=timezone.now())


def test_taking_back_restores_class_and_suggestion_by_a_decision_of_its_own(three, librarian):
    before = titles(librarian)
    license_review.decide(chosen=chosen(librarian), choice="public", by=librarian, evidence="x")
    last = license_review.last_decision(librarian)
    assert last.documents == 3

    assert license_review.undo(by=librarian, at=last.at) == 3

    assert titles(librarian) == before
    assert Document.objects.get(title="Held").license_class == "restricted"
    first = RightsDecision.objects.get(document_title="Held", undoes=None)
    undone = RightsDecision.objects.get(undoes=first)
    assert (undone.from_class, undone.to_class) == ("public", "restricted")
    assert undone.evidence == f"Undoes decision {first.pk}"
    assert RightsDecision.objects.count() == 6
    assert license_review.last_decision(librarian) is None
    assert license_review.undo(by=librarian, at=last.at) == 0


def test_decisions_are_taken_back_one_after_the_other_the_last_first(three, librarian):
    for name in ("Held", "Stated"):
        one = [row for row in queue(librarian) if row.document.title == name]
        license_review.decide(
            chosen=[Chosen(row.document.pk, row.seen) for row in one], choice=SUGGESTED, by=librarian
        )

    for left in (["Silent", "Stated"], ["Held", "Silent", "Stated"]):
        license_review.undo(by=librarian, at=license_review.last_decision(librarian).at)
        assert sorted(titles(librarian)) == left


def test_what_somebody_changed_since_is_not_taken_back(three, librarian, administrator):
    license_review.decide(chosen=chosen(librarian), choice="public", by=librarian, evidence="x")
    last = license_review.last_decision(librarian)
    rights.set_license(documents=[three["held"]], license_class="unknown", by=administrator, evidence="")

    assert license_review.undo(by=librarian, at=last.at) == 2

    assert Document.objects.get(title="Held").license_class == "unknown"


def test_a_decision_can_be_taken_back_for_half_an_hour(three, librarian, monkeypatch):
    license_review.decide(chosen=chosen(librarian), choice=SUGGESTED, by=librarian)
    at = license_review.last_decision(librarian).at
    monkeypatch.setattr(license_review, "UNDO_WINDOW", timedelta(0))

    assert license_review.last_decision(librarian) is None
    assert license_review.undo(by=librarian, at=at) == 0


@pytest.mark.django_db(transaction=True)
def test_of_two_who_decide_at_once_one_is_told(librarian, administrator):
    for number in range(20):
        suggest(DocumentFactory(license_class="restricted", title=f"Work {number}"))
    listed, plans, ready = chosen(librarian), {}, threading.Barrier(2)

    def go(person, choice):
        ready.wait(10)
        plans[choice] = license_review.decide(chosen=listed, choice=choice, by=person)
        connection.close()

    threads = [
        threading.Thread(target=go, args=pair) for pair in ((librarian, SUGGESTED), (administrator, AS_IT_IS))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)

    assert sorted(len(plan.planned) for plan in plans.values()) == [0, 20]
    assert sorted(len(plan.refused) for plan in plans.values()) == [0, 20]
    first = SUGGESTED if plans[SUGGESTED].planned else AS_IT_IS
    assert RightsDecision.objects.count() == (20 if first == SUGGESTED else 0)
    assert set(ReviewItem.objects.values_list("state", flat=True)) == {
        "accepted" if first == SUGGESTED else "rejected"
    }


@pytest.mark.long
def test_a_thousand_documents_are_reviewed_and_taken_back_in_under_five_seconds_each(
    librarian, django_assert_max_num_queries, capsys
):
    made = Document.objects.bulk_create(
        DocumentFactory.build(license_class="unknown", rights_statement="CC BY 4.0") for _ in range(1000)
    )
    for document in made:
        suggest(document)
    seconds = {}

    def timed(name, act):
        started = time.monotonic()
        result = act()
        seconds[name] = round(time.monotonic() - started, 2)
        return result

    listed = timed("list", lambda: chosen(librarian))
    timed("plan", lambda: license_review.plan(chosen=listed, choice=SUGGESTED, by=librarian))
    with django_assert_max_num_queries(40):
        timed("decide", lambda: license_review.decide(chosen=listed, choice=SUGGESTED, by=librarian))
    at = license_review.last_decision(librarian).at
    timed("undo", lambda: license_review.undo(by=librarian, at=at))

    with capsys.disabled():
        sys.stdout.write(f" 1,000 documents, seconds: {seconds} ")
    assert all(value < 5 for value in seconds.values()), seconds
    assert RightsDecision.objects.count() == 2000
    assert DocumentEvent.objects.filter(pgh_label="update").count() == 2000
    assert len(chosen(librarian)) == 1000
