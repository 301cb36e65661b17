"""The record of when a provider was asked about a work, and what came of it."""

from __future__ import annotations

from django.db import models
from django.db.models import Q


class SourceCheck(models.Model):
    """The last time one provider was asked about one work.

    A check that failed says nothing about the work: it is a state of its own, beside the last good one.
    """

    class Provider(models.TextChoices):
        CROSSREF = "crossref", "Crossref"

    class Outcome(models.TextChoices):
        GOOD = "good", "Answered"
        FAILED = "check_failed", "Check failed"

    source = models.ForeignKey("corpus.Source", on_delete=models.CASCADE, related_name="checks")
    provider = models.CharField(max_length=20, choices=Provider.choices)
    outcome = models.CharField(max_length=12, choices=Outcome.choices)
    reason = models.CharField(max_length=40, blank=True, default="", help_text="Stable code of a failure")
    checked_at = models.DateTimeField()
    last_good_at = models.DateTimeField(null=True)
    asked_for_at = models.DateTimeField(null=True, help_text="A person wants it checked again")
    cited_by = models.PositiveIntegerField(null=True, help_text="Citations the provider counts")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["source", "provider"], name="%(app_label)s_%(class)s_one_per_provider"
            ),
            models.CheckConstraint(
                condition=Q(outcome="good", reason="", last_good_at__isnull=False)
                | Q(Q(outcome="check_failed"), ~Q(reason="")),
                name="%(app_label)s_%(class)s_a_failure_has_its_reason",
            ),
        ]
        indexes = [models.Index(fields=["provider", "checked_at"], name="corpus_check_due")]

    def __str__(self) -> str:
        return f"{self.provider} about {self.source_id}: {self.outcome}"
