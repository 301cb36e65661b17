"""What came of a question in a run of answers, and what the judge made of it."""

from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from answers.models import Answer
from evaluation.judging.rubric import BEST, CORRECTNESS, GROUNDING, WORST
from evaluation.runs.models import RunQuestion

# Failures that are not the judge's: it was not asked, and asking it would change nothing.
NOT_ASKED = ("no_answer", "answer_changed", "source_gone")
_GROUNDING_EMPTY = Q(groundedness__isnull=True, citation_accuracy__isnull=True, completeness__isnull=True)


def in_rubric(*names: str) -> Q:
    """Return the condition that each of these columns holds a grade of the rubric."""
    condition = Q()
    for name in names:
        # Without the first, a missing grade would satisfy the database: unknown is not false.
        condition &= Q(**{f"{name}__isnull": False, f"{name}__gte": WORST, f"{name}__lte": BEST})
    return condition


class AnswerOutcome(models.Model):
    """The answer to one question of a run. Its words stay with the stored answer, and go with documents."""

    question = models.OneToOneField(RunQuestion, on_delete=models.CASCADE, related_name="answer_outcome")
    answer = models.ForeignKey(Answer, null=True, on_delete=models.SET_NULL, related_name="+")
    answer_sha256 = models.CharField(max_length=64, blank=True, default="", help_text="Of the text as judged")
    finish = models.CharField(max_length=20, blank=True, default="")
    abstained = models.BooleanField(null=True, help_text="Said that the sources do not cover the question")
    sources = models.PositiveSmallIntegerField(default=0)
    cited = models.PositiveSmallIntegerField(default=0)
    prompt_tokens = models.PositiveIntegerField(null=True)
    completion_tokens = models.PositiveIntegerField(null=True)
    milliseconds = models.FloatField(default=0.0)
    fingerprint = models.CharField(max_length=64, blank=True, default="", help_text="Of what this answer saw")
    error_code = models.CharField(max_length=60, blank=True, default="")
    at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(~Q(error_code=""), abstained__isnull=True, answer_sha256="")
                | Q(Q(error_code=""), ~Q(answer_sha256=""), abstained__isnull=False),
                name="%(app_label)s_%(class)s_is_an_answer_or_a_failure",
            )
        ]

    def __str__(self) -> str:
        return f"answer to {self.question_id}"


class Judgement(models.Model):
    """One reply of the judge about one answer: grades of the rubric, or the code of what was wrong."""

    class Kind(models.TextChoices):
        GROUNDING = "grounding", "Against the sources"
        CORRECTNESS = "correctness", "Against the reference"

    outcome = models.ForeignKey(AnswerOutcome, on_delete=models.CASCADE, related_name="judgements")
    kind = models.CharField(max_length=11, choices=Kind.choices)
    groundedness = models.SmallIntegerField(null=True)
    citation_accuracy = models.SmallIntegerField(null=True)
    completeness = models.SmallIntegerField(null=True)
    correctness = models.SmallIntegerField(null=True)
    clamped = ArrayField(
        models.CharField(max_length=20), default=list, help_text="Dimensions given outside the rubric"
    )
    error_code = models.CharField(max_length=60, blank=True, default="")
    prompt_sha256 = models.CharField(max_length=64, blank=True, default="", help_text="Of the prompt file")
    prompt_tokens = models.PositiveIntegerField(null=True)
    completion_tokens = models.PositiveIntegerField(null=True)
    milliseconds = models.FloatField(default=0.0)
    at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["outcome", "kind"], name="%(app_label)s_%(class)s_once_of_each_kind"
            ),
            models.CheckConstraint(
                condition=(~Q(error_code="") & _GROUNDING_EMPTY & Q(correctness__isnull=True, clamped=[]))
                | (Q(error_code="", kind="grounding", correctness__isnull=True) & in_rubric(*GROUNDING))
                | (Q(error_code="", kind="correctness") & _GROUNDING_EMPTY & in_rubric(*CORRECTNESS)),
                name="%(app_label)s_%(class)s_grades_its_pass_or_says_why_not",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} of {self.outcome_id}"
