"""Screening: rounds by one set of criteria each, where every candidate stands, and who decided what when."""

from __future__ import annotations

import pgtrigger
from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now


class ScreeningRound(models.Model):
    """Screening by one set of criteria. Other criteria are another round; the last one counts."""

    campaign = models.ForeignKey("corpus.Campaign", on_delete=models.CASCADE, related_name="rounds")
    number = models.PositiveIntegerField()
    criteria = models.TextField()
    criteria_sha256 = models.CharField(max_length=64, editable=False)
    started_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    started_by_name = models.CharField(max_length=200, blank=True, default="", editable=False)
    started_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["campaign", "number"], name="%(app_label)s_%(class)s_number_is_unique"
            )
        ]

    def __str__(self) -> str:
        return f"Round {self.number}"


class Verdict(models.TextChoices):
    """Where a candidate stands in a round."""

    INCLUDE = "include", "Included"
    EXCLUDE = "exclude", "Excluded"
    REVIEW = "review", "Waits for a person"


class Screening(models.Model):
    """Where one candidate stands in one round: what the last decision about it says."""

    round = models.ForeignKey(ScreeningRound, on_delete=models.CASCADE, related_name="screenings")
    candidate = models.ForeignKey("corpus.Candidate", on_delete=models.CASCADE, related_name="screenings")
    verdict = models.CharField(max_length=8, choices=Verdict.choices)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["round", "candidate"], name="%(app_label)s_%(class)s_screened_once"
            ),
            models.CheckConstraint(
                condition=Q(verdict__in=Verdict.values), name="%(app_label)s_%(class)s_verdict_is_known"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.candidate_id}: {self.verdict}"


class ScreeningDecision(models.Model):
    """One decision about one candidate in one round. Never changed; a later one stands beside it."""

    class By(models.TextChoices):
        MODEL = "model", "A model"
        PERSON = "person", "A person"
        RULE = "rule", "A rule"

    class Code(models.TextChoices):
        CONFIDENT = "", "Decided"
        LOW_CONFIDENCE = "low_confidence", "The model was not sure enough"
        MALFORMED = "malformed", "The model’s reply was not what it was asked for"
        NO_ABSTRACT = "no_abstract", "There is no abstract to judge by"

    screening = models.ForeignKey(Screening, on_delete=models.PROTECT, related_name="decisions")
    verdict = models.CharField(max_length=8, choices=Verdict.choices)
    code = models.CharField(max_length=16, choices=Code.choices, blank=True, default="")
    made_by = models.CharField(max_length=6, choices=By.choices)
    reason = models.TextField(blank=True, default="")
    # What the model said, also where that was not enough.
    suggested = models.CharField(max_length=8, choices=Verdict.choices, blank=True, default="")
    confidence = models.FloatField(null=True)
    model = models.CharField(max_length=200, blank=True, default="")
    prompt_sha256 = models.CharField(max_length=64, blank=True, default="")
    prompt_tokens = models.PositiveIntegerField(null=True)
    completion_tokens = models.PositiveIntegerField(null=True)
    undoes = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.PROTECT, related_name="undone_by"
    )
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        on_delete=models.DO_NOTHING,
        db_constraint=False,
        related_name="+",
        editable=False,
    )
    decided_by_name = models.CharField(max_length=200, blank=True, default="", editable=False)
    decided_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(verdict="review") | Q(code=""),
                name="%(app_label)s_%(class)s_a_code_asks_for_a_person",
            ),
            models.CheckConstraint(
                condition=Q(confidence__isnull=True) | Q(confidence__gte=0, confidence__lte=1),
                name="%(app_label)s_%(class)s_confidence_is_a_share",
            ),
            models.UniqueConstraint(fields=["undoes"], name="%(app_label)s_%(class)s_undone_once"),
        ]
        triggers = [
            pgtrigger.Protect(name="append_only", operation=pgtrigger.Update | pgtrigger.Delete),
        ]

    def __str__(self) -> str:
        return f"{self.verdict} by {self.made_by}"
