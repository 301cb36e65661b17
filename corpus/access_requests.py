"""What askers want to see and do not find, for a librarian to decide."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from corpus.identifiers import fold, normalise_doi

LONGEST_WANTED, LONGEST_REASON = 300, 1_000


class AccessRequest(models.Model):
    """One request, in the words of whoever made it.

    It points at no document: a row that did would tell which of them exist. What it is about is looked up
    when a librarian opens it, under that librarian's ceiling.
    """

    class State(models.TextChoices):
        OPEN = "open", "Open"
        GRANTED = "granted", "Granted"
        DECLINED = "declined", "Declined"

    asked_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="access_requests"
    )
    wanted = models.CharField(max_length=LONGEST_WANTED, help_text="DOI, title or id, as typed")
    wanted_key = models.CharField(max_length=LONGEST_WANTED, editable=False, help_text="Tells a repetition")
    reason = models.CharField(max_length=LONGEST_REASON, blank=True, default="")
    state = models.CharField(max_length=8, choices=State.choices, default=State.OPEN)
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    decided_at = models.DateTimeField(null=True, editable=False)
    # Kept as text beside the key: the account may go, the record may not change.
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        on_delete=models.DO_NOTHING,
        db_constraint=False,
        related_name="+",
        editable=False,
    )
    decided_by_name = models.CharField(max_length=150, blank=True, default="", editable=False)
    note = models.CharField(max_length=LONGEST_REASON, blank=True, default="", help_text="For who asked")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["asked_by", "wanted_key"],
                condition=Q(state="open"),
                name="%(app_label)s_%(class)s_once_while_open",
            ),
            models.CheckConstraint(
                condition=Q(state="open", decided_at__isnull=True)
                | (~Q(state="open") & Q(decided_at__isnull=False)),
                name="%(app_label)s_%(class)s_decided_when_not_open",
            ),
        ]
        indexes = [models.Index(fields=["asked_by", "-created_at"], name="corpus_accessrequest_of_asker")]

    def __str__(self) -> str:
        return f"{self.get_state_display()}: {self.wanted[:80]}"


def key_of(wanted: str) -> str:
    """Return what tells the same wish made again: the DOI, else the words without case and accents."""
    return (normalise_doi(wanted) or fold(wanted))[:LONGEST_WANTED]
