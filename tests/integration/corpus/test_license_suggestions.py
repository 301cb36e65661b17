"""What documents say about their rights waits for a person: quoted, read, and never applied by software."""

import json

import pytest
from django.urls import reverse

from corpus.actions import license_suggestions, review
from corpus.curation import ReviewItem
from corpus.ingestion import ingest
from corpus.inputs import from_manifest
from corpus.models import Document, RightsDecision
from tests.factories.corpus import DocumentFactory
from tests.integration.corpus.ingesting import OPTIONS, HashEmbedder, paper, take, write

pytestmark = pytest.mark.django_db(transaction=True)

STATEMENT = "This article is licensed under a Creative Commons Attribution 4.0 International License."


@pytest.fixture(autouse=True)
def media(tmp_path, settings):
    settings.MEDIA_ROOT = tmp_path / "media"


def take_with_manifest(folder, **row):
    line = json.dumps({"path": "a.md", "title": "A"} | row)
    return ingest(
        from_manifest(write(folder, "manifest.jsonl", line)), options=OPTIONS, embedder=HashEmbedder()
    )


def test_a_file_that_states_its_licence_stays_unknown_and_waits_for_a_person(tmp_path):
    take(write(tmp_path, "a.md", f"{paper('90 days')}\n\n{STATEMENT}\n"))

    document = Document.objects.get()
    item = ReviewItem.objects.get()
    assert document.license_class == "unknown"
    assert not RightsDecision.objects.exists()
    assert item.document == document
    assert item.suggestion == {"license_class": "open_commercial", "signal": STATEMENT}
    assert "CC BY 4.0 allows commercial use." in item.reason


def test_accepting_gives_the_class_with_the_quoted_words_as_evidence(tmp_path, librarian):
    take(write(tmp_path, "a.md", f"{paper('90 days')}\n\n{STATEMENT}\n"))

    review.accept(items=ReviewItem.objects.all(), by=librarian)

    decision = RightsDecision.objects.get()
    assert Document.objects.get().license_class == "open_commercial"
    assert (decision.evidence, decision.decided_by_id) == (STATEMENT, librarian.pk)


def test_a_declared_class_is_not_questioned_by_the_words_of_the_file(tmp_path):
    write(tmp_path, "a.md", f"{paper('90 days')}\n\n{STATEMENT}\n")
    take_with_manifest(tmp_path, license_class="restricted")

    assert Document.objects.get().license_class == "restricted"
    assert not ReviewItem.objects.exists()


def test_the_signal_of_a_manifest_is_read_and_once(tmp_path):
    write(tmp_path, "a.md", paper("90 days"))
    take_with_manifest(tmp_path)
    assert not ReviewItem.objects.exists()

    for _ in range(2):
        take_with_manifest(tmp_path, license_source="https://creativecommons.org/licenses/by-nc/4.0/")

    item = ReviewItem.objects.get()
    assert Document.objects.get().license_class == "unknown"
    assert item.suggestion["license_class"] == "open_noncommercial"


@pytest.mark.parametrize(
    ("signal", "statement"),
    [
        ("", ""),
        ("cc-by-xyz", "Open access"),
        ("CC BY 4.0", "All rights reserved."),
        ("", "The data are available under CC0."),
    ],
)
def test_words_that_establish_nothing_suggest_nothing(signal, statement):
    document = DocumentFactory(license_class="unknown", license_source=signal, rights_statement=statement)

    assert license_suggestions.suggest(document) is None


def test_of_two_statements_the_stricter_is_suggested_and_quoted():
    document = DocumentFactory(
        license_class="unknown",
        license_source="CC BY 4.0",
        rights_statement="Licensed under CC BY-NC-ND 4.0.",
    )

    item = license_suggestions.suggest(document)

    assert item.suggestion == {
        "license_class": "open_noncommercial",
        "signal": "Licensed under CC BY-NC-ND 4.0.",
    }


def test_the_flag_that_limits_is_set_without_waiting():
    document = DocumentFactory(
        license_class="unknown", license_source="Licensed under CC BY 4.0, provided it is not altered."
    )

    license_suggestions.suggest(document)

    document.refresh_from_db()
    assert (document.license_class, document.no_derivatives) == ("unknown", True)


def test_a_rejected_suggestion_is_not_made_again_for_the_same_words(librarian):
    document = DocumentFactory(license_class="unknown", license_source="CC BY 4.0")
    item = license_suggestions.suggest(document)

    review.reject(items=[item], by=librarian)

    assert license_suggestions.suggest(document) is None


def test_the_page_of_a_document_shows_what_it_says_how_that_reads_and_where_to_decide(librarian, client):
    document = DocumentFactory(license_class="unknown", rights_statement="<i>Licensed</i> under CC BY 4.0.")
    item = license_suggestions.suggest(document)
    client.force_login(librarian)

    shown = client.get(reverse("admin:corpus_document_change", args=[document.pk])).content.decode()

    assert "&lt;i&gt;Licensed&lt;/i&gt; under CC BY 4.0." in shown
    assert "CC BY 4.0 allows commercial use." in shown
    assert reverse("admin:corpus_reviewitem_decide", args=[item.pk]) in shown


def test_suggestions_can_be_asked_for_from_the_list(librarian, client):
    stated = DocumentFactory(license_class="unknown", license_source="CC0 1.0")
    silent = DocumentFactory(license_class="unknown", license_source="", rights_statement="")
    client.force_login(librarian)

    client.post(
        reverse("admin:corpus_document_changelist"),
        {"action": "suggest_license", "_selected_action": [stated.pk, silent.pk]},
    )

    assert [item.document for item in ReviewItem.objects.all()] == [stated]
    assert set(Document.objects.values_list("license_class", flat=True)) == {"unknown"}


def test_who_may_not_change_licences_is_not_offered_the_action(asker, client):
    document = DocumentFactory(license_class="open_commercial", license_source="CC0 1.0")
    client.force_login(asker)

    client.post(
        reverse("admin:corpus_document_changelist"),
        {"action": "suggest_license", "_selected_action": [document.pk]},
    )

    assert not ReviewItem.objects.exists()
