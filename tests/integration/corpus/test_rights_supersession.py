"""A newer document takes the place of an older one, and never in a circle."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection

from corpus.actions.supersession import SupersessionError, supersede, undo
from corpus.models import Document, DocumentEvent
from tests.factories.corpus import DocumentFactory

pytestmark = pytest.mark.django_db


def test_a_superseded_document_names_its_successor_and_the_history_says_who(librarian):
    old, new = DocumentFactory(), DocumentFactory()

    assert supersede(old=old, new=new, by=librarian, note="2022 edition")

    assert (old.status, old.superseded_by) == ("superseded", new)
    event = DocumentEvent.objects.select_related("pgh_context").get(pgh_label="update")
    assert event.pgh_context.metadata == {"user": librarian.pk, "reason": "2022 edition"}


def test_recording_the_same_successor_again_changes_nothing():
    old, new = DocumentFactory(), DocumentFactory()
    supersede(old=old, new=new)

    assert not supersede(old=old, new=new)


def test_a_chain_of_editions_may_not_close_into_a_circle():
    first, second, third = DocumentFactory.create_batch(3)
    supersede(old=first, new=second)
    supersede(old=second, new=third)

    with pytest.raises(SupersessionError, match="comes after"):
        supersede(old=third, new=first)

    third.refresh_from_db()
    assert third.status == "current"


def test_a_document_does_not_supersede_itself():
    document = DocumentFactory()

    with pytest.raises(SupersessionError):
        supersede(old=document, new=document)


def test_a_second_successor_is_refused_until_the_first_is_undone():
    old, wrong, right = DocumentFactory.create_batch(3)
    supersede(old=old, new=wrong)
    with pytest.raises(SupersessionError, match="Undo that first"):
        supersede(old=old, new=right)

    assert undo(document=old)
    assert (old.status, old.superseded_by) == ("current", None)

    assert supersede(old=old, new=right)


def test_undoing_what_is_current_changes_nothing():
    assert not undo(document=DocumentFactory())


@pytest.mark.django_db(transaction=True)
def test_two_people_at_once_cannot_close_a_circle():
    one, other = DocumentFactory(), DocumentFactory()

    def link(old, new):
        try:
            return supersede(old=Document.objects.get(pk=old), new=Document.objects.get(pk=new))
        except SupersessionError:
            return False
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as people:
        outcomes = list(people.map(link, [one.pk, other.pk], [other.pk, one.pk]))

    assert sorted(outcomes) == [False, True]
    assert Document.objects.filter(superseded_by__isnull=False).count() == 1
