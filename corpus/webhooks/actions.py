"""Making and changing webhooks, and queueing what they are told, in the transaction of its cause."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from uuid import UUID

import structlog
from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import F
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from corpus import bells
from corpus.gateways import http_addresses
from corpus.gateways.http_addresses import BadAddress
from corpus.webhooks import ledger
from corpus.webhooks.events import SUBSCRIBABLE, Event
from corpus.webhooks.models import Webhook, WebhookDelivery, new_salt

logger = structlog.get_logger(__name__)
State = WebhookDelivery.State

PERMISSION = "corpus.add_webhook"
OVERSEE = "corpus.oversee_webhooks"
# More of them are a mistake, and would be sent a message each for every event.
MOST_OF_ONE_OWNER = 20
HELD = gettext_lazy("Who oversees webhooks disabled this one, and enables it again. The reason: %(reason)s")


class WebhookError(ValueError):
    """A webhook that may not be as asked. The message says why."""


def checked_url(address: str) -> str:
    """Return `address` as it will be asked; raise `WebhookError` for one that never will be."""
    try:
        url = http_addresses.parse(address.strip())
        if not http_addresses.is_listed(url, settings.SCI_RAG_OUTBOUND_HOSTS):
            http_addresses.require_public(url)
    except BadAddress:
        raise WebhookError(
            _(
                "Messages go to https at the name of a public host and its usual port, without a user in the "
                "address. Others have to be listed in SCI_RAG_OUTBOUND_HOSTS by the operator."
            )
        ) from None
    return str(url)


@transaction.atomic
def create(*, url: str, events: Iterable[str], by: User) -> Webhook:
    """Have `url` told of `events` within the rights of `by`. Raises `WebhookError`."""
    if not by.has_perm(PERMISSION):
        raise WebhookError(_("You may not have webhooks."))
    # Two at once would each find room for one more.
    User.objects.select_for_update(no_key=True).get(pk=by.pk)
    if Webhook.objects.filter(owner=by).count() >= MOST_OF_ONE_OWNER:
        raise WebhookError(_("You have %(n)s webhooks, the most there may be.") % {"n": MOST_OF_ONE_OWNER})
    address = checked_url(url)
    _refuse_held_address(address, by)
    webhook = Webhook.objects.create(owner=by, url=address, events=checked_events(events))
    logger.info("webhook.created", webhook=str(webhook.pk), by=by.pk)
    return webhook


@transaction.atomic
def change(*, webhook: Webhook, url: str, events: Iterable[str], by: User) -> Webhook:
    """Have `webhook` be told of other events, or at another address. Raises `WebhookError`."""
    row = _own(webhook, by)
    row.url, row.events = checked_url(url), checked_events(events)
    if not row.is_held:
        _refuse_held_address(row.url, by)
    row.save(update_fields=["url", "events"])
    logger.info("webhook.changed", webhook=str(row.pk), by=by.pk)
    return row


@transaction.atomic
def renew_secret(*, webhook: Webhook, by: User) -> Webhook:
    """Sign with a new secret from now on; the old one is worth nothing any more. Raises `WebhookError`."""
    row = _own(webhook, by)
    row.salt = new_salt()
    row.save(update_fields=["salt"])
    logger.info("webhook.secret_renewed", webhook=str(row.pk), by=by.pk)
    return row


@transaction.atomic
def enable(*, webhook: Webhook, by: User) -> None:
    """Send to `webhook` again, from what happens now. Raises `WebhookError`.

    What another person disabled is enabled again by whoever oversees webhooks, never by its owner.
    """
    row = Webhook.objects.select_for_update().get(pk=webhook.pk)
    if row.is_held and row.owner_id == by.pk:
        raise WebhookError(HELD % {"reason": row.disabled_reason})
    if not (row.is_held and by.has_perm(OVERSEE)):
        row = _own(row, by)
    row.is_active, row.is_held, row.disabled_reason, row.failures = True, False, "", 0
    row.save(update_fields=["is_active", "is_held", "disabled_reason", "failures"])
    logger.info("webhook.enabled", webhook=str(row.pk), by=by.pk)


@transaction.atomic
def disable(*, webhook: Webhook, reason: str, by: User | None) -> None:
    """Send nothing to `webhook` any more, what waits included; `by` None is the worker.

    Disabled by another than its owner it is held: also one that was disabled already.
    Raises `WebhookError` for who neither owns nor oversees it.
    """
    if by is not None and webhook.owner_id != by.pk and not by.has_perm(OVERSEE):
        raise WebhookError(_("Only its owner and who oversees webhooks may do that."))
    is_held = by is not None and by.pk != webhook.owner_id
    rows = Webhook.objects.filter(pk=webhook.pk, is_held=False)
    rows = rows if is_held else rows.filter(is_active=True)
    rows.update(is_active=False, is_held=is_held, disabled_reason=reason[:200])
    waiting = WebhookDelivery.objects.filter(webhook=webhook.pk, state=State.PENDING)
    waiting.update(
        state=State.GIVEN_UP, lease_until=None, ended_at=timezone.now(), last_error_code="disabled"
    )
    logger.warning("webhook.disabled", webhook=str(webhook.pk), by=by.pk if by else None)


@transaction.atomic
def announce(*, event: Event, kind: str, subject: UUID) -> int:
    """Queue a message about `subject` for every webhook that wants `event`; return how many."""
    hooks = Webhook.objects.filter(is_active=True, events__contains=[event.value])
    rows = [
        WebhookDelivery(
            webhook_id=key, event=event.value, kind=kind, subject=subject, attempt_limit=ledger.ATTEMPTS
        )
        for key in hooks.order_by("id").values_list("pk", flat=True)
    ]
    if rows:
        WebhookDelivery.objects.bulk_create(rows, batch_size=500)
        _ring_on_commit()
    return len(rows)


@transaction.atomic
def send_test(*, webhook: Webhook, by: User | None) -> WebhookDelivery:
    """Queue a message without words, to be tried once; `by` None is the operator. Raises `WebhookError`."""
    row = Webhook.objects.select_for_update().get(pk=webhook.pk) if by is None else _own(webhook, by)
    if not row.is_active:
        raise WebhookError(_("It is disabled. Enable it first."))
    delivery = WebhookDelivery.objects.create(webhook=row, event=Event.TEST.value, attempt_limit=1)
    if by is not None:
        _ring_on_commit()
    return delivery


@transaction.atomic
def retry(*, ids: Collection[UUID], by: User) -> int:
    """Try again what was given up, of webhooks of `by` that are active; return how many."""
    rows = WebhookDelivery.objects.select_for_update().filter(
        pk__in=ids, state=State.GIVEN_UP, webhook__owner=by, webhook__is_active=True
    )
    keys = list(rows.order_by("id").values_list("pk", flat=True))
    WebhookDelivery.objects.filter(pk__in=keys).update(
        state=State.PENDING,
        ended_at=None,
        next_try_at=timezone.now(),
        attempt_limit=F("attempts") + ledger.ATTEMPTS,
    )
    if keys:
        _ring_on_commit()
        logger.info("webhook.retried", by=by.pk, deliveries=len(keys))
    return len(keys)


def checked_events(events: Iterable[str]) -> list[str]:
    """Return `events` in their order; raise `WebhookError` for none and for one that nobody subscribes to."""
    wanted = set(events)
    known = [event.value for event in SUBSCRIBABLE]
    if not wanted or not wanted <= set(known):
        raise WebhookError(_("Choose events among: %(names)s.") % {"names": ", ".join(known)})
    return [name for name in known if name in wanted]


def _own(webhook: Webhook, by: User) -> Webhook:
    row = Webhook.objects.select_for_update().get(pk=webhook.pk)
    if row.owner_id != by.pk or not by.has_perm(PERMISSION):
        raise WebhookError(_("Only its owner may do that."))
    return row


def _refuse_held_address(url: str, by: User) -> None:
    """Refuse the address of a webhook of `by` that is held: another row would send there all the same."""
    held = Webhook.objects.filter(owner=by, url=url, is_held=True).first()
    if held is not None:
        raise WebhookError(HELD % {"reason": held.disabled_reason})


def _ring_on_commit() -> None:
    # Nobody who cannot be woken may undo what happened: the clock follows.
    transaction.on_commit(bells.call_for_deliveries, robust=True)
