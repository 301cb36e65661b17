"""Whoever keeps a note is told when a work in it is retracted or doubted afterwards."""

from __future__ import annotations

from datetime import date

import pytest
from django.contrib.auth.models import User
from django.db import IntegrityError
from django.test import Client
from django.urls import reverse

from answers import alerts
from answers.actions.alerts import bring_up_to_date
from answers.notebook import actions
from answers.notebook.actions import Met, Words
from answers.notices import Notice
from corpus.actions.editorial import record_event, withdraw_event
from corpus.models import Document, Source
from tests.integration.answers.notebooks import answered, held, kept

pytestmark = pytest.mark.django_db(transaction=True)


def retract(work: Source, by: User | None = None) -> None:
    record_event(source=work, kind="retraction", origin="manual", happened_on=date(2021, 3, 4), by=by)


def test_the_owner_is_told_once_and_that_it_is_over(client: Client, asker: User, expert: User) -> None:
    note = kept(asker, "10.1000/a", title="Kept", is_shared=True)
    kept(None, "10.1000/a")
    work = Source.objects.get()

    retract(work)
    bring_up_to_date()
    notice = Notice.objects.get()
    assert (notice.recipient, notice.observation, notice.answer) == (asker, note, None)
    assert (alerts.unread(asker).count(), alerts.unread(expert).count()) == (1, 0)
    client.force_login(asker)
    page = client.get(reverse("notices")).text
    assert "Retracted: a work in your notebook" in page
    assert "DOI 10.1000/a" in page
    assert reverse("note", args=[note.pk]) in page

    withdraw_event(event=work.events.get(), by=asker)
    assert "No longer retracted: a work in your notebook" in client.get(reverse("notices")).text
    assert alerts.unread(asker).count() == 0


def test_what_was_so_when_it_was_named_is_shown_and_not_told(asker: User) -> None:
    document = held("Work", "10.1000/a")
    retract(document.source)

    kept(asker, "10.1000/a")
    bring_up_to_date()

    assert not Notice.objects.exists()


def test_a_work_out_of_reach_is_told_of_without_its_name(client: Client, asker: User) -> None:
    document = held("Canary work", "10.1000/canary")
    actions.add(words=Words("x"), by=asker, met=[Met(source=document.source_id, document=document.pk)])
    Document.objects.update(license_class="restricted")

    retract(document.source)
    client.force_login(asker)
    page = client.get(reverse("notices")).text

    assert "Retracted: a work in your notebook" in page
    assert "anary" not in page


def test_an_answer_and_a_note_of_the_same_work_are_told_of_apart(asker: User) -> None:
    document = held("Work", "10.1000/a")
    answered(asker, document)
    note = kept(asker, "10.1000/a", "10.1000/b")

    retract(document.source)

    assert Notice.objects.filter(answer__isnull=False).count() == 1
    assert Notice.objects.filter(observation=note).count() == 1
    actions.unlink(note=note, number=1, by=asker)
    assert not Notice.objects.filter(observation=note).exists()
    actions.delete(note=note, by=asker)
    assert Notice.objects.count() == 1


def test_a_message_is_about_an_answer_or_a_note_and_holds_once(asker: User) -> None:
    note = kept(asker, "10.1000/a")
    values = {"recipient": asker, "source": Source.objects.get(), "kind": "retracted"}
    Notice.objects.create(observation=note, **values)

    with pytest.raises(IntegrityError, match="once_while_it_holds_of_a_note"):
        Notice.objects.create(observation=note, **values)
    for about in ({}, {"observation": note, "answer": answered(asker, held("Work"))}):
        with pytest.raises(IntegrityError, match="about_an_answer_or_a_note"):
            Notice.objects.create(**about, **values)
