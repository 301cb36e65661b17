"""What the compression gate decided: append-only, the rejections too."""

from __future__ import annotations

import uuid

import pgtrigger
from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now

from evaluation.runs.models import EvaluationRun


class CompressionDecision(models.Model):
    """Whether condensed sources may be adopted, by two runs that differ in nothing else."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    whole = models.ForeignKey(EvaluationRun, on_delete=models.PROTECT, related_name="decisions_as_whole")
    condensed = models.ForeignKey(
        EvaluationRun, on_delete=models.PROTECT, related_name="decisions_as_condensed"
    )
    is_adopted = models.BooleanField()
    reasons = models.JSONField(default=list, help_text="What spoke against adopting, in words")
    numbers = models.JSONField(help_text="What it rests on: dimensions, tokens, what became of sources")
    # No constraint in the database: the record outlives the account.
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        on_delete=models.DO_NOTHING,
        db_constraint=False,
        related_name="+",
    )
    decided_by_name = models.CharField(max_length=150, blank=True, default="")
    decided_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        triggers = [
            pgtrigger.Protect(name="append_only", operation=pgtrigger.Update | pgtrigger.Delete),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["whole", "condensed"], name="%(app_label)s_%(class)s_once_for_two_runs"
            ),
            models.CheckConstraint(
                condition=~Q(whole=F("condensed")), name="%(app_label)s_%(class)s_is_of_two_runs"
            ),
            models.CheckConstraint(
                condition=Q(is_adopted=True, reasons=[]) | (Q(is_adopted=False) & ~Q(reasons=[])),
                name="%(app_label)s_%(class)s_a_rejection_has_reasons",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.whole_id} and {self.condensed_id}: {'adopted' if self.is_adopted else 'rejected'}"
