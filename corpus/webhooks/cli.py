"""`sci-rag webhooks`: see which addresses are told what, and send one a test."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import click
from django.core.exceptions import ValidationError
from django.db.models import Count, Q

from corpus.cli_output import CommandFailed, json_option, print_json
from corpus.webhooks import actions, delivering, ledger
from corpus.webhooks.models import Webhook, WebhookDelivery


@click.group()
def webhooks() -> None:
    """See who is told what happens, and test it."""


@webhooks.command("list")
@json_option
def list_webhooks(*, as_json: bool) -> None:
    """List every webhook with its owner, its events and how its deliveries went."""
    found = [_as_dict(row) for row in _rows()]
    if as_json:
        print_json({"webhooks": found})
        return
    if not found:
        click.echo("There are no webhooks. Librarians and administrators add them in the admin.")
    for one in found:
        state = "active" if one["is_active"] else f"disabled: {one['disabled_reason']}"
        counts = ", ".join(f"{n} {name}" for name, n in one["deliveries"].items() if n) or "nothing sent"
        click.echo(f"{one['webhook']}  {one['host']}  {one['owner']}  {state}")
        click.echo(f"    {', '.join(one['events'])}; {counts}")


@webhooks.command("test")
@click.argument("webhook")
@json_option
def test_webhook(*, webhook: str, as_json: bool) -> None:
    """Send a test to a webhook, now and once, and say how it was answered."""
    try:
        delivery = actions.send_test(webhook=_found(webhook), by=None)
    except actions.WebhookError as error:
        raise CommandFailed(str(error)) from None
    _send(delivery.pk)
    delivery.refresh_from_db()
    if as_json:
        print_json(
            {
                "delivery": delivery.pk,
                "state": delivery.state,
                "status": delivery.status,
                "code": delivery.last_error_code,
            }
        )
    if delivery.state != WebhookDelivery.State.DELIVERED:
        raise CommandFailed(f"It was not taken: {delivery.last_error_code or delivery.state}.")
    if not as_json:
        click.echo(f"Delivered: the receiver answered {delivery.status}.")


def _send(delivery: UUID) -> None:
    claim = ledger.claim(delivery=delivery)
    if claim is None:
        return  # A worker was quicker.
    with delivering.outbound() as client:
        delivering.attempt(claim, client)


def _found(webhook: str) -> Webhook:
    try:
        return Webhook.objects.get(pk=webhook)
    except (Webhook.DoesNotExist, ValidationError):
        raise CommandFailed(
            f"There is no webhook {webhook!r}. 'sci-rag webhooks list' shows those there are."
        ) from None


def _rows() -> list[Webhook]:
    counts = {
        f"count_{state}": Count("deliveries", filter=Q(deliveries__state=state))
        for state in WebhookDelivery.State.values
    }
    return list(Webhook.objects.select_related("owner").annotate(**counts).order_by("created_at", "id"))


def _as_dict(row: Webhook) -> dict[str, Any]:
    return {
        "webhook": str(row.pk),
        "host": row.host,
        "owner": row.owner.get_username(),
        "events": row.events,
        "is_active": row.is_active,
        "disabled_reason": row.disabled_reason,
        "failures": row.failures,
        "deliveries": {state: getattr(row, f"count_{state}") for state in WebhookDelivery.State.values},
    }
