"""Stored answers: what was asked, under which scope, from which evidence, and what was written."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from answers.conversations import Conversation
from corpus.models import LICENSE_CHOICES, Chunk, Document

# Who writes an answer: the configured language model, or the engine that quotes and needs none.
MODEL, EXTRACTIVE = "model", "extractive"


class Answer(models.Model):
    """One question and what came of it."""

    class State(models.TextChoices):
        ASKED = "asked", "Asked"
        RETRIEVED = "retrieved", "Evidence found"
        GENERATING = "generating", "Being written"
        DONE = "done", "Done"
        PARTIAL = "partial", "Partial"
        FAILED = "failed", "Failed"

    class Finish(models.TextChoices):
        PENDING = "", "Pending"
        STOP = "stop", "Complete"
        NO_SOURCES = "no_sources", "Nothing in scope"
        NOT_COVERED = "not_covered", "Not covered by the sources"
        RETRIEVAL_TIMEOUT = "retrieval_timeout", "Retrieval timed out"
        MODEL_FAILED = "model_failed", "The model failed"
        UNCITED = "uncited", "Names no source"
        CANCELLED = "cancelled", "Stopped by the asker"
        RETRIEVAL_FAILED = "retrieval_failed", "Retrieval failed"
        ABANDONED = "abandoned", "Broken off"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    asked_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.CASCADE, related_name="answers"
    )
    conversation = models.ForeignKey(
        Conversation, null=True, blank=True, on_delete=models.CASCADE, related_name="answers"
    )
    follows = models.ForeignKey(
        "self",
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="follow_ups",
        help_text="The turn this question leans on",
    )
    question = models.TextField(help_text="As typed")
    searched_question = models.TextField(
        blank=True, default="", help_text="What was searched, where that is not what was typed"
    )
    rewriting = models.JSONField(default=dict, help_text="How the searched question came about")
    text = models.TextField(blank=True, default="")
    state = models.CharField(max_length=12, choices=State.choices, default=State.ASKED)
    finish = models.CharField(max_length=20, choices=Finish.choices, blank=True, default="")
    error = models.CharField(max_length=200, blank=True, default="")
    requested_scope = models.JSONField(default=dict)
    effective_scope = models.JSONField(default=dict)
    scope_digest = models.CharField(max_length=64)
    profile = models.CharField(max_length=20)
    engine = models.CharField(max_length=40)
    model = models.CharField(max_length=200, blank=True, default="")
    model_parameters = models.JSONField(default=dict)
    prompt_sha256 = models.CharField(max_length=64, blank=True, default="")
    embedding_version = models.CharField(max_length=200, blank=True, default="")
    fingerprint = models.CharField(max_length=64, blank=True, default="")
    eligible_documents = models.PositiveIntegerField(default=0)
    eligible_passages = models.PositiveIntegerField(default=0)
    traces = models.JSONField(default=list)
    degraded = models.JSONField(default=list)
    timings = models.JSONField(default=dict, help_text="Milliseconds by stage")
    prompt_tokens = models.PositiveIntegerField(null=True)
    completion_tokens = models.PositiveIntegerField(null=True)
    cost_usd = models.DecimalField(max_digits=10, decimal_places=6, null=True)
    # The extractive answer offered after a model failed points back at the failed one.
    instead_of = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.SET_NULL, related_name="alternatives"
    )
    process = models.CharField(
        max_length=32, blank=True, default="", help_text="Which process writes it; see answers.processes"
    )
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=~Q(state__in=["done", "partial", "failed"]) | ~Q(finish=""),
                name="%(app_label)s_%(class)s_an_ended_answer_says_how",
            )
        ]
        indexes = [models.Index(fields=["asked_by", "-created_at"], name="answers_by_asker")]

    def __str__(self) -> str:
        return f"{self.question[:80]} ({self.id})"

    @property
    def searched(self) -> str:
        """The question as it was searched and answered."""
        return self.searched_question or self.question


class AnswerSource(models.Model):
    """One numbered source of an answer, with its rights and status as they were.

    The passage's text is not copied: it is read through the passage, under the reader's scope, and
    is gone when the document is.
    """

    answer = models.ForeignKey(Answer, on_delete=models.CASCADE, related_name="sources")
    number = models.PositiveSmallIntegerField()
    chunk = models.ForeignKey(Chunk, null=True, on_delete=models.SET_NULL, related_name="+")
    document = models.ForeignKey(Document, null=True, on_delete=models.SET_NULL, related_name="+")
    is_cited = models.BooleanField(default=False)
    title = models.TextField()
    citation = models.TextField(blank=True, default="")
    doi = models.CharField(max_length=500, blank=True, default="")
    section_path = models.JSONField(default=list)
    locator = models.CharField(max_length=200, blank=True, default="")
    page_start = models.PositiveIntegerField(null=True)
    page_end = models.PositiveIntegerField(null=True)
    license_class = models.CharField(max_length=20, choices=LICENSE_CHOICES)
    withdrawn_under = models.CharField(
        max_length=20,
        choices=LICENSE_CHOICES,
        blank=True,
        default="",
        help_text="The document's class when it was deleted; empty while it is held",
    )
    bucket = models.CharField(max_length=100)
    badges = models.JSONField(default=list, help_text="retracted, concern, corrected, superseded")
    content_sha256 = models.CharField(max_length=64)
    score = models.FloatField()
    ranks = models.JSONField(default=dict)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["answer", "number"], name="%(app_label)s_%(class)s_number_is_unique"
            ),
            models.CheckConstraint(
                condition=Q(number__gte=1), name="%(app_label)s_%(class)s_numbers_from_one"
            ),
        ]

    def __str__(self) -> str:
        return f"[{self.number}] {self.title}"


class Finding(models.Model):
    """Something the citation check noticed about one sentence."""

    class Kind(models.TextChoices):
        SUPPORTED = "supported", "Supported"
        NUMBER_NOT_IN_SOURCE = "number_not_in_source", "A number is not in the source"
        CITES_UNRETRIEVED = "cites_unretrieved", "Cites a source that was not retrieved"
        UNCITED = "uncited", "No source named"
        WEAK_SUPPORT = "weak_support", "The source says little of this"

    answer = models.ForeignKey(Answer, on_delete=models.CASCADE, related_name="findings")
    sentence = models.PositiveIntegerField(help_text="Index of the sentence, from 0")
    start = models.PositiveIntegerField(help_text="First character in the answer's text")
    end = models.PositiveIntegerField()
    kind = models.CharField(max_length=24, choices=Kind.choices)
    numbers = models.JSONField(default=list, help_text="Source numbers the sentence cites")
    detail = models.CharField(max_length=300, blank=True, default="")

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(start__lte=models.F("end")), name="%(app_label)s_%(class)s_span_runs_forward"
            )
        ]

    def __str__(self) -> str:
        return f"{self.get_kind_display()} at {self.start}"


# What is said about answers: Django finds models here.
from answers.feedback import AcquisitionRequest, WrongReport, WrongReportSource  # noqa: E402, F401
from answers.notebook.models import DeletedNote, Observation, ObservationSource  # noqa: E402, F401
from answers.notices import Notice  # noqa: E402, F401
