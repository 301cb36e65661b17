"""Addresses that are told what happens, and the ledger of what was sent to them."""

from __future__ import annotations

import secrets
import uuid

import pghistory
from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils.crypto import salted_hmac

from corpus.webhooks.events import LABELS, SUBSCRIBABLE, Event

LONGEST_URL = 2_048
EVENT_CHOICES = [(event.value, LABELS[event]) for event in SUBSCRIBABLE]


def new_salt() -> str:
    """Return what makes the secret of one webhook differ from all others."""
    return secrets.token_hex(32)


@pghistory.track(
    pghistory.InsertEvent(),
    pghistory.UpdateEvent(),
    pghistory.DeleteEvent(),
    model_name="WebhookEvent",
    fields=["owner", "events", "is_active", "disabled_reason"],
)
class Webhook(models.Model):
    """An address that somebody wants told about events, within what they themselves may know."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="webhooks")
    url = models.CharField(max_length=LONGEST_URL, help_text="Where messages are sent, https")
    events = ArrayField(models.CharField(max_length=20, choices=EVENT_CHOICES))
    is_active = models.BooleanField(default=True, editable=False)
    disabled_reason = models.CharField(max_length=200, blank=True, default="", editable=False)
    is_held = models.BooleanField(
        default=False, editable=False, help_text="Disabled by who oversees: its owner may not enable it"
    )
    # The secret itself is kept nowhere: it follows from this and the site's own key.
    salt = models.CharField(max_length=64, default=new_salt, editable=False)
    failures = models.PositiveIntegerField(
        default=0, editable=False, help_text="Deliveries given up in a row"
    )
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        permissions = [("oversee_webhooks", "Can see and disable the webhooks of everyone")]
        constraints = [
            models.CheckConstraint(
                condition=Q(events__len__gt=0), name="%(app_label)s_%(class)s_is_told_something"
            ),
            models.CheckConstraint(
                condition=Q(is_active=False) | Q(disabled_reason=""),
                name="%(app_label)s_%(class)s_active_has_no_reason_not_to_be",
            ),
            models.CheckConstraint(
                condition=Q(is_active=False) | Q(is_held=False),
                name="%(app_label)s_%(class)s_held_is_not_active",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.host} for {self.owner_id}"

    @property
    def host(self) -> str:
        """What may be shown of the address to others: the rest of it may hold a secret of the receiver."""
        return self.url.partition("://")[2].partition("/")[0].partition("?")[0]

    @property
    def secret(self) -> str:
        """The key that signs messages to this address."""
        digest = salted_hmac("corpus.webhooks", self.salt, algorithm="sha256").hexdigest()
        return f"whsec_{digest}"


class WebhookDelivery(models.Model):
    """One message to one address. This row is the truth; a message to the worker only rings a bell.

    `attempts` counts up with every claim and is the claim's token, as it is of jobs. The words of the message
    are made anew for each attempt, from what the owner may know then.
    """

    class State(models.TextChoices):
        PENDING = "pending", "Pending"
        DELIVERED = "delivered", "Delivered"
        GIVEN_UP = "given_up", "Given up"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    webhook = models.ForeignKey(Webhook, on_delete=models.CASCADE, related_name="deliveries")
    event = models.CharField(max_length=20, choices=[(event.value, LABELS[event]) for event in Event])
    kind = models.CharField(max_length=20, blank=True, default="")
    subject = models.UUIDField(null=True, help_text="The run or work it is about")
    state = models.CharField(max_length=10, choices=State.choices, default=State.PENDING)
    attempts = models.PositiveIntegerField(default=0)
    attempt_limit = models.PositiveIntegerField(default=7, help_text="No further attempt from here on")
    next_try_at = models.DateTimeField(db_default=Now())
    lease_until = models.DateTimeField(null=True)
    status = models.PositiveSmallIntegerField(null=True, help_text="What the receiver answered last")
    last_error_code = models.CharField(max_length=60, blank=True, default="")
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    ended_at = models.DateTimeField(null=True, editable=False)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(lease_until__isnull=True) | Q(state="pending"),
                name="%(app_label)s_%(class)s_only_pending_is_leased",
            ),
            models.CheckConstraint(
                condition=Q(state="pending", ended_at__isnull=True)
                | (~Q(state="pending") & Q(ended_at__isnull=False)),
                name="%(app_label)s_%(class)s_ended_when_not_pending",
            ),
            models.CheckConstraint(
                condition=Q(subject__isnull=False) | Q(event="test"),
                name="%(app_label)s_%(class)s_is_about_something",
            ),
        ]
        indexes = [
            # The next one to claim.
            models.Index(
                fields=["next_try_at", "id"], condition=Q(state="pending"), name="corpus_webhook_due"
            ),
            models.Index(fields=["webhook", "-created_at"], name="corpus_webhook_ledger"),
        ]
        verbose_name_plural = "webhook deliveries"

    def __str__(self) -> str:
        return f"{self.event} {self.id}: {self.state}"
