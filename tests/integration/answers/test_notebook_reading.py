"""What a note shows of its works: under the reader's ceiling, with their standing, also when documents go."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from answers.notebook import actions, reading
from answers.notebook.actions import Met, Words
from answers.notebook.models import Observation, ObservationSource
from corpus.actions import deletion
from corpus.actions.editorial import record_event, withdraw_event
from corpus.actions.sources import register
from corpus.bibliography.identifiers import Identifier
from corpus.bibliography.works import hold
from corpus.enrichment import planning
from corpus.enrichment.records import SourceCheck
from corpus.models import Document, Source
from tests.integration.answers.notebooks import held, kept, seen

pytestmark = pytest.mark.django_db
SECRET = {"license_class": "restricted"}


def brought(by: User | None, *documents: Document) -> Observation:
    met = [Met(source=document.source_id, document=document.pk) for document in documents]
    return actions.add(words=Words("x", is_shared=True), by=by, met=met)


def retract(work: Source, kind: str = "retraction") -> None:
    record_event(source=work, kind=kind, origin="crossref", happened_on=date(2021, 3, 4))


def test_a_reader_is_shown_the_works_their_ceiling_covers_and_of_others_a_number(
    asker: User, librarian: User
) -> None:
    note = brought(
        librarian, held("Open work", "10.1000/open"), held("Secret work", "10.1000/secret", **SECRET)
    )

    first, second = seen(note, asker).sources
    assert (first.title, first.identifier, first.available) == ("Open work", "doi:10.1000/open", True)
    assert (second.number, second.relationship, second.available) == (2, "retrieved", False)
    assert (second.title, second.identifier, second.document_id, second.badges) == ("", "", "", ())
    assert [source.title for source in seen(note, librarian).sources] == ["Open work", "Secret work"]
    assert [source.title for source in seen(note, None).sources] == ["Open work", "Secret work"]


def test_what_a_person_named_shows_as_they_named_it_whether_or_not_it_is_held_out_of_sight(
    asker: User, expert: User
) -> None:
    held("Secret work", "10.1000/secret", **SECRET)
    register(kind="doi", value="10.1000/nowhere", title="Told by an index", by=None)

    note = kept(asker, "10.1000/secret", "10.1000/nowhere", is_shared=True)

    for reader in (asker, expert):
        shown = seen(note, reader).sources
        assert [(source.title, source.document_id) for source in shown] == [("", ""), ("", "")]
        assert [source.identifier for source in shown] == ["doi:10.1000/secret", "doi:10.1000/nowhere"]


@pytest.mark.parametrize(
    ("kind", "badge"), [("retraction", "retracted"), ("expression_of_concern", "concern")]
)
def test_a_retraction_shows_on_every_note_that_names_the_work_and_goes_again(
    asker: User, kind: str, badge: str
) -> None:
    notes = [brought(asker, held("Work", "10.1000/a")), kept(asker, "10.1000/a")]

    work = Source.objects.get()
    record_event(source=work, kind=kind, origin="manual", happened_on=date(2021, 3, 4), by=asker)
    for note in notes:
        assert [source.badges for source in seen(note, asker).warned] == [(badge,)]
    withdraw_event(event=work.events.get(), by=asker)
    for note in notes:
        assert seen(note, asker).warned == ()


def test_a_retraction_of_a_work_out_of_reach_shows_to_who_named_it_and_not_to_who_did_not(
    asker: User, librarian: User
) -> None:
    document = held("Secret work", "10.1000/secret", **SECRET)
    named_it, brought_it = kept(asker, "10.1000/secret"), brought(librarian, document)
    retract(document.source)

    assert [source.is_grave for source in seen(named_it, asker).sources] == [True]
    assert seen(brought_it, asker).warned == ()
    assert len(seen(brought_it, librarian).warned) == 1


def test_when_a_work_was_checked_does_not_tell_that_it_was_known_before(asker: User, librarian: User) -> None:
    document = held("Secret work", "10.1000/secret", **SECRET)
    long_ago = timezone.now() - timedelta(days=3)
    check = SourceCheck.objects.create(
        source=document.source,
        provider="crossref",
        outcome="good",
        checked_at=long_ago,
        last_good_at=long_ago,
    )
    note = kept(asker, "10.1000/secret", is_shared=True)

    assert seen(note, asker).sources[0].checked_at is None
    assert seen(note, librarian).sources[0].checked_at == long_ago
    # It is asked about again, as a work that nobody knew would be.
    check.refresh_from_db()
    assert check.asked_for_at is not None
    SourceCheck.objects.update(checked_at=timezone.now())
    assert seen(note, asker).sources[0].checked_at is not None


def test_a_work_in_a_note_is_checked_though_nothing_of_it_is_held(asker: User) -> None:
    note = kept(asker, "10.1000/a", "A title")
    register(kind="doi", value="10.1000/nobodys", title="", by=None)

    due = planning.due(now=timezone.now())
    assert list(due.values_list("identifier_value", flat=True)) == ["10.1000/a"]
    actions.delete(note=note, by=asker)
    assert not planning.due(now=timezone.now()).exists()


def test_a_document_is_deleted_though_a_note_refers_to_its_nameless_work_which_loses_its_words(
    asker: User, librarian: User
) -> None:
    document = held("Open report")
    Source.objects.update(authors=["A"], container="Reports", publisher="P", url="https://example.org/")
    note = brought(asker, document)

    assert deletion.delete(document_id=document.pk).is_complete

    work = Source.objects.get()
    assert (work.title, work.authors, work.container, work.publisher, work.url) == ("", [], "", "", "")
    (source,) = seen(note, asker).sources
    assert (source.withdrawn, source.available, source.title, source.identifier) == (True, True, "", "")
    actions.delete(note=note, by=asker)
    assert not Source.objects.exists()


def test_a_nameless_work_that_no_note_refers_to_still_goes_with_its_document() -> None:
    document = held("Open report")

    deletion.delete(document_id=document.pk)

    assert not Source.objects.exists()


def test_of_a_withdrawn_work_those_know_whom_its_last_rights_allow(asker: User, librarian: User) -> None:
    documents = [held("Open work", "10.1000/open"), held("Secret work", "10.1000/secret", **SECRET)]
    note = brought(librarian, *documents)
    for document in documents:
        deletion.delete(document_id=document.pk)

    assert [(source.withdrawn, source.identifier) for source in seen(note, asker).sources] == [
        (True, "doi:10.1000/open"), (False, ""),
    ]  # fmt: skip
    assert [source.identifier for source in seen(note, librarian).sources] == [
        "doi:10.1000/open", "doi:10.1000/secret",
    ]  # fmt: skip


def test_a_note_follows_a_work_that_turns_out_to_be_another(asker: User) -> None:
    document = held("Report")
    note, both = brought(asker, document), brought(asker, document)
    named, _ = register(kind="isbn", value="9783161484100", title="Report", by=None)
    ObservationSource.objects.create(observation=both, source=named, number=7, relationship="cited")

    assert hold(document_id=document.pk, identifier=Identifier("isbn", "9783161484100"))

    assert list(Source.objects.all()) == [named]
    assert [(link.number, link.source) for link in note.links.all()] == [(1, named)]
    assert [(link.number, link.source) for link in both.links.all()] == [(7, named)]
    assert seen(note, asker).sources[0].identifier == "isbn:9783161484100"
    retract(named)
    assert seen(note, asker).warned


def test_showing_many_notes_costs_as_many_statements_as_showing_one(
    asker: User, django_assert_num_queries
) -> None:
    notes = [brought(asker, held(f"Work {n}", f"10.1000/{n}"), held(f"Report {n}")) for n in range(5)]
    with django_assert_num_queries(4):
        reading.shown(notes[:1], asker)
    with django_assert_num_queries(4):
        reading.shown(notes, asker)
