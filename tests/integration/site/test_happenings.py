"""Whatever has to be on record is: each kind of event is brought about, and looked for where it is sealed."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from datetime import date
from typing import Any

import pytest
from django.apps import apps
from django.conf import LazySettings
from django.contrib.auth.models import Group, User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client
from django.urls import reverse

from answers.models import Answer
from corpus.actions import deletion, editorial, quarantine, rights
from corpus.audit import verifying
from corpus.audit.models import AuditEvent
from corpus.keys import actions as keys
from corpus.models import EditorialEvent, GroupCeiling, RightsDecision
from corpus.rights import LicenseClass
from evaluation.actions import runs
from sci_rag_site import configured
from tests.factories.corpus import DocumentFactory, SourceFactory
from tests.factories.evaluation import EvaluationRunFactory
from tests.factories.keys import bearer, make_key
from tests.integration.api.calling import ROOT

pytestmark = pytest.mark.django_db
Kind = AuditEvent.Kind
PASSWORD = "correct horse battery"


def happened(kind: str) -> list[AuditEvent]:
    return list(AuditEvent.objects.filter(kind=kind).order_by("pk"))


def sign_in(name: str, password: str) -> Client:
    client = Client()
    client.post(reverse("login"), {"username": name, "password": password})
    return client


def test_signing_in_is_on_record_with_who_and_from_where(asker: User) -> None:
    sign_in("asker", PASSWORD)

    (event,) = happened(Kind.SIGNED_IN)
    assert (event.by, event.by_name, event.about) == (str(asker.pk), "asker", {"way": "password"})
    assert len(event.place) == 16
    assert "127.0.0.1" not in event.place


def test_failing_to_is_on_record_without_what_was_typed(asker: User) -> None:
    sign_in("asker", "wrong")
    sign_in("my password by mistake", "wrong")

    known, unknown = happened(Kind.SIGN_IN_FAILED)
    assert known.about == {"why": "password", "account": asker.pk}
    assert unknown.about == {"why": "password", "account": None}
    assert "mistake" not in str(AuditEvent.objects.values())


def test_a_pause_is_on_record_once_a_minute(asker: User) -> None:
    for _ in range(16):
        sign_in("asker", "wrong")

    paused = [event for event in happened(Kind.SIGN_IN_FAILED) if event.about["why"] == "paused"]
    assert 1 <= len(paused) <= 2


def test_refusals_are_on_record_once_a_minute_for_each_route(asker: User, client: Client) -> None:
    client.force_login(asker)

    for _ in range(3):
        assert client.get(reverse("usage")).status_code == 404
        assert client.get(reverse("document", args=[uuid.uuid4()])).status_code == 404
        assert client.get(reverse("admin:index"), follow=True).status_code == 403
        assert client.get("/nowhere/").status_code == 404

    events = happened(Kind.DENIED)
    told = {(event.about["route"], event.about["why"]) for event in events}
    assert told == {("usage", "not_found"), ("document", "not_found"), ("admin:login", "permission")}
    # A minute may have ended meanwhile.
    assert len(events) in (3, 6)
    assert {event.by_name for event in events} == {"asker"}


def test_a_form_from_elsewhere_is_a_refusal(asker: User) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(asker)

    assert client.post(reverse("ask"), {"question": "x"}).status_code == 403

    assert [event.about["why"] for event in happened(Kind.DENIED)] == ["csrf"]


def test_keys_that_do_not_count_or_do_not_allow_are_refusals(asker: User) -> None:
    made, narrow = make_key(asker), make_key(asker, permissions=[])
    keys.revoke(key=made.key, by=None)

    for secret in (made.secret.reveal(), narrow.secret.reveal(), "sr_" + "a" * 8 + "_" + "b" * 43):
        Client(headers=bearer(secret)).get(f"{ROOT}/status")

    assert [(event.about["why"], event.by_name) for event in happened(Kind.DENIED)] == [
        ("RevokedKey", ""),
        ("insufficient_scope", "asker"),
        ("InvalidKey", ""),
    ]


def uploads(librarian: User) -> str:
    client = Client()
    client.force_login(librarian)
    sent = SimpleUploadedFile("straw.md", b"# Straw\n\nStraw is a by-product of grain, and holds water.\n")
    client.post(reverse("upload"), {"bucket": "reports", "files": [sent]})
    return Kind.UPLOADED


def exports(librarian: User) -> str:
    client = Client()
    client.force_login(librarian)
    assert client.get(reverse("notes_export", args=["markdown"])).status_code == 200
    return Kind.EXPORTED


def overrides(librarian: User) -> str:
    client = Client()
    client.force_login(librarian)
    client.post(reverse("ask"), {"question": "What does straw hold?", "include_retracted": "on"})
    assert Answer.objects.exists()
    return Kind.OVERRIDDEN


def configures(librarian: User) -> str:
    assert configured.note() == ["domain profile", "settings", "what may leave"]
    assert configured.note() == []
    return Kind.CONFIGURED


EVENTS: dict[str, Callable[[User], str]] = {
    "upload": uploads,
    "export": exports,
    "override": overrides,
    "config": configures,
}


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("name", EVENTS)
def test_it_is_on_record_and_sealed(librarian: User, name: str) -> None:
    kind = EVENTS[name](librarian)

    (event,) = happened(kind)
    assert event.by_name == ("" if name == "config" else "librarian")
    assert verifying.verify().tampers == ()


def test_a_changed_setting_is_on_record_by_its_digest(settings: LazySettings) -> None:
    configured.note()
    settings.SCI_RAG_OUTBOUND_HOSTS = ["inside.example"]
    settings.SECRET_KEY = "another" * 10

    assert configured.note() == ["settings"]
    assert "inside.example" not in str(happened(Kind.CONFIGURED)[-1].about)


# Where the database itself writes it: by a trigger, in the transaction of the change.
BY_TRIGGER: dict[str, tuple[str, dict[str, Any]]] = {
    "cap change": ("GroupCeilingEvent", {"pgh_label": "update"}),
    "role change": ("MembershipEvent", {"pgh_label": "member.added"}),
    "licence change": ("DocumentEvent", {"license_class": "restricted", "pgh_label": "update"}),
    "retraction": ("SourceEvent", {"is_retracted": True}),
    "quarantine": ("DocumentEvent", {"state": "quarantined"}),
    "delete": ("DocumentEvent", {"pgh_label": "delete"}),
    "key create": ("ApiKeyEvent", {"pgh_label": "insert"}),
    "key revoke": ("ApiKeyEvent", {"pgh_label": "update", "revoked_at__isnull": False}),
}


@pytest.fixture
def all_of_it(librarian: User, asker: User) -> None:
    ceiling = GroupCeiling.objects.get(group__name="asker")
    ceiling.license_classes = ["public"]
    ceiling.save()
    asker.groups.add(Group.objects.get(name="expert"))
    document = DocumentFactory(license_class=LicenseClass.PUBLIC.value, source=SourceFactory())
    rights.lower_license(
        document=document, license_class=LicenseClass.RESTRICTED, process="test", signal="said so"
    )
    editorial.record_event(
        source=document.source, kind=EditorialEvent.Kind.RETRACTION, by=librarian,
        origin=EditorialEvent.Origin.MANUAL, happened_on=date(2026, 1, 1),
    )  # fmt: skip
    quarantine.hold(document=document, by=librarian, reason="why")
    deletion.delete(document_id=document.pk, by=librarian)
    keys.revoke(key=make_key(asker).key, by=asker)


@pytest.mark.usefixtures("all_of_it")
def test_what_the_database_writes_itself_is_there_in_a_sealed_table() -> None:
    sealed = set(verifying_tables())

    for name, (model, found) in BY_TRIGGER.items():
        events = apps.get_model("corpus", model)
        assert events._meta.db_table in sealed, name
        assert events.objects.filter(**found).exists(), name
    assert RightsDecision.objects.filter(to_class="restricted").exists()


def verifying_tables() -> list[str]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT tgrelid::regclass::text FROM pg_trigger WHERE tgname = 'audit_sealed'")
        return [row[0] for row in cursor.fetchall()]


def test_merges_and_signatures_are_sealed_where_they_are_written() -> None:
    assert {
        "retrieval_resolutionaudit", "evaluation_questionevent", "evaluation_compressiondecision",
        "corpus_auditevent", "corpus_corpussnapshot", "corpus_rightsdecision",
    } <= set(verifying_tables())  # fmt: skip


def test_no_download_of_the_site_goes_unrecorded(librarian: User, client: Client) -> None:
    client.force_login(librarian)
    address = reverse("notes_export", args=["markdown"])

    client.head(address)
    assert happened(Kind.EXPORTED) == []
    response = client.get(address)

    assert response.headers["Content-Disposition"].startswith("attachment")
    assert [event.about for event in happened(Kind.EXPORTED)] == [
        {"what": "notes_export", "form": "markdown"}
    ]
    client.get(reverse("note_export", args=[uuid.uuid4(), "markdown"]))
    assert len(happened(Kind.EXPORTED)) == 1


def test_a_run_with_its_report_is_on_record(librarian: User) -> None:
    run = EvaluationRunFactory(state="running")

    runs.finish(run=run.pk, summary={})

    assert [event.about["run"] for event in happened(Kind.PUBLISHED)] == [str(run.pk)]
