"""Certificates: what a role may not see was looked for everywhere, and whether any of it came back."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now


class Certificate(models.Model):
    """One check of one role. `surfaces` says for each surface how often it was asked and what it let through.

    It holds ids of documents and counts, never words of a document.
    """

    class State(models.TextChoices):
        WAITING = "waiting", "Waits for the worker"
        RUNNING = "running", "At it"
        PASSED = "passed", "Passed"
        FAILED = "failed", "Failed"
        ENDED = "ended", "Could not be carried out"

    # As text: a role may be renamed or go, what was certified stays said.
    role = models.CharField(max_length=150)
    license_classes = models.JSONField(default=list)
    buckets = models.JSONField(null=True, help_text="Null for all buckets")
    state = models.CharField(max_length=8, choices=State.choices, default=State.WAITING)
    reason = models.CharField(max_length=200, blank=True, default="")
    surfaces = models.JSONField(default=list)
    done = models.PositiveIntegerField(default=0, help_text="Surfaces asked so far")
    canaries = models.PositiveIntegerField(default=0, help_text="Documents whose words were looked for")
    hidden = models.PositiveIntegerField(default=0, help_text="Documents the role may not see")
    fingerprint = models.CharField(max_length=64, blank=True, default="", help_text="Of what the role sees")
    asked_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        on_delete=models.DO_NOTHING,
        db_constraint=False,
        related_name="+",
        editable=False,
    )
    asked_by_name = models.CharField(max_length=150, blank=True, default="", editable=False)
    asked_at = models.DateTimeField(db_default=Now(), editable=False)
    started_at = models.DateTimeField(null=True, editable=False)
    finished_at = models.DateTimeField(null=True, editable=False)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(finished_at__isnull=True) | ~Q(state__in=["waiting", "running"]),
                name="%(app_label)s_%(class)s_finished_has_an_outcome",
            )
        ]

    def __str__(self) -> str:
        return f"{self.role}: {self.get_state_display()}"

    @property
    def seconds(self) -> float | None:
        """How long the check took."""
        if self.started_at is None or self.finished_at is None:
            return None
        return (self.finished_at - self.started_at).total_seconds()
