"""Suggestions: made once by software, decided by a person, kept as they were decided."""

import json

import pytest
from django.db import ProgrammingError

from corpus.actions import review
from corpus.actions.review import NotAllowed, ReviewError
from corpus.actions.rights import EvidenceRequired
from corpus.curation import ReviewItem
from corpus.ingestion import ingest
from corpus.inputs import from_manifest
from corpus.models import Document, GroupCeiling, RightsDecision
from corpus.rights import ALL_CLASSES, parse_class, raises
from tests.factories.corpus import DocumentFactory
from tests.integration.corpus.ingesting import OPTIONS, HashEmbedder, paper, write

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def media(tmp_path, settings):
    settings.MEDIA_ROOT = tmp_path / "media"


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "papers"


def take(folder, *rows):
    lines = "\n".join(json.dumps(row) for row in rows)
    return ingest(
        from_manifest(write(folder, "manifest.jsonl", lines)), options=OPTIONS, embedder=HashEmbedder()
    )


def decisions():
    return list(RightsDecision.objects.order_by("id").values_list("from_class", "to_class", "process"))


@pytest.mark.parametrize("held", ALL_CLASSES)
@pytest.mark.parametrize("declared", ALL_CLASSES)
def test_of_two_declarations_the_stricter_holds_and_a_looser_waits(folder, held, declared):
    write(folder, "a.md", paper("90 days"))
    row = {"path": "a.md", "title": "A"}
    take(folder, row | {"license_class": held, "license_source": "first"})

    for _ in range(2):
        take(folder, row | {"license_class": declared, "license_source": "second"})

    looser = raises(parse_class(held), parse_class(declared))
    stricter = raises(parse_class(declared), parse_class(held))
    assert Document.objects.get().license_class == (declared if stricter else held)
    assert ReviewItem.objects.count() == int(looser)
    first = [] if held == "unknown" else [("unknown", held, "manifest")]
    assert decisions() == first + ([(held, declared, "manifest")] if stricter else [])


def test_what_a_manifest_declares_at_first_is_in_the_log_with_its_signal(folder):
    write(folder, "a.md", paper("90 days"))

    take(folder, {"path": "a.md", "title": "A", "license_class": "public", "license_source": "CC0 1.0"})

    decision = RightsDecision.objects.get()
    assert (decision.process, decision.signal) == ("manifest", "CC0 1.0")
    assert (decision.from_class, decision.to_class) == ("unknown", "public")


@pytest.fixture
def suggested():
    document = DocumentFactory(license_class="restricted")
    item = review.suggest_license(document=document, license_class="public", signal="CC0 1.0")
    assert item is not None
    return item


def test_accepting_raises_the_class_in_the_persons_name(suggested, librarian):
    assert review.accept(items=[suggested], by=librarian, note="asked the author") == 1

    decision = RightsDecision.objects.get()
    assert (decision.to_class, decision.decided_by_name) == ("public", "librarian")
    assert (decision.evidence, decision.note) == ("CC0 1.0", "asked the author")
    suggested.refresh_from_db()
    assert (suggested.state, suggested.decided_by_name) == ("accepted", "librarian")
    assert suggested.decided_at is not None


def test_a_suggestion_without_a_signal_needs_evidence_of_the_person(librarian):
    document = DocumentFactory(license_class="unknown")
    item = review.suggest_license(document=document, license_class="public", signal="")

    with pytest.raises(EvidenceRequired):
        review.accept(items=[item], by=librarian)
    item.refresh_from_db()
    assert item.state == "open"
    assert review.accept(items=[item], by=librarian, evidence="https://example.org/licence") == 1


def test_what_was_rejected_is_not_suggested_again_until_something_new_is_said(suggested, librarian):
    review.reject(items=[suggested], by=librarian, note="a mistake in the export")

    again = review.suggest_license(document=suggested.document, license_class="public", signal="CC0 1.0")
    new = review.suggest_license(document=suggested.document, license_class="public", signal="publisher")

    assert again is None
    assert new is not None
    assert Document.objects.get().license_class == "restricted"
    suggested.refresh_from_db()
    assert (suggested.state, suggested.note) == ("rejected", "a mistake in the export")


def test_the_database_keeps_a_decision_as_it_was_made(suggested, librarian):
    review.reject(items=[suggested], by=librarian)

    with pytest.raises(ProgrammingError, match="Cannot update rows from corpus_reviewitem"):
        ReviewItem.objects.update(state="open", decided_at=None)


def test_a_suggestion_that_would_lower_by_now_is_refused(suggested, librarian):
    Document.objects.update(license_class="public")

    with pytest.raises(ReviewError, match="as much or more"):
        review.accept(items=[suggested], by=librarian)


def test_deciding_needs_the_permission_and_a_ceiling_over_every_document(suggested, librarian, asker):
    visible = review.suggest_license(
        document=DocumentFactory(license_class="open_noncommercial"), license_class="public", signal="x"
    )
    with pytest.raises(NotAllowed):
        review.accept(items=[suggested], by=asker)
    GroupCeiling.objects.filter(group__name="librarian").update(
        license_classes=["public", "open_noncommercial"]
    )

    for act in (review.accept, review.reject):
        with pytest.raises(NotAllowed):
            act(items=[visible, suggested], by=librarian)

    assert set(ReviewItem.objects.values_list("state", flat=True)) == {"open"}
    assert not RightsDecision.objects.exists()


@pytest.mark.parametrize(
    ("one", "two", "old"),
    [
        ({"year": 2019}, {"year": 2016}, "Two"),
        ({"year": 2019, "version": "v2"}, {"year": 2019, "version": "v10"}, "One"),
        ({"version": "3rd edition"}, {"version": "2nd edition"}, "Two"),
        ({"year": 2019}, {}, "Two"),
        ({}, {}, "One"),
    ],
)
def test_the_older_version_is_told_by_year_then_label_then_arrival(folder, librarian, one, two, old):
    write(folder, "one.md", paper("90 days"))
    write(folder, "two.md", paper("91 days"))
    rows = [
        {"path": "one.md", "title": "One", "doi": "10.1000/abc", **one},
        {"path": "two.md", "title": "Two", "doi": "10.1000/abc", **two},
    ]

    take(folder, *rows)
    take(folder, *rows)

    item = ReviewItem.objects.get()
    assert (item.kind, item.document.title, item.document.status) == ("supersession_proposed", old, "current")
    assert item.document.source == item.other.source
    review.accept(items=[item], by=librarian)
    older = Document.objects.get(title=old)
    assert (older.status, older.superseded_by) == ("superseded", item.other)
    item.refresh_from_db()
    assert (item.state, item.decided_by_name) == ("accepted", "librarian")


def test_what_the_manifest_says_about_versions_is_done_without_asking(folder):
    write(folder, "one.md", paper("90 days"))
    write(folder, "two.md", paper("91 days"))

    take(
        folder,
        {"path": "one.md", "title": "One", "doi": "10.1000/abc"},
        {"path": "two.md", "title": "Two", "doi": "10.1000/abc", "supersedes": "one.md"},
    )

    assert not ReviewItem.objects.exists()
    assert Document.objects.get(title="One").superseded_by.title == "Two"


def test_naming_another_successor_settles_what_was_suggested(folder, librarian):
    old, new, other = DocumentFactory(), DocumentFactory(), DocumentFactory()
    review.suggest_supersession(old=old, new=new, reason="one")
    review.suggest_supersession(old=old, new=other, reason="two")

    review.accept(items=[ReviewItem.objects.get(other=other)], by=librarian)

    assert dict(ReviewItem.objects.values_list("other", "state")) == {
        new.pk: "rejected",
        other.pk: "accepted",
    }
