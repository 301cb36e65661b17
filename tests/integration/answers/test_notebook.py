"""Notes: what they are linked to, whose they are, and what the database refuses."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.db import IntegrityError, connections
from django.utils import timezone

from answers.models import Answer
from answers.notebook import actions, reading, undoing
from answers.notebook.actions import Met, Words
from answers.notebook.models import DeletedNote, Observation, ObservationSource
from answers.notebook.naming import named
from corpus.actions import deletion
from corpus.models import Document, Source
from tests.integration.answers.notebooks import answered, held, kept, seen

pytestmark = pytest.mark.django_db
ISBN = "978-3-16-148410-0"


def met(document) -> Met:
    return Met(source=document.source_id, document=document.pk)


def numbers(note: Observation) -> list[tuple[int, str, str]]:
    return [
        (link.number, link.relationship, link.named) for link in note.links.order_by("number", "id")
    ]  # fmt: skip


def test_a_note_has_several_sources_of_every_kind_numbered_as_they_were_named(asker: User) -> None:
    note = kept(
        asker,
        "10.1/NOPE".replace("10.1", "10.1000"),
        "2101.00001",
        ISBN,
        "https://example.org/a#b",
        "A title",
    )

    assert numbers(note) == [
        (1, "cited", "doi:10.1000/nope"),
        (2, "cited", "arxiv:2101.00001"),
        (3, "cited", "isbn:9783161484100"),
        (4, "cited", "url:https://example.org/a"),
        (5, "cited", ""),
    ]
    assert [source.address for source in seen(note, asker).sources] == [
        "https://doi.org/10.1000/nope", "https://arxiv.org/abs/2101.00001", "", "https://example.org/a", "",
    ]  # fmt: skip
    assert seen(note, asker).sources[4].title == "A title"


def test_the_same_work_is_found_however_it_is_written_and_is_in_a_note_once(
    asker: User, expert: User
) -> None:
    note = kept(
        asker, "10.1000/a", "https://doi.org/10.1000/A", ISBN, "3161484100".replace("00", "0X"), "A  title"
    )
    other = kept(expert, "doi:10.1000/a", "isbn 9783161484100", "a TITLE")

    assert Source.objects.count() == 3
    assert [link.source_id for link in note.links.order_by("number")] == [
        link.source_id for link in other.links.order_by("number")
    ]


def test_a_work_that_is_held_is_the_one_that_is_named(asker: User) -> None:
    document = held("Biochar", "10.1000/held")

    note = kept(asker, "10.1000/HELD")

    (source,) = seen(note, asker).sources
    assert (source.title, source.document_id) == ("Biochar", str(document.pk))
    assert Source.objects.count() == 1


def test_naming_what_was_retrieved_makes_it_cited(asker: User) -> None:
    document = held("Biochar", "10.1000/held")
    note = actions.add(words=Words("x"), by=asker, met=[met(document)])
    assert numbers(note) == [(1, "retrieved", "")]

    actions.cite(note=note, named=[named("10.1000/held")], by=asker)
    assert numbers(note) == [(1, "cited", "doi:10.1000/held")]


def test_a_number_is_never_given_twice(asker: User) -> None:
    note = kept(asker, "10.1000/a", "10.1000/b", "10.1000/c")

    assert actions.unlink(note=note, number=3, by=asker)
    assert not actions.unlink(note=note, number=3, by=asker)
    actions.cite(note=note, named=[named("10.1000/d")], by=asker, relationship="inferred")

    assert [(number, how) for number, how, _ in numbers(note)] == [
        (1, "cited"),
        (2, "cited"),
        (4, "inferred"),
    ]


def test_a_note_is_changed_by_whoever_keeps_it_and_by_nobody_else(
    asker: User, expert: User, librarian: User
) -> None:
    note = kept(asker, "10.1000/a", is_shared=True)

    for other in (expert, librarian, None):
        for change in (
            lambda by: actions.change(note=note, words=Words("no"), by=by),
            lambda by: actions.cite(note=note, named=[named("10.1000/b")], by=by),
            lambda by: actions.relate(note=note, number=1, relationship="inferred", by=by),
            lambda by: actions.unlink(note=note, number=1, by=by),
            lambda by: actions.delete(note=note, by=by),
        ):
            with pytest.raises(PermissionError):
                change(other)
    actions.delete(note=note, by=asker)
    with pytest.raises(actions.NoteGone):
        actions.change(note=note, words=Words("late"), by=asker)


def test_a_private_note_is_its_owners_alone_and_a_shared_one_everybodys(
    asker: User, expert: User, librarian: User
) -> None:
    private, shared = kept(asker), kept(asker, is_shared=True)
    operators = kept(None)

    assert set(reading.readable_by(asker)) == {private, shared}
    for other in (expert, librarian):
        assert set(reading.readable_by(other)) == {shared}
        assert list(reading.found(other, text="biochar")) == [shared]
        assert list(reading.own(other)) == []
    assert set(reading.readable_by(None)) == {shared, operators}


def test_deleting_a_note_removes_its_links_and_leaves_the_works(asker: User) -> None:
    document = held("Biochar", "10.1000/held")
    note = kept(asker, "10.1000/held", "10.1000/not-held", "A title alone", "Another title")
    other = kept(asker, "Another title")

    assert actions.delete(note=note, by=asker) == 4

    assert list(ObservationSource.objects.values_list("observation", flat=True)) == [other.pk]
    # A title that nothing else names was the note's own.
    assert sorted(Source.objects.values_list("identifier_value", "title")) == [
        ("", "Another title"), ("10.1000/held", "Biochar"), ("10.1000/not-held", ""),
    ]  # fmt: skip
    assert type(document).objects.filter(pk=document.pk).exists()


def test_a_note_that_is_brought_back_is_as_it_was(asker: User) -> None:
    answer = answered(asker, held("One", "10.1000/1"))
    note = actions.add(
        words=Words("It holds.", kind="method", title="T", is_shared=True),
        by=asker,
        answer=answer,
        met=[met(Document.objects.get())],
        named=[named("10.1000/2"), named("A title alone"), named("10.1000/3")],
    )
    actions.unlink(note=note, number=2, by=asker)
    links = ("number", "relationship", "named", "named_title", "document", "standing_then", "added_at")

    def told() -> tuple[object, ...]:
        row = Observation.objects.get()
        rows = row.links.order_by("number").values_list(*links, "source__identifier_value")
        return Observation.objects.values().get(), list(rows)

    before = told()
    actions.delete(note=note, by=asker)
    assert not Source.objects.filter(identifier_value="").exists()

    undoing.restore(note_id=note.pk, by=asker)

    assert told() == before
    assert Source.objects.get(identifier_value="").title == "A title alone"
    assert not DeletedNote.objects.exists()


def test_what_is_gone_for_good_meanwhile_does_not_hinder_a_note_from_coming_back(asker: User) -> None:
    document = held("One")
    note = actions.add(
        words=Words("It holds."), by=asker, answer=answered(asker, document), met=[met(document)],
        named=[named("10.1000/2")], imported_key="k",
    )  # fmt: skip
    actions.delete(note=note, by=asker)
    deletion.delete(document_id=document.pk)
    Answer.objects.all().delete()
    again = actions.add(words=Words("It holds."), by=asker, imported_key="k")

    back = undoing.restore(note_id=note.pk, by=asker)

    assert numbers(back) == [(2, "cited", "doi:10.1000/2")]
    assert (back.answer, back.imported_key) == (None, "")
    assert Observation.objects.get(imported_key="k") == again


def test_a_deletion_is_taken_back_within_the_hour_once_and_by_who_did_it(asker: User, expert: User) -> None:
    mine, operators = kept(asker), kept(None, text="The operator’s")
    actions.delete(note=mine, by=asker)
    actions.delete(note=operators, by=None)
    for key, by in ((mine.pk, expert), (mine.pk, None), (operators.pk, asker)):
        with pytest.raises(actions.NoteGone):
            undoing.restore(note_id=key, by=by)

    assert undoing.restore(note_id=operators.pk, by=None).owner is None
    DeletedNote.objects.update(deleted_at=timezone.now() - timedelta(minutes=61))
    with pytest.raises(actions.NoteGone):
        undoing.restore(note_id=mine.pk, by=asker)

    assert undoing.forget_old() == 1
    assert not DeletedNote.objects.exists()


def test_a_source_in_use_is_not_deleted_and_it_is_said_by_how_much(asker: User, expert: User) -> None:
    for person in (asker, expert):
        kept(person, "10.1000/a")
    work = Source.objects.get()

    with pytest.raises(actions.SourceInUse, match=r"it is used by 2 notes\."):
        actions.delete_source(source=work, by=None)
    Observation.objects.all().delete()
    actions.delete_source(source=work, by=None)

    assert not Source.objects.exists()
    actions.delete_source(source=work, by=None)


@pytest.mark.django_db(transaction=True)
def test_two_who_name_the_same_works_at_once_get_the_same_records(asker: User, expert: User) -> None:
    works = ["10.1000/a", "10.1000/b", ISBN, "A title", "Another title"]

    def name(turn: int) -> None:
        try:
            kept(asker if turn % 2 else expert, *(works if turn % 3 else works[::-1]))
        finally:
            connections.close_all()

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(name, range(12)))

    assert Source.objects.count() == len(works)
    assert Observation.objects.count() == 12
    assert ObservationSource.objects.count() == 12 * len(works)


@pytest.mark.django_db(transaction=True)
def test_works_are_added_to_a_note_at_once_without_a_number_twice(asker: User) -> None:
    note = kept(asker)

    def cite(number: int) -> None:
        try:
            actions.cite(note=note, named=[named(f"10.1000/{number}")], by=asker)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(cite, range(12)))

    assert [number for number, _, _ in numbers(note)] == list(range(1, 13))


def test_more_sources_than_a_note_may_have_are_refused_and_nothing_is_kept(
    asker: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(actions, "MOST_SOURCES", 2)
    note = kept(asker, "10.1000/a", "10.1000/b")

    with pytest.raises(actions.TooManySources):
        actions.cite(note=note, named=[named("10.1000/c")], by=asker)

    assert (note.links.count(), Source.objects.count()) == (2, 2)


@pytest.mark.parametrize(
    ("values", "rule"),
    [
        ({"text": ""}, "says_something"),
        ({"text": "x", "kind": "poem"}, "kind_is_known"),
        ({"text": "x", "imported_key": "k" * 64}, "imported_once"),
    ],
)
def test_the_database_keeps_the_rules_of_notes(asker: User, values: dict[str, str], rule: str) -> None:
    Observation.objects.create(owner=asker, text="x", imported_key="k" * 64)

    with pytest.raises(IntegrityError, match=rule):
        Observation.objects.create(owner=asker, **values)


@pytest.mark.parametrize(
    ("values", "rule"),
    [
        ({"number": 1}, "number_is_unique"),
        ({"number": 0}, "numbers_from_one"),
        ({"number": 2, "relationship": "guessed"}, "relationship_is_known"),
    ],
)
def test_the_database_keeps_the_rules_of_sources(asker: User, values: dict[str, object], rule: str) -> None:
    note = kept(asker, "10.1000/a")
    fresh = Source.objects.create(title="Another")

    with pytest.raises(IntegrityError, match=rule):
        ObservationSource.objects.create(
            observation=note, source=fresh, **{"relationship": "cited", **values}
        )


def test_the_database_keeps_each_work_of_a_note_once(asker: User) -> None:
    note = kept(asker, "10.1000/a")
    work = note.links.get().source

    with pytest.raises(IntegrityError, match="each_work_once"):
        ObservationSource.objects.create(observation=note, source=work, number=9, relationship="cited")
