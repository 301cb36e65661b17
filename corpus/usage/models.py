"""The ledger of what models were used for: counts by day, never what was asked or said."""

from __future__ import annotations

from django.db import models
from django.db.models import F, Q

from corpus.usage.purposes import LABELS

PURPOSE_CHOICES = [(purpose.value, label) for purpose, label in LABELS.items()]


class ModelUse(models.Model):
    """What one user's calls of one kind to one model came to on one day."""

    day = models.DateField(help_text="In UTC, when the call ended")
    # No foreign key: what was used stays counted when an account goes, and a write locks one table alone.
    user_id = models.BigIntegerField(null=True, help_text="None for the system's own work")
    purpose = models.CharField(max_length=30, choices=PURPOSE_CHOICES)
    collection = models.CharField(max_length=100, blank=True, default="")
    model = models.CharField(max_length=200)
    calls = models.PositiveBigIntegerField(default=0)
    failures = models.PositiveBigIntegerField(default=0)
    prompt_tokens = models.PositiveBigIntegerField(default=0)
    completion_tokens = models.PositiveBigIntegerField(default=0)
    estimated_calls = models.PositiveBigIntegerField(
        default=0, help_text="Calls whose tokens the provider did not say"
    )
    unpriced_calls = models.PositiveBigIntegerField(default=0, help_text="Calls whose cost nobody knows")
    cost_usd = models.DecimalField(
        max_digits=16, decimal_places=8, default=0, help_text="Of the calls with a price"
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["day", "user_id", "purpose", "collection", "model"],
                nulls_distinct=False,
                name="%(app_label)s_%(class)s_one_row_a_day",
            ),
            models.CheckConstraint(
                condition=Q(failures__lte=F("calls"))
                & Q(estimated_calls__lte=F("calls"))
                & Q(unpriced_calls__lte=F("calls")),
                name="%(app_label)s_%(class)s_parts_are_within_the_calls",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.purpose} by {self.model} on {self.day}"


class CappedRun(models.Model):
    """A run that remembers its cap and what it has used, through every process that carries it on."""

    max_tokens = models.PositiveBigIntegerField(null=True, blank=True)
    max_cost_usd = models.DecimalField(max_digits=12, decimal_places=4, null=True, blank=True)
    calls_made = models.PositiveBigIntegerField(default=0, editable=False)
    tokens_used = models.PositiveBigIntegerField(default=0, editable=False)
    cost_usd = models.DecimalField(max_digits=16, decimal_places=8, default=0, editable=False)
    unpriced_calls = models.PositiveBigIntegerField(default=0, editable=False)

    class Meta:
        abstract = True


class ClaimedRun(CappedRun):
    """A run that one process at a time carries out. `corpus.run_claims` says how it is taken and kept."""

    is_for_workers = models.BooleanField(default=False)
    # When whoever carries it out last gave a sign of life; None while nobody does.
    touched_at = models.DateTimeField(null=True, editable=False)
    # Who that is, and the token without which nothing more may be written.
    held_by = models.CharField(max_length=200, blank=True, default="", editable=False)
    claim = models.UUIDField(null=True, editable=False)

    class Meta:
        abstract = True
