"""The same-scope certificate: it passes where nothing leaks, fails where something does."""

from __future__ import annotations

import json
from typing import Any

import pytest
from click.testing import CliRunner
from django.contrib.auth.models import Group, User
from django.test import Client
from django.urls import reverse

from corpus.actions import certificates
from corpus.certificates import Certificate
from corpus.models import Document, DocumentCitation
from retrieval.profiles import LAYERS
from sci_rag_site import certificate
from sci_rag_site.cli import main
from sci_rag_site.tasks import certify_scopes
from tests.leaks import mutants
from tests.leaks.world import CASES, World, build

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def world() -> World:
    return build()


def certified(role: str) -> Certificate:
    asked = certificates.ask(role=Group.objects.get(name=role), by=None)
    begun = certificates.begin(key=asked.pk)
    assert begun is not None
    return certificate.certify(begun)


@pytest.mark.parametrize("role", ["narrow", "asker"])
def test_a_role_that_sees_what_it_may_is_certified(world: World, role: str) -> None:
    people, documents = User.objects.count(), Document.objects.count()

    found = certified(role)

    assert [one for one in found.surfaces if not one["passed"]] == []
    assert found.state == Certificate.State.PASSED
    assert found.canaries == found.hidden
    assert {one["surface"] for one in found.surfaces} == {
        *(f"layer {layer}" for layer in LAYERS),
        "export",
        "pages of documents",
        "lists and forms",
        "guessed ids",
        "counts",
        "tools",
    }
    assert (User.objects.count(), Document.objects.count()) == (people, documents)


def test_a_visible_document_that_cites_a_hidden_one_is_no_leak(world: World) -> None:
    hidden = world.documents["restricted"]
    DocumentCitation.objects.create(
        citing=world.documents["public"], ordinal=9, text=hidden.title, doi_normalised=hidden.doi_normalised
    )

    found = certified("narrow")

    assert [one for one in found.surfaces if not one["passed"]] == []


@pytest.mark.parametrize(
    "condition",
    [
        "corpus.scope.eligible without license_classes",
        "corpus.export.rows.passages: Chunk.objects.within(scope)",
        *(
            pytest.param(condition, marks=pytest.mark.long)
            for condition in (
                "corpus.ceilings.effective_scope: requested.within(of(user)) #0",
                "corpus.browsing.readable_document: Document.objects.within(scope)",
                "corpus.views.documents: Document.objects.within(_ceiling(request))",
                "corpus.querysets.DocumentQuerySet.eligible_sql: self.within(scope)",
            )
        ),
    ],
)
def test_a_site_that_lacks_a_condition_is_not_certified(world: World, condition: str) -> None:
    (mutant,) = [one for one in mutants.all_mutants() if one.name == condition]
    asked = certificates.ask(role=Group.objects.get(name="narrow"), by=None)
    begun = certificates.begin(key=asked.pk)
    assert begun is not None

    with mutants.applied(mutant):
        try:
            certificate.certify(begun)
        except Exception:  # noqa: BLE001 - a site that breaks is no pass either
            begun.refresh_from_db()

    assert begun.state in {Certificate.State.FAILED, Certificate.State.ENDED}


def test_the_command_says_what_was_asked_and_keeps_it(world: World) -> None:
    outcome = CliRunner().invoke(main, ["rights", "certificate", "--role", "narrow", "--json"])

    said: dict[str, Any] = json.loads(outcome.stdout)
    assert outcome.exit_code == 0
    assert (said["state"], said["role"]) == ("passed", "narrow")
    assert said["hidden"] == len(CASES) - 1
    assert Certificate.objects.get().fingerprint == said["fingerprint"]
    assert "canary" not in outcome.stdout


def test_a_role_that_does_not_exist_is_named_with_those_that_do() -> None:
    outcome = CliRunner().invoke(main, ["rights", "certificate", "--role", "readers"])

    assert outcome.exit_code == 1
    assert "'readers'" in outcome.output
    assert "librarian" in outcome.output


def test_an_administrator_asks_in_the_list_of_roles_and_the_worker_answers(
    world: World, administrator: User
) -> None:
    client = Client()
    client.force_login(administrator)
    role = Group.objects.get(name="narrow")

    sent = client.post(
        reverse("admin:auth_group_changelist"), {"action": "certify", "_selected_action": str(role.pk)}
    )
    waiting = client.get(sent["Location"]).content.decode()
    certify_scopes()
    shown = client.get(reverse("admin:corpus_certificate_change", args=[Certificate.objects.get().pk]))

    assert "Waits for the worker" in waiting
    assert "guessed ids" in shown.content.decode()
    assert Certificate.objects.get().asked_by_name == "administrator"
    assert Certificate.objects.get().state == Certificate.State.PASSED


def test_a_check_that_stops_is_no_pass(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def stops(*_: object) -> None:
        raise RuntimeError("a word of a document")

    monkeypatch.setattr(certificate, "_export", stops)

    with pytest.raises(RuntimeError):
        certified("narrow")

    row = Certificate.objects.get()
    assert (row.state, row.reason) == (Certificate.State.ENDED, "It stopped with RuntimeError.")


def test_a_check_is_carried_out_once() -> None:
    asked = certificates.ask(role=Group.objects.get(name="asker"), by=None)

    assert certificates.begin(key=asked.pk) is not None
    assert certificates.begin(key=asked.pk) is None
