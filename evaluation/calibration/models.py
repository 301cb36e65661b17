"""Samples of judged answers for people to label, and their labels."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now

from evaluation.judging.models import AnswerOutcome, in_rubric
from evaluation.judging.rubric import DIMENSIONS
from evaluation.runs.models import EvaluationRun

_UNGRADED = Q(**{f"{name}__isnull": True for name in DIMENSIONS})


class CalibrationQueue(models.Model):
    """Answers of one run that people label. The seed decides which: the same one draws the same again."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    run = models.ForeignKey(EvaluationRun, on_delete=models.PROTECT, related_name="calibrations")
    seed = models.PositiveIntegerField()
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_by_name = models.CharField(max_length=150, blank=True, default="", editable=False)
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["run", "seed"], name="%(app_label)s_%(class)s_drawn_once")
        ]

    def __str__(self) -> str:
        return f"labels of {self.run_id}, seed {self.seed}"


class CalibrationItem(models.Model):
    """One answer of a sample. It repeats no words: they are read through the answer, under who labels."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    queue = models.ForeignKey(CalibrationQueue, on_delete=models.CASCADE, related_name="items")
    number = models.PositiveIntegerField()
    outcome = models.ForeignKey(AnswerOutcome, on_delete=models.CASCADE, related_name="+")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["queue", "number"], name="%(app_label)s_%(class)s_number_is_unique"
            ),
            models.UniqueConstraint(fields=["queue", "outcome"], name="%(app_label)s_%(class)s_drawn_once"),
        ]

    def __str__(self) -> str:
        return f"item {self.number} of {self.queue_id}"


class CalibrationLabel(models.Model):
    """What one person made of one answer: all grades, or why they gave none.

    Two people label an item; where they differ, a third adjudicates.
    """

    item = models.ForeignKey(CalibrationItem, on_delete=models.CASCADE, related_name="labels")
    # Kept as text beside the key: labels may come from elsewhere, and the account may go.
    labeller = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    labeller_name = models.CharField(max_length=150)
    is_expert = models.BooleanField()
    is_adjudication = models.BooleanField(default=False)
    groundedness = models.SmallIntegerField(null=True)
    citation_accuracy = models.SmallIntegerField(null=True)
    completeness = models.SmallIntegerField(null=True)
    correctness = models.SmallIntegerField(null=True)
    skipped = models.CharField(max_length=300, blank=True, default="", help_text="Why it was not labelled")
    at = models.DateTimeField(db_default=Now())
    changed_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["item", "labeller_name"], name="%(app_label)s_%(class)s_once_for_each_person"
            ),
            models.UniqueConstraint(
                fields=["item"],
                condition=Q(is_adjudication=True, skipped=""),
                name="%(app_label)s_%(class)s_adjudicated_once",
            ),
            models.CheckConstraint(
                condition=(~Q(skipped="") & _UNGRADED) | (Q(skipped="") & in_rubric(*DIMENSIONS)),
                name="%(app_label)s_%(class)s_grades_all_or_says_why_not",
            ),
            models.CheckConstraint(
                condition=~Q(labeller_name=""), name="%(app_label)s_%(class)s_has_a_labeller"
            ),
            models.CheckConstraint(
                condition=Q(changed_at__isnull=True) | Q(changed_at__gte=F("at")),
                name="%(app_label)s_%(class)s_changed_after_it_was_given",
            ),
        ]

    def __str__(self) -> str:
        return f"label of {self.item_id} by {self.labeller_name}"


class CalibrationFinish(models.Model):
    """That a person has called their grades of a sample final, and may see what others and the judge gave.

    From then on they change nothing and are asked for nothing more: they are not blind any longer.
    """

    queue = models.ForeignKey(CalibrationQueue, on_delete=models.CASCADE, related_name="finishes")
    person_name = models.CharField(max_length=150)
    at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["queue", "person_name"], name="%(app_label)s_%(class)s_once_for_each_person"
            ),
            models.CheckConstraint(condition=~Q(person_name=""), name="%(app_label)s_%(class)s_has_a_person"),
        ]

    def __str__(self) -> str:
        return f"{self.person_name} has finished {self.queue_id}"
