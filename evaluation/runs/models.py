"""Evaluation runs: the conditions a number was measured under, and what was found question by question."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now

from corpus.usage.models import ClaimedRun
from evaluation.ground_truth.models import NAME, Question, QuestionSet


class EvaluationRun(ClaimedRun):
    """One evaluation. Two runs compare when kind, questions, corpus and judge are the same.

    The conditions are written when it starts. `summary` holds the numbers of a run that has finished.
    """

    class Kind(models.TextChoices):
        RETRIEVAL = "retrieval", "Retrieval"
        ANSWERS = "answers", "Answers"

    class State(models.TextChoices):
        RUNNING = "running", "Running"
        FINISHED = "finished", "Finished"
        FAILED = "failed", "Failed"
        CANCELLED = "cancelled", "Cancelled"
        CAPPED = "capped", "Stopped at the cap"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    kind = models.CharField(max_length=9, choices=Kind.choices)
    state = models.CharField(max_length=9, choices=State.choices, default=State.RUNNING)
    # What was asked, as it was asked: the set may be changed or go.
    question_set = models.ForeignKey(QuestionSet, null=True, on_delete=models.SET_NULL, related_name="runs")
    question_set_name = models.CharField(max_length=80)
    questions_sha256 = models.CharField(max_length=64, help_text="Of the contents of all questions asked")
    drafted = models.PositiveIntegerField(default=0, help_text="Questions that nobody had signed")
    reviewed = models.PositiveIntegerField(default=0, help_text="Questions that an expert had signed")
    # What they were asked of.
    scope = models.JSONField(default=dict, help_text="The effective scope")
    fingerprint = models.CharField(max_length=64)
    snapshot = models.CharField(
        max_length=100, blank=True, default="", help_text="Of the corpus, by its name"
    )
    embedding_version = models.CharField(max_length=200, blank=True, default="")
    code_version = models.CharField(max_length=100)
    judge = models.CharField(max_length=200, blank=True, default="", help_text="Model that graded answers")
    is_self_judged = models.BooleanField(default=False)
    conditions = models.JSONField(default=dict, help_text="Domain profile, models, prompts, seeds")
    parameters = models.JSONField(default=dict, help_text="What was asked for")
    # How far it is.
    planned = models.PositiveIntegerField(default=0, help_text="Results to be had")
    done = models.PositiveIntegerField(default=0, help_text="Results there are, failures too")
    failed = models.PositiveIntegerField(default=0)
    last_error_code = models.CharField(max_length=60, blank=True, default="")
    retries = models.JSONField(
        default=list, editable=False, help_text="When failed replies were asked for again, by whom, which"
    )
    summary = models.JSONField(default=dict, editable=False)
    started_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    started_by_name = models.CharField(max_length=150, blank=True, default="", editable=False)
    started_at = models.DateTimeField(db_default=Now(), editable=False)
    finished_at = models.DateTimeField(null=True, editable=False)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(state="running", finished_at__isnull=True)
                | (~Q(state="running") & Q(finished_at__isnull=False)),
                name="%(app_label)s_%(class)s_ended_when_not_running",
            ),
            models.CheckConstraint(
                condition=~Q(fingerprint="") & ~Q(questions_sha256="") & ~Q(code_version=""),
                name="%(app_label)s_%(class)s_says_what_was_measured",
            ),
            models.CheckConstraint(
                condition=Q(done__lte=F("planned"), failed__lte=F("done")),
                name="%(app_label)s_%(class)s_done_stays_within_planned",
            ),
            models.CheckConstraint(
                condition=~Q(kind="retrieval") | Q(judge="", is_self_judged=False),
                name="%(app_label)s_%(class)s_retrieval_has_no_judge",
            ),
            models.CheckConstraint(
                condition=Q(summary={}) | Q(state="finished"),
                name="%(app_label)s_%(class)s_numbers_are_of_a_finished_run",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.get_kind_display()} of {self.question_set_name} at {self.started_at:%Y-%m-%d %H:%M}"


class RunQuestion(models.Model):
    """A question as a run asked it. It holds no words of a document: evidence stays with the question."""

    run = models.ForeignKey(EvaluationRun, on_delete=models.CASCADE, related_name="questions")
    number = models.PositiveIntegerField()
    source = models.ForeignKey(Question, null=True, on_delete=models.SET_NULL, related_name="+")
    key = models.CharField(max_length=80)
    content_sha256 = models.CharField(max_length=64)
    question = models.TextField()
    reference_answer = models.TextField()
    kind = models.CharField(max_length=12, blank=True, default="")
    split = models.CharField(max_length=5, blank=True, default="")
    tags = ArrayField(models.CharField(max_length=80), default=list)
    unanswerable = models.BooleanField(default=False)
    drafted = models.BooleanField(default=True)
    # Retrieval: how many relevant documents and passages there are; None where the level does not apply.
    relevant_documents = models.PositiveIntegerField(null=True)
    relevant_passages = models.PositiveIntegerField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["run", "key"], name="%(app_label)s_%(class)s_asked_once"),
            models.UniqueConstraint(
                fields=["run", "number"], name="%(app_label)s_%(class)s_number_is_unique"
            ),
        ]

    def __str__(self) -> str:
        return self.key


class RunConfiguration(models.Model):
    """One way of searching or answering within a run, a row of its table; others compare with the first."""

    run = models.ForeignKey(EvaluationRun, on_delete=models.CASCADE, related_name="configurations")
    number = models.PositiveSmallIntegerField()
    name = models.CharField(max_length=40)
    profile = models.CharField(max_length=20)
    switches = models.JSONField(default=dict)
    options = models.JSONField(default=dict, help_text="What else it sets")
    refusal = models.CharField(max_length=200, blank=True, default="", help_text="Why it was not carried out")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["run", "name"], name="%(app_label)s_%(class)s_name_is_unique"),
            models.UniqueConstraint(
                fields=["run", "number"], name="%(app_label)s_%(class)s_number_is_unique"
            ),
        ]

    def __str__(self) -> str:
        return self.name


class RetrievalOutcome(models.Model):
    """What one configuration found for one question. Passages by their ids and hashes, never their words."""

    configuration = models.ForeignKey(RunConfiguration, on_delete=models.CASCADE, related_name="outcomes")
    question = models.ForeignKey(RunQuestion, on_delete=models.CASCADE, related_name="outcomes")
    found = models.JSONField(
        default=list, help_text="In order: passage, document, hash, ranks by layer, relevance"
    )
    measures = models.JSONField(default=dict, help_text="By level and measure; null is undefined")
    degraded = models.JSONField(default=list, help_text="Layers that failed or were late")
    stages = models.JSONField(default=dict, help_text="What became of each stage")
    error_code = models.CharField(max_length=60, blank=True, default="")
    milliseconds = models.FloatField(default=0.0)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["configuration", "question"], name="%(app_label)s_%(class)s_once_per_configuration"
            ),
            models.CheckConstraint(
                condition=Q(error_code="") | Q(found=[], measures={}),
                name="%(app_label)s_%(class)s_a_failure_found_nothing",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.question_id} by {self.configuration_id}"


class RunDocument(models.Model):
    """A document that a run touched. Whoever may not see one of them does not see the run."""

    run = models.ForeignKey(EvaluationRun, on_delete=models.CASCADE, related_name="documents")
    # No key: the document may go, and what was found of it may not come to light by that.
    document_ref = models.UUIDField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["run", "document_ref"], name="%(app_label)s_%(class)s_named_once")
        ]

    def __str__(self) -> str:
        return str(self.document_ref)


class Baseline(models.Model):
    """The run that later ones are held against, under a name."""

    name = models.CharField(max_length=80, unique=True)
    run = models.ForeignKey(EvaluationRun, on_delete=models.PROTECT, related_name="baselines")
    set_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    set_by_name = models.CharField(max_length=150, blank=True, default="")
    set_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(name__regex=NAME), name="%(app_label)s_%(class)s_name_is_an_identifier"
            )
        ]

    def __str__(self) -> str:
        return self.name
