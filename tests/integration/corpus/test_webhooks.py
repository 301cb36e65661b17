"""Webhooks: what is told to whom, signed, retried, given up, and never sent where it may not go."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from datetime import date, timedelta
from uuid import UUID

import pytest
from click.testing import CliRunner
from django.contrib.auth.models import Group, User
from django.db import IntegrityError, connection, transaction
from django.urls import reverse
from django.utils import timezone

from corpus import tasks, waiting
from corpus.actions import runs
from corpus.actions.editorial import record_event
from corpus.gateways.messages import Messenger
from corpus.gateways.pace import Pace
from corpus.models import GroupCeiling, IngestionRun
from corpus.scope import RetrievalScope
from corpus.webhooks import actions, cli, delivering, ledger, signing
from corpus.webhooks.events import SUBSCRIBABLE, Event
from corpus.webhooks.models import Webhook, WebhookDelivery
from evaluation.actions import runs as evaluation_runs
from retrieval.graph.actions import extraction as extraction_runs
from retrieval.graph.models import ExtractionRun
from tests.factories.corpus import DocumentFactory, IngestionItemFactory, IngestionRunFactory, SourceFactory
from tests.factories.evaluation import EvaluationRunFactory
from tests.loopback.webhook_server import Answer, WebhookServer

pytestmark = pytest.mark.django_db(transaction=True)
State = WebhookDelivery.State
ALL = [event.value for event in SUBSCRIBABLE]


@pytest.fixture
def server(settings) -> Iterator[WebhookServer]:
    with WebhookServer() as running:
        settings.SCI_RAG_OUTBOUND_HOSTS = [running.host]
        yield running


@pytest.fixture
def hook(server: WebhookServer, librarian: User) -> Webhook:
    return actions.create(url=server.url, events=ALL, by=librarian)


def deliver(server: WebhookServer | None = None, **how) -> int:
    """Send everything that is due, as the worker does; without its distance between two messages."""
    client = Messenger(contact="", listed=[server.host] if server else [], deadline=2.0, pace=Pace(), **how)
    count = 0
    with client:
        while (claim := ledger.claim()) is not None:
            delivering.attempt(claim, client)
            count += 1
    return count


def make_due() -> None:
    WebhookDelivery.objects.filter(state=State.PENDING).update(next_try_at=timezone.now())


def let_the_lease_run_out() -> None:
    WebhookDelivery.objects.update(lease_until=timezone.now() - timedelta(seconds=1))


def the_only() -> WebhookDelivery:
    return WebhookDelivery.objects.get()


def ended_run() -> IngestionRun:
    run = IngestionRunFactory(parameters={"process": None})
    runs.finish(run, IngestionRun.State.FINISHED)
    return run


def test_a_run_that_ends_is_told_signed_and_without_content(server, hook) -> None:
    run = IngestionRunFactory(parameters={"process": None}, origin="papers about cheese.jsonl")
    IngestionItemFactory(run=run, path="cheese.pdf", outcome="failed")
    IngestionItemFactory(run=run, outcome="ready", document=DocumentFactory(title="Cheese"))
    runs.finish(run, IngestionRun.State.FINISHED)

    assert deliver(server) == 1

    (taken,) = server.taken
    signing.verify(secret=hook.secret, body=taken.body, header=taken.headers["sci-rag-signature"])
    assert taken.path == "/hook?token=receivers-own-secret"
    assert (taken.headers["sci-rag-event"], taken.headers["content-type"]) == (
        "ingest_finished",
        "application/json",
    )
    assert taken.said == {
        "id": taken.headers["sci-rag-delivery"],
        "event": "ingest_finished",
        "kind": "ingestion",
        "happened_at": taken.said["happened_at"],
        "data": {
            "run": str(run.pk),
            "state": "finished",
            "files": 2,
            "outcomes": {"failed": 1, "ready": 1},
        },
    }
    assert "cheese" not in taken.body.decode().lower()
    assert (the_only().state, the_only().status, the_only().attempts) == (State.DELIVERED, 204, 1)


def test_a_retraction_is_told_to_who_may_see_the_work(server, hook, librarian) -> None:
    document = DocumentFactory(source=SourceFactory(), title="Cheese")
    record_event(
        source=document.source, kind="retraction", origin="manual", happened_on=date(2026, 1, 1), by=librarian
    )

    deliver(server)

    (taken,) = server.taken
    assert taken.said["event"] == "retraction_alert"
    assert taken.said["data"] == {
        "source": str(document.source_id),
        "holds": True,
        "documents": [str(document.pk)],
        "answers": 0,
    }
    assert "cheese" not in taken.body.decode().lower()


def test_a_correction_alarms_nobody(server, hook, librarian) -> None:
    document = DocumentFactory(source=SourceFactory())
    record_event(
        source=document.source, kind="correction", origin="manual", happened_on=date(2026, 1, 1), by=librarian
    )

    assert not WebhookDelivery.objects.exists()


def test_a_work_beyond_the_owners_ceiling_is_not_told_of(server, librarian) -> None:
    narrow = Group.objects.create(name="narrow")
    narrow.permissions.set(Group.objects.get(name="librarian").permissions.all())
    GroupCeiling.objects.create(group=narrow, license_classes=["public"])
    owner = User.objects.create_user("narrow")
    owner.groups.add(narrow)
    actions.create(url=server.url, events=ALL, by=owner)
    hidden = DocumentFactory(source=SourceFactory(), license_class="restricted")
    record_event(
        source=hidden.source, kind="retraction", origin="manual", happened_on=date(2026, 1, 1), by=librarian
    )
    # Of a run the counts are those of files the owner may know of.
    run = IngestionRunFactory(parameters={"process": None})
    IngestionItemFactory(run=run, outcome="ready", document=hidden)
    IngestionItemFactory(run=run, outcome="ready", document=DocumentFactory(license_class="public"))
    runs.finish(run, IngestionRun.State.FINISHED)

    deliver(server)

    (taken,) = server.taken
    assert taken.said["data"]["outcomes"] == {"ready": 1}
    withheld = WebhookDelivery.objects.get(event="retraction_alert")
    assert (withheld.state, withheld.last_error_code) == (State.GIVEN_UP, "not_allowed")
    assert Webhook.objects.get().is_active


@pytest.mark.parametrize("how", ["leaves the role", "is closed"])
def test_an_owner_who_lost_the_right_receives_nothing(server, hook, librarian, how) -> None:
    ended_run()
    if how == "is closed":
        User.objects.filter(pk=librarian.pk).update(is_active=False)
    else:
        librarian.groups.clear()

    deliver(server)

    assert server.taken == []
    assert (the_only().state, the_only().last_error_code) == (State.GIVEN_UP, "not_allowed")
    hook.refresh_from_db()
    assert (hook.is_active, hook.disabled_reason) == (False, delivering.NO_RIGHT)


def test_a_role_that_goes_between_two_attempts_ends_the_second(server, hook, librarian) -> None:
    server.will(Answer(500))
    ended_run()
    deliver(server)
    librarian.groups.clear()
    make_due()

    deliver(server)

    assert len(server.taken) == 1
    assert the_only().last_error_code == "not_allowed"


def test_a_failed_delivery_waits_longer_each_time_and_is_given_up(server, hook) -> None:
    server.will(*[Answer(500)] * ledger.ATTEMPTS)
    ended_run()

    for attempt, pause in enumerate((*ledger.PAUSES, None), start=1):
        assert deliver(server) == 1
        row = the_only()
        assert (row.attempts, row.status, row.last_error_code) == (attempt, 500, "status_500")
        if pause is not None:
            assert row.state == State.PENDING
            assert abs((row.next_try_at - timezone.now()).total_seconds() - pause) < 5
            assert deliver(server) == 0
            make_due()

    assert the_only().state == State.GIVEN_UP
    assert len({taken.said["id"] for taken in server.taken}) == 1
    assert len(server.taken) == ledger.ATTEMPTS
    hook.refresh_from_db()
    assert (hook.failures, hook.is_active) == (1, True)


def test_who_asks_to_be_left_alone_is_left_alone_with_everything(server, hook) -> None:
    server.will(Answer(503, {"Retry-After": "3600"}))
    ended_run()
    ended_run()

    assert deliver(server) == 1
    waits = [
        (row.next_try_at - timezone.now()).total_seconds() for row in WebhookDelivery.objects.order_by("id")
    ]

    assert len(waits) == 2
    assert all(abs(wait - 3600) < 5 for wait in waits)


def test_an_endless_retry_after_is_a_day(server, hook) -> None:
    server.will(Answer(429, {"Retry-After": "9" * 30}))
    ended_run()

    deliver(server)

    assert the_only().next_try_at - timezone.now() < timedelta(days=1, seconds=5)


def test_a_redirect_is_not_followed(server, hook) -> None:
    server.will(Answer(302, {"Location": f"http://{server.host}/elsewhere"}))
    ended_run()

    deliver(server)

    assert [taken.path for taken in server.taken] == ["/hook?token=receivers-own-secret"]
    assert the_only().last_error_code == "redirected"


def test_a_receiver_that_is_gone_is_disabled_at_once(server, hook) -> None:
    server.will(Answer(410))
    ended_run()
    ended_run()

    deliver(server)

    hook.refresh_from_db()
    assert (hook.is_active, hook.disabled_reason) == (False, delivering.GONE)
    assert len(server.taken) == 1
    assert set(WebhookDelivery.objects.values_list("last_error_code", flat=True)) == {
        "status_410",
        "disabled",
    }


def test_repeated_failure_disables_with_a_reason_and_success_forgets_it(server, hook) -> None:
    server.will(Answer(500), Answer(500), Answer(204), *[Answer(500)] * 3)

    for failures in (1, 2, 0, 1, 2):
        ended_run()
        WebhookDelivery.objects.filter(state=State.PENDING).update(attempt_limit=1)
        deliver(server)
        hook.refresh_from_db()
        assert (hook.failures, hook.is_active) == (failures, True)
    ended_run()
    WebhookDelivery.objects.filter(state=State.PENDING).update(attempt_limit=1)
    deliver(server)

    hook.refresh_from_db()
    assert not hook.is_active
    assert hook.disabled_reason == "3 deliveries in a row failed for good, the last with: status_500."
    assert actions.announce(event=Event.INGEST_FINISHED, kind="ingestion", subject=hook.pk) == 0


def test_a_slow_receiver_is_given_its_time_and_no_more(server, hook) -> None:
    server.will(Answer(wait=30))
    ended_run()

    deliver(server)

    assert (the_only().state, the_only().last_error_code) == (State.PENDING, "timeout")


@pytest.mark.parametrize(
    "answers",
    [["127.0.0.1"], ["10.1.2.3"], ["169.254.169.254"], ["93.184.216.34", "::1"], ["64:ff9b::7f00:1"]],
)
def test_a_public_name_that_leads_inside_is_sent_nothing(server, librarian, answers) -> None:
    actions.create(url="https://rebinding.example/hook", events=ALL, by=librarian)
    ended_run()

    deliver(look_up=lambda *_: answers)

    assert server.taken == []
    assert the_only().last_error_code == "forbidden_address"


def test_a_host_that_is_listed_no_more_is_sent_nothing(server, hook) -> None:
    ended_run()

    deliver()

    assert server.taken == []
    assert the_only().last_error_code == "bad_address"


def test_an_asker_may_have_none(asker) -> None:
    with pytest.raises(actions.WebhookError, match="may not"):
        actions.create(url="https://example.org/", events=ALL, by=asker)


def test_two_that_are_added_at_once_do_not_pass_the_limit(librarian, monkeypatch) -> None:
    monkeypatch.setattr(actions, "MOST_OF_ONE_OWNER", 1)

    def add() -> None:
        try:
            actions.create(url="https://example.org/", events=ALL, by=librarian)
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            actions.create(url="https://example.org/", events=ALL, by=librarian)
            second = pool.submit(add)
            assert not wait([second], timeout=0.5).done
        with pytest.raises(actions.WebhookError, match="the most"):
            second.result()


def test_what_is_rolled_back_is_not_told(hook) -> None:
    with transaction.atomic():
        ended_run()
        transaction.set_rollback(True)

    assert not WebhookDelivery.objects.exists()


def test_two_workers_send_a_message_once(server, hook) -> None:
    ended_run()
    first = ledger.claim()

    assert first is not None
    assert ledger.claim() is None
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE corpus_webhookdelivery SET lease_until = clock_timestamp() - interval '1 second'"
        )
    second = ledger.claim()
    assert second is not None
    # The first worker comes back from the dead: it writes nothing.
    with pytest.raises(ledger.LostClaim):
        ledger.end(first, delivered=True, status=200)
    ledger.end(second, delivered=True, status=200)
    assert (the_only().state, the_only().attempts) == (State.DELIVERED, 2)


def test_an_attempt_that_took_its_worker_down_is_counted(server, hook) -> None:
    ended_run()
    WebhookDelivery.objects.update(attempt_limit=1)
    ledger.claim()
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE corpus_webhookdelivery SET lease_until = clock_timestamp() - interval '1 second'"
        )

    assert ledger.give_up_spent() == 1
    assert (the_only().state, the_only().last_error_code) == (State.GIVEN_UP, "worker_lost")


def test_the_database_keeps_the_ledger_in_order(hook) -> None:
    ended_run()

    for broken in ({"state": "delivered"}, {"ended_at": timezone.now()}, {"subject": None}):
        with pytest.raises(IntegrityError):
            WebhookDelivery.objects.update(**broken)


def test_the_worker_sends_and_forgets(server, hook) -> None:
    ended_run()

    tasks.deliver_webhooks()
    tasks.forget_deliveries()
    assert the_only().state == State.DELIVERED
    WebhookDelivery.objects.update(ended_at=timezone.now() - timedelta(days=tasks.LEDGER_DAYS + 1))
    tasks.forget_deliveries()

    assert len(server.taken) == 1
    assert not WebhookDelivery.objects.exists()


def test_the_secret_is_not_in_the_database_nor_in_a_repr(hook) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT row_to_json(w)::text FROM corpus_webhook w")
        ((row,),) = cursor.fetchall()
        cursor.execute("SELECT coalesce(string_agg(row_to_json(e)::text, ''), '') FROM corpus_webhookevent e")
        ((history,),) = cursor.fetchall()

    assert hook.secret.removeprefix("whsec_") not in row + history + repr(hook) + str(hook)
    assert "receivers-own-secret" not in history + repr(hook) + str(hook)


def test_a_new_secret_replaces_the_old(server, hook, librarian) -> None:
    old = hook.secret

    new = actions.renew_secret(webhook=hook, by=librarian).secret
    ended_run()
    deliver(server)

    (taken,) = server.taken
    signing.verify(secret=new, body=taken.body, header=taken.headers["sci-rag-signature"])
    with pytest.raises(signing.BadSignature):
        signing.verify(secret=old, body=taken.body, header=taken.headers["sci-rag-signature"])


def test_no_log_has_addresses_or_secrets(server, hook, caplog, capsys) -> None:
    server.will(Answer(500))
    ended_run()
    deliver(server)
    make_due()
    deliver(server)

    captured = capsys.readouterr()
    said = caplog.text + captured.out + captured.err
    assert "webhook.attempted" in said
    assert "receivers-own-secret" not in said
    assert hook.secret not in said


def run_command(*arguments: str):
    return CliRunner().invoke(cli.webhooks, arguments)


def test_the_command_lists_and_tests(server, hook) -> None:
    listed = json.loads(run_command("list", "--json").stdout)["webhooks"]
    tested = run_command("test", str(hook.pk))
    server.will(Answer(500))
    refused = run_command("test", str(hook.pk))

    assert [(one["webhook"], one["host"], one["owner"]) for one in listed] == [
        (str(hook.pk), server.host, "librarian")
    ]
    assert "receivers-own-secret" not in run_command("list").output
    assert (tested.exit_code, tested.output) == (0, "Delivered: the receiver answered 204.\n")
    assert (refused.exit_code, refused.output) == (1, "Error: It was not taken: status_500.\n")
    assert server.taken[0].said["event"] == "test"
    hook.refresh_from_db()
    assert hook.failures == 0


@pytest.mark.parametrize("named", ["nonsense", "00000000-0000-4000-8000-000000000000"])
def test_the_command_names_what_it_does_not_find(named) -> None:
    result = run_command("test", named)

    assert result.exit_code == 1
    assert named in result.output


def add(client, server: WebhookServer):
    return client.post(reverse("admin:corpus_webhook_add"), {"url": server.url, "events": ALL})


def act(client, name: str, *keys: UUID, screen: str = "webhook"):
    data = {"action": name, "_selected_action": [str(key) for key in keys]}
    return client.post(reverse(f"admin:corpus_{screen}_changelist"), data, follow=True)


def test_a_librarian_adds_tests_and_retries_in_the_admin(client, librarian, server) -> None:
    client.force_login(librarian)
    shown = add(client, server)
    hook = Webhook.objects.get()
    act(client, "send_test", hook.pk)
    server.will(Answer(500))
    deliver(server)
    failed = the_only()
    act(client, "retry", failed.pk, screen="webhookdelivery")
    deliver(server)

    assert hook.secret in shown.content.decode()
    for screen in ("webhook_changelist", "webhookdelivery_changelist"):
        assert hook.secret not in client.get(reverse(f"admin:corpus_{screen}")).content.decode()
    page = client.get(reverse("admin:corpus_webhook_change", args=[hook.pk])).content.decode()
    assert hook.secret not in page
    assert hook.salt not in page
    assert (failed.state, the_only().state) == (State.GIVEN_UP, State.DELIVERED)
    assert [taken.said["event"] for taken in server.taken] == ["test", "test"]


def test_a_wrong_address_comes_back_with_what_was_typed(client, librarian) -> None:
    client.force_login(librarian)

    response = client.post(
        reverse("admin:corpus_webhook_add"), {"url": "http://10.0.0.1/hook", "events": ["run_finished"]}
    )

    assert "public host" in response.content.decode()
    assert "http://10.0.0.1/hook" in response.content.decode()
    assert not Webhook.objects.exists()


def test_others_see_nothing_of_it_and_who_oversees_sees_the_host_and_may_disable(
    client, hook, administrator, server
) -> None:
    other = User.objects.create_user("other")
    other.groups.add(Group.objects.get(name="librarian"))
    ended_run()
    deliver(server)
    seen = {}
    for person in (other, administrator):
        client.force_login(person)
        seen[person] = "".join(
            client.get(address, follow=True).content.decode()
            for address in (
                reverse("admin:corpus_webhook_changelist"),
                reverse("admin:corpus_webhook_change", args=[hook.pk]),
                reverse("admin:corpus_webhookdelivery_changelist"),
                reverse("admin:corpus_webhookdelivery_change", args=[the_only().pk]),
            )
        )
        for name in ("send_test", "renew_secret"):
            act(client, name, hook.pk)

    assert server.host not in seen[other]
    assert server.host in seen[administrator]
    assert "receivers-own-secret" not in seen[other] + seen[administrator]
    assert WebhookDelivery.objects.count() == 1
    assert Webhook.objects.get().salt == hook.salt
    act(client, "disable", hook.pk)
    hook.refresh_from_db()
    assert (hook.is_active, hook.disabled_reason) == (False, "Disabled by administrator.")


def test_an_owner_enables_again(client, hook, librarian) -> None:
    actions.disable(webhook=hook, reason="x", by=None)
    client.force_login(librarian)

    act(client, "enable", hook.pk)

    hook.refresh_from_db()
    assert (hook.is_active, hook.disabled_reason, hook.failures) == (True, "", 0)


def test_what_an_overseer_disabled_its_owner_cannot_enable_delete_or_have_told_again(
    client, hook, librarian, administrator
) -> None:
    client.force_login(administrator)
    act(client, "disable", hook.pk)
    client.force_login(librarian)

    said = act(client, "enable", hook.pk).content.decode()
    with pytest.raises(actions.WebhookError, match="Disabled by administrator"):
        actions.create(url=hook.url, events=ALL, by=librarian)
    client.post(reverse("admin:corpus_webhook_delete", args=[hook.pk]), {"post": "yes"})
    act(client, "delete_selected", hook.pk)

    assert "The reason: Disabled by administrator." in said
    hook.refresh_from_db()
    assert (hook.is_active, hook.is_held) == (False, True)
    client.force_login(administrator)
    act(client, "enable", hook.pk)
    hook.refresh_from_db()
    assert (hook.is_active, hook.is_held, hook.disabled_reason) == (True, False, "")


def test_an_overseer_holds_what_its_owner_had_disabled_already(hook, librarian, administrator) -> None:
    actions.disable(webhook=hook, reason="Away.", by=librarian)
    actions.disable(webhook=hook, reason="Sends on.", by=administrator)
    # Neither its owner nor the worker turns that into a disabling of their own.
    actions.disable(webhook=hook, reason="Mine.", by=librarian)

    with pytest.raises(actions.WebhookError, match="Sends on"):
        actions.enable(webhook=hook, by=librarian)


def test_what_is_disabled_waits_for_its_owner_and_for_who_oversees(
    hook, librarian, django_user_model
) -> None:
    other, overseer = (django_user_model.objects.create_user(name) for name in ("other", "overseer"))
    other.groups.add(Group.objects.get(name="librarian"))
    overseer.groups.add(Group.objects.get(name="administrator"))
    with pytest.raises(actions.WebhookError, match="oversees"):
        actions.disable(webhook=hook, reason="x", by=other)
    actions.disable(webhook=hook, reason="x", by=overseer)

    def counted(user: User) -> int:
        return {str(item.label): item.count for item in waiting.waiting(user)}["Webhooks that are disabled"]

    assert [counted(user) for user in (librarian, other, overseer)] == [1, 0, 1]


def test_evaluations_and_extractions_that_end_are_told(server, hook) -> None:
    finished = EvaluationRunFactory(scope=RetrievalScope().as_dict(), planned=4, done=4, failed=1)
    evaluation_runs.finish(run=finished.pk, summary={"hit": 1})
    failed = EvaluationRunFactory(scope=RetrievalScope().as_dict())
    evaluation_runs.fail(run=failed.pk, code="conditions_changed")
    evaluation_runs.fail(run=failed.pk, code="conditions_changed")
    extraction = ExtractionRun.objects.create(extractor="rules@0", passages_done=3, entities_added=2)
    extraction_runs.finish(run=extraction.pk)

    deliver(server)

    told = {taken.said["data"]["run"]: (taken.said["kind"], taken.said["data"]) for taken in server.taken}
    assert len(server.taken) == 3
    assert told[str(finished.pk)] == (
        "evaluation",
        {"run": str(finished.pk), "measures": "retrieval", "state": "finished", "results": 4, "failed": 1},
    )
    assert told[str(failed.pk)][1]["state"] == "failed"
    assert told[str(extraction.pk)] == (
        "extraction",
        {
            "run": str(extraction.pk),
            "state": "finished",
            "passages": 3,
            "entities": 2,
            "relationships": 0,
            "batches_failed": 0,
        },
    )
