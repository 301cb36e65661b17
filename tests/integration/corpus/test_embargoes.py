"""Embargoes: restricted until a day, then a question. And the commands about rights."""

import json
from datetime import timedelta

import pytest
from click.testing import CliRunner
from django.db import IntegrityError, transaction
from django.urls import reverse
from django.utils import timezone

from corpus import review_queue
from corpus.actions import embargoes, license_review, review, rights
from corpus.actions.license_review import AS_IT_IS, SUGGESTED, Chosen, Refusal
from corpus.actions.rights import NotAllowed, RightsError, UnderEmbargo
from corpus.ceilings import effective_scope
from corpus.curation import ReviewItem
from corpus.ingestion import ingest
from corpus.inputs import from_manifest
from corpus.models import Document, DocumentEvent, RightsDecision
from corpus.scope import RetrievalScope
from corpus.tasks import ask_about_embargoes
from sci_rag_site.cli import main
from tests.factories.corpus import DocumentFactory
from tests.integration.corpus.ingesting import OPTIONS, HashEmbedder, paper, write

pytestmark = pytest.mark.django_db


def days(count):
    return timezone.localdate() + timedelta(days=count)


@pytest.fixture
def document():
    return DocumentFactory(title="Held", license_class="public", license_source="CC BY 4.0")


@pytest.fixture
def ended():
    return DocumentFactory(
        title="Ended", license_class="restricted", license_source="CC BY 4.0", embargoed_until=days(0)
    )


def test_an_embargo_lowers_at_once_with_reason_and_record(document, librarian, asker):
    assert embargoes.embargo(document=document, until=days(30), by=librarian, reason="Publisher's terms")

    decision = RightsDecision.objects.get()
    assert (document.license_class, document.embargoed_until) == ("restricted", days(30))
    assert (decision.evidence, decision.note) == (f"Embargo until {days(30)}", "Publisher's terms")
    assert DocumentEvent.objects.filter(embargoed_until=days(30)).exists()
    visible = Document.objects.within(effective_scope(asker, RetrievalScope()))
    assert not visible.filter(pk=document.pk).exists()
    assert not embargoes.embargo(document=document, until=days(30), by=librarian, reason="again")


def test_before_its_day_nobody_opens_it_and_a_day_that_has_passed_is_refused(document, librarian):
    embargoes.embargo(document=document, until=days(30), by=librarian, reason="terms")

    with pytest.raises(UnderEmbargo, match="Take the date away first"):
        rights.set_license(documents=[document], license_class="public", by=librarian, evidence="x")
    review.suggest_license(document=document, license_class="public", signal="CC0")
    refused = license_review.plan(
        chosen=[Chosen(document.pk, RightsDecision.objects.get().pk)], choice=SUGGESTED, by=librarian
    )
    assert [one.reason for one in refused.refused] == [Refusal.EMBARGO]
    with pytest.raises(RightsError, match="a day to come"):
        embargoes.embargo(document=document, until=days(0), by=librarian, reason="terms")
    with pytest.raises(RightsError, match="Say why"):
        embargoes.lift(document=document, by=librarian, reason=" ")

    assert embargoes.lift(document=document, by=librarian, reason="agreed")
    rights.set_license(documents=[document], license_class="public", by=librarian, evidence="letter")


def test_the_database_keeps_an_embargoed_document_closed(document):
    with pytest.raises(IntegrityError, match="an_embargo_keeps_it_closed"), transaction.atomic():
        Document.objects.update(embargoed_until=days(30))


def test_on_its_day_a_person_is_asked_once_and_nothing_opens(ended, librarian):
    later = DocumentFactory(license_class="restricted", embargoed_until=days(1))

    assert [embargoes.raise_due() for _ in range(3)] == [1, 0, 0]
    ask_about_embargoes()

    item = ReviewItem.objects.get()
    assert (item.kind, item.document, item.suggestion["license_class"]) == (
        "embargo_over",
        ended,
        "open_commercial",
    )
    assert set(Document.objects.values_list("license_class", flat=True)) == {"restricted"}
    assert embargoes.raise_due(today=days(1)) == 1
    assert ReviewItem.objects.get(document=later).suggestion.get("license_class") is None


@pytest.mark.parametrize(
    ("choice", "held", "day"), [(SUGGESTED, "open_commercial", None), (AS_IT_IS, "restricted", 0)]
)
def test_what_a_person_answers_holds_and_is_not_asked_again(ended, librarian, choice, held, day):
    embargoes.raise_due()
    rows = review_queue.rows(review_queue.narrowed(review_queue.waiting(librarian), review_queue.Filters()))

    license_review.decide(
        chosen=[Chosen(row.document.pk, row.seen) for row in rows], choice=choice, by=librarian
    )

    ended.refresh_from_db()
    assert (ended.license_class, ended.embargoed_until) == (held, None if day is None else days(day))
    assert embargoes.raise_due(today=days(400)) == 0


@pytest.mark.django_db(transaction=True)
def test_a_manifest_names_the_day_and_a_later_one_is_applied_to_what_is_held(tmp_path, settings):
    settings.MEDIA_ROOT = tmp_path / "media"
    folder = tmp_path / "papers"
    write(folder, "a.md", paper("90 days"))

    for until in (days(10), days(20), days(5)):
        row = {"path": "a.md", "title": "A", "embargo_until": until.isoformat()}
        batch = from_manifest(write(folder, "manifest.jsonl", json.dumps(row)))
        ingest(batch, options=OPTIONS, embedder=HashEmbedder())

    document = Document.objects.get()
    assert (document.license_class, document.embargoed_until) == ("restricted", days(20))
    assert RightsDecision.objects.get().evidence == f"Embargo until {days(10)}"


def test_the_admin_sets_and_lifts_it_with_a_reason(document, librarian, asker, client):
    page = reverse("admin:corpus_document_embargo", args=[document.pk])
    client.force_login(asker)
    assert client.post(page, {"until": days(9), "reason": "x"}).status_code in (302, 403)
    client.force_login(librarian)

    for form in ({"until": days(-1), "reason": "x"}, {"until": "soon", "reason": "x"}, {"until": days(9)}):
        refused = client.post(page, form)
        assert refused.status_code == 422
    assert client.post(page, {"until": days(9), "reason": "terms"}).status_code == 302
    shown = client.get(reverse("admin:corpus_document_change", args=[document.pk])).content.decode()
    assert f"Until {days(9)}" in shown
    assert "Restricted until" in client.get(reverse("document", args=[document.pk])).content.decode()
    assert client.post(page, {"lift": "1", "reason": "agreed"}).status_code == 302

    document.refresh_from_db()
    assert (document.license_class, document.embargoed_until) == ("restricted", None)


def test_who_may_not_change_it_sets_no_embargo(document, asker):
    with pytest.raises(NotAllowed):
        embargoes.embargo(document=document, until=days(3), by=asker, reason="x")


def run(*arguments):
    return CliRunner().invoke(main, ["rights", *arguments])


def test_the_command_asks_as_the_clock_does(ended):
    assert json.loads(run("embargoes", "--json").stdout) == {"asked": 1, "with_a_day": 1}
    assert run("embargoes").stdout.startswith("0 asked about now; 1 documents")


def test_the_queue_by_command_is_the_queue_of_the_page(librarian, asker):
    held = DocumentFactory(title="Held", license_class="restricted", bucket="press")
    DocumentFactory(title="Silent", license_class="unknown")
    review.suggest_license(document=held, license_class="open_commercial", signal="CC BY 4.0")

    answer = run("queue", "--json")
    assert answer.exit_code == 0, answer.output
    everything = json.loads(answer.stdout)
    one = json.loads(run("queue", "--json", "--bucket", "press", "--user", "librarian").stdout)

    assert everything["total"] == 2
    assert [(row["title"], row["suggested"], row["signal"]) for row in one["documents"]] == [
        ("Held", "open_commercial", "CC BY 4.0")
    ]
    assert json.loads(run("queue", "--json", "--user", "asker").stdout)["total"] == 0
    assert "1 more than shown" in run("queue", "--limit", "1").stdout
    assert run("queue", "--user", "nobody").exit_code == 1
    assert run("queue", "--held", "secret").exit_code == 2


def test_a_class_is_set_by_command_with_evidence_and_a_name_in_the_log(librarian, asker):
    document = DocumentFactory(license_class="unknown", doi="10.1000/ABC")

    assert run("set", str(document.pk), "public").exit_code == 1
    assert run("set", str(document.pk), "public", "--evidence", "CC0", "--by", "asker").exit_code == 1
    assert run("set", str(document.pk), "top", "--evidence", "CC0").exit_code == 2
    assert run("set", "not-an-id", "public", "--evidence", "CC0").exit_code == 2
    assert run("set", "10.1000/none", "public", "--evidence", "CC0").exit_code == 1
    rehearsed = run("set", str(document.pk), "public", "--evidence", "CC0", "--dry-run", "--json")
    assert json.loads(rehearsed.stdout)["change"] == "raised"
    assert not RightsDecision.objects.exists()

    done = run("set", "https://doi.org/10.1000/abc", "public", "--evidence", "CC0", "--by", "librarian")
    lowered = run("set", str(document.pk), "restricted")

    assert (done.exit_code, lowered.exit_code) == (0, 0), (done.output, lowered.output)
    first, second = RightsDecision.objects.order_by("id")
    assert (first.to_class, first.evidence, first.decided_by_name) == ("public", "CC0", "librarian")
    assert second.decided_by_name.endswith("(command line)")
