"""What readers say about answers: that one is wrong, or that something ought to be acquired."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from corpus.models import LICENSE_CHOICES, Document

LONGEST_COMMENT = 4_000


class WrongReport(models.Model):
    """Somebody says that an answer is wrong: a draft of an evaluation question, its evidence frozen.

    It outlives the answer, whose id and text hash it keeps. The text of the sources stands in the rows
    below it, which lose their quotation with the document.
    """

    class State(models.TextChoices):
        OPEN = "open", "Open"
        DRAWN = "drawn", "Made into a question"
        DISMISSED = "dismissed", "Dismissed"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    answer = models.ForeignKey(
        "answers.Answer", null=True, on_delete=models.SET_NULL, related_name="wrong_reports"
    )
    answer_ref = models.UUIDField(help_text="The answer's id, also when it is gone")
    question = models.TextField(help_text="As typed")
    searched_question = models.TextField(help_text="As it was searched")
    effective_scope = models.JSONField(default=dict)
    engine = models.CharField(max_length=40)
    model = models.CharField(max_length=200, blank=True, default="")
    fingerprint = models.CharField(max_length=64, blank=True, default="")
    answer_sha256 = models.CharField(max_length=64, help_text="Of the answer's text when it was reported")
    comment = models.TextField(max_length=LONGEST_COMMENT, help_text="What is wrong, in the reader's words")
    reported_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    reported_at = models.DateTimeField(db_default=Now(), editable=False)
    state = models.CharField(max_length=10, choices=State.choices, default=State.OPEN)
    decided_at = models.DateTimeField(null=True, editable=False)
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+", editable=False
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["answer_ref", "reported_by"],
                condition=Q(state="open"),
                name="%(app_label)s_%(class)s_once_while_open",
            ),
            models.CheckConstraint(
                condition=Q(state="open", decided_at__isnull=True)
                | (~Q(state="open") & Q(decided_at__isnull=False)),
                name="%(app_label)s_%(class)s_decided_when_not_open",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.question[:80]} ({self.get_state_display()})"


class WrongReportSource(models.Model):
    """One cited passage as it was when the answer was reported."""

    report = models.ForeignKey(WrongReport, on_delete=models.CASCADE, related_name="evidence")
    number = models.PositiveSmallIntegerField()
    document = models.ForeignKey(Document, null=True, on_delete=models.SET_NULL, related_name="+")
    passage_id = models.UUIDField(null=True, help_text="Public id of the passage")
    content_sha256 = models.CharField(max_length=64)
    quote = models.TextField(help_text="The passage's text; empty once the document is gone")
    locator = models.CharField(max_length=200, blank=True, default="")
    license_class = models.CharField(max_length=20, choices=LICENSE_CHOICES)
    bucket = models.CharField(max_length=100)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["report", "number"], name="%(app_label)s_%(class)s_number_is_unique"
            )
        ]

    def __str__(self) -> str:
        return f"[{self.number}] {self.content_sha256[:12]}"


class AcquisitionRequest(models.Model):
    """Somebody asked what the corpus does not cover and asks for documents that do."""

    class State(models.TextChoices):
        OPEN = "open", "Open"
        DONE = "done", "Acquired"
        DECLINED = "declined", "Declined"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    answer = models.ForeignKey(
        "answers.Answer", null=True, on_delete=models.SET_NULL, related_name="acquisition_requests"
    )
    question = models.TextField(help_text="As typed")
    requested_scope = models.JSONField(default=dict)
    note = models.TextField(max_length=LONGEST_COMMENT, blank=True, default="")
    asked_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    asked_at = models.DateTimeField(db_default=Now(), editable=False)
    state = models.CharField(max_length=10, choices=State.choices, default=State.OPEN)
    decided_at = models.DateTimeField(null=True, editable=False)
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+", editable=False
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["answer", "asked_by"],
                condition=Q(state="open"),
                name="%(app_label)s_%(class)s_once_while_open",
            ),
            models.CheckConstraint(
                condition=Q(state="open", decided_at__isnull=True)
                | (~Q(state="open") & Q(decided_at__isnull=False)),
                name="%(app_label)s_%(class)s_decided_when_not_open",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.question[:80]} ({self.get_state_display()})"
