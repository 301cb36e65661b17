"""What software suggests and a person decides, and the corpus as it once was."""

from __future__ import annotations

import pgtrigger
from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now


class ReviewItem(models.Model):
    """One suggestion that waits for a person. What was decided about it stays as it was decided."""

    class Kind(models.TextChoices):
        LOOSER_LICENSE = "looser_license", "Licence that allows more"
        EMBARGO_OVER = "embargo_over", "Embargo whose day has come"
        SUPERSESSION = "supersession_proposed", "Newer version of the same work"
        CLAIMED_RETRACTION = "claimed_retraction", "Retraction that nothing asserts"

    class State(models.TextChoices):
        OPEN = "open", "Open"
        ACCEPTED = "accepted", "Accepted"
        REJECTED = "rejected", "Rejected"

    kind = models.CharField(max_length=32, choices=Kind.choices)
    document = models.ForeignKey("corpus.Document", on_delete=models.CASCADE, related_name="review_items")
    other = models.ForeignKey(
        "corpus.Document",
        null=True,
        on_delete=models.CASCADE,
        related_name="review_items_as_other",
        help_text="The second document the suggestion is about",
    )
    suggestion = models.JSONField(default=dict)
    suggestion_sha256 = models.CharField(max_length=64, help_text="Tells the same suggestion made again")
    reason = models.TextField(help_text="Why it is suggested, in a sentence")
    state = models.CharField(max_length=8, choices=State.choices, default=State.OPEN)
    opened_at = models.DateTimeField(db_default=Now(), editable=False)
    decided_at = models.DateTimeField(null=True, editable=False)
    # Kept as text beside the key: the account may go, the record may not change.
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        on_delete=models.DO_NOTHING,
        db_constraint=False,
        related_name="+",
    )
    decided_by_name = models.CharField(max_length=150, blank=True, default="")
    note = models.TextField(blank=True, default="")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["document", "kind", "suggestion_sha256"],
                condition=Q(state="open"),
                name="%(app_label)s_%(class)s_once_while_open",
            ),
            models.CheckConstraint(
                condition=Q(state="open", decided_at__isnull=True)
                | (~Q(state="open") & Q(decided_at__isnull=False)),
                name="%(app_label)s_%(class)s_decided_when_not_open",
            ),
        ]
        triggers = [
            pgtrigger.Protect(
                name="decided_stays",
                operation=pgtrigger.Update,
                condition=pgtrigger.Q(old__state__in=["accepted", "rejected"]),
            )
        ]

    def __str__(self) -> str:
        return f"{self.get_kind_display()}: {self.document_id}"


class CorpusSnapshot(models.Model):
    """The corpus at one moment under a name: hashes, classes and statuses, no text. Never changed."""

    name = models.CharField(max_length=100, unique=True)
    fingerprint = models.CharField(max_length=64)
    embedding_version = models.CharField(max_length=200, blank=True, default="")
    counts = models.JSONField()
    documents = models.JSONField(help_text="[content hash, licence class, status] of each, by hash")
    taken_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        triggers = [
            pgtrigger.Protect(name="immutable", operation=pgtrigger.Update | pgtrigger.Delete),
            pgtrigger.Trigger(
                name="no_truncate",
                level=pgtrigger.Statement,
                when=pgtrigger.Before,
                operation=pgtrigger.Truncate,
                func="RAISE EXCEPTION 'pgtrigger: Cannot truncate the snapshots of the corpus';",
            ),
        ]

    def __str__(self) -> str:
        return self.name
