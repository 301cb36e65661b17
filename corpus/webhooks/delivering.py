"""Sending what the ledger says is due. No transaction and no connection is held while a receiver answers."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import structlog
from django.contrib.auth.models import User
from django.db import transaction

from corpus.gateways.http import Fetched, OutboundError
from corpus.gateways.messages import Messenger
from corpus.webhooks import actions, events, ledger, signing
from corpus.webhooks.ledger import Claim, LostClaim
from corpus.webhooks.models import Webhook, WebhookDelivery

logger = structlog.get_logger(__name__)

DEADLINE_SECONDS = 10.0
# So many deliveries in a row were given up after hours each: nobody is there any more.
MOST_GIVEN_UP = 3
NO_RIGHT = "Its owner may not have webhooks any more."
GONE = "The receiver says that it is gone (410)."
FAILING = "{n} deliveries in a row failed for good, the last with: {code}."


@dataclass(frozen=True, slots=True)
class Message:
    """What is sent, and where to."""

    url: str = field(repr=False)
    secret: str = field(repr=False)
    event: str
    body: bytes = field(repr=False)

    def headers(self, delivery: UUID) -> dict[str, str]:
        """Return the headers for this moment: the signature says when."""
        return {
            "Content-Type": "application/json",
            "Sci-Rag-Event": self.event,
            "Sci-Rag-Delivery": str(delivery),
            signing.HEADER: signing.sign(secret=self.secret, body=self.body, at=int(time.time())),
        }


def outbound() -> Messenger:
    """Return the client for messages: impatient, and checked as every other way out."""
    return Messenger(contact="", deadline=DEADLINE_SECONDS)


def deliver_due(*, seconds: float) -> int:
    """Send what is due for about so long; return how many attempts were made."""
    until = time.monotonic() + seconds
    attempts = 0
    ledger.give_up_spent()
    with outbound() as client:
        while time.monotonic() < until and (claim := ledger.claim()) is not None:
            attempt(claim, client)
            attempts += 1
    return attempts


def attempt(claim: Claim, client: Messenger) -> None:
    """Make one attempt and record what came of it; a claim that was lost meanwhile records nothing."""
    message = _message(claim)
    try:
        if message is None:
            _withheld(claim)
        else:
            _record(claim, _sent(claim, message, client))
    except LostClaim:
        logger.warning("webhook.claim_lost", delivery=str(claim.delivery), attempt=claim.attempt)


@dataclass(frozen=True, slots=True)
class _Outcome:
    status: int | None
    code: str
    asked: float | None = None

    @property
    def is_delivered(self) -> bool:
        return not self.code


def _sent(claim: Claim, message: Message, client: Messenger) -> _Outcome:
    try:
        answer = client.post(message.url, body=message.body, headers=message.headers(claim.delivery))
    except OutboundError as error:
        return _Outcome(None, error.code)
    return _Outcome(answer.status, _code(answer), answer.wait)


def _code(answer: Fetched) -> str:
    if 200 <= answer.status < 300:
        return ""
    return "redirected" if 300 <= answer.status < 400 else f"status_{answer.status}"


def _message(claim: Claim) -> Message | None:
    """Return what the owner may be told now; None for nothing."""
    row = WebhookDelivery.objects.select_related("webhook").filter(pk=claim.delivery).first()
    owner = None if row is None else User.objects.filter(pk=row.webhook.owner_id, is_active=True).first()
    if row is None or owner is None or not row.webhook.is_active or not owner.has_perm(actions.PERMISSION):
        return None
    data = events.described(event=row.event, kind=row.kind, subject=row.subject, to=owner)
    if data is None:
        return None
    return Message(row.webhook.url, row.webhook.secret, row.event, _body(row, data))


def _body(row: WebhookDelivery, data: dict[str, Any]) -> bytes:
    said = {
        "id": str(row.pk),
        "event": row.event,
        "kind": row.kind,
        "happened_at": row.created_at.isoformat(),
        "data": data,
    }
    return json.dumps(said, separators=(",", ":"), sort_keys=True).encode()


@transaction.atomic
def _withheld(claim: Claim) -> None:
    """End a delivery of which its owner may not know; one who may have no webhooks at all loses this one."""
    ledger.end(claim, delivered=False, code="not_allowed")
    webhook = Webhook.objects.select_related("owner").get(pk=claim.webhook)
    if not (webhook.owner.is_active and webhook.owner.has_perm(actions.PERMISSION)):
        actions.disable(webhook=webhook, reason=NO_RIGHT, by=None)


@transaction.atomic
def _record(claim: Claim, outcome: _Outcome) -> None:
    webhook = Webhook.objects.select_for_update().get(pk=claim.webhook)
    if outcome.is_delivered:
        ledger.end(claim, delivered=True, status=outcome.status)
        Webhook.objects.filter(pk=webhook.pk).exclude(failures=0).update(failures=0)
    elif outcome.status == 410:
        ledger.end(claim, delivered=False, status=410, code=outcome.code)
        actions.disable(webhook=webhook, reason=GONE, by=None)
    elif claim.is_last:
        ledger.end(claim, delivered=False, status=outcome.status, code=outcome.code)
        _given_up(claim, webhook, outcome)
    else:
        ledger.postpone(claim, asked=outcome.asked, status=outcome.status, code=outcome.code)
    logger.info(
        "webhook.attempted",
        delivery=str(claim.delivery),
        attempt=claim.attempt,
        status=outcome.status,
        code=outcome.code,
    )


def _given_up(claim: Claim, webhook: Webhook, outcome: _Outcome) -> None:
    if WebhookDelivery.objects.filter(pk=claim.delivery, event=events.Event.TEST.value).exists():
        return
    failures = webhook.failures + 1
    Webhook.objects.filter(pk=webhook.pk).update(failures=failures)
    if failures >= MOST_GIVEN_UP:
        reason = FAILING.format(n=failures, code=outcome.code)
        actions.disable(webhook=webhook, reason=reason, by=None)
