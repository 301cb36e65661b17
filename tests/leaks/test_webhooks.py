"""Webhooks against rows their owners may not see: no word, no id, no count of what is hidden."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from corpus.gateways.messages import Messenger
from corpus.gateways.pace import Pace
from corpus.webhooks import actions, delivering, ledger
from corpus.webhooks.events import SUBSCRIBABLE, Event
from tests.leaks.world import CASES, World, allowed
from tests.loopback.webhook_server import WebhookServer

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def server(settings) -> Iterator[WebhookServer]:
    with WebhookServer() as running:
        settings.SCI_RAG_OUTBOUND_HOSTS = [running.host]
        yield running


def announce_everything(world: World) -> None:
    for document in world.documents.values():
        for kind in ("retracted", "concern"):
            actions.announce(event=Event.RETRACTION_ALERT, kind=kind, subject=document.source_id)
    for run in world.runs:
        actions.announce(event=Event.INGEST_FINISHED, kind="ingestion", subject=run.pk)
    for run in world.evaluations:
        actions.announce(event=Event.RUN_FINISHED, kind="evaluation", subject=run.pk)
    for run in world.extractions:
        actions.announce(event=Event.RUN_FINISHED, kind="extraction", subject=run.pk)


def deliver(server: WebhookServer) -> None:
    with Messenger(contact="", listed=[server.host], pace=Pace()) as client:
        while (claim := ledger.claim()) is not None:
            delivering.attempt(claim, client)


@pytest.mark.parametrize("actor", ["curator", "librarian"])
def test_no_message_tells_its_owner_of_what_they_may_not_see(
    world: World, server: WebhookServer, actor: str
) -> None:
    owner = world.people[actor]
    assert owner is not None
    actions.create(url=server.url, events=[event.value for event in SUBSCRIBABLE], by=owner)

    announce_everything(world)
    deliver(server)

    hidden = world.hidden_documents(actor)
    said = "".join(taken.body.decode() for taken in server.taken)
    assert "canary" not in said
    assert not [one for one in hidden if str(one.pk) in said or str(one.source_id) in said]
    # A sweep that is told nothing would be blind.
    shown = [world.documents[name] for name in allowed(actor)]
    assert shown
    assert all(str(one.pk) in said for one in shown)
    taken_in = [one.said["data"] for one in server.taken if one.said["event"] == "ingest_finished"]
    # The file that became no document could be anybody's: it shows to who may see unknown rights.
    unknown = actor == "librarian"
    assert [one["files"] for one in taken_in] == [len(shown) + unknown] * len(world.runs)
    assert len(shown) == len(CASES) or not unknown


@pytest.mark.parametrize("actor", ["without_role", "narrow", "branch", "asker", "expert"])
def test_nobody_else_has_any(world: World, actor: str) -> None:
    owner = world.people[actor]
    assert owner is not None

    with pytest.raises(actions.WebhookError, match="may not"):
        actions.create(url="https://example.org/", events=["run_finished"], by=owner)
