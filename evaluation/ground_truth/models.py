"""Question sets, questions with their evidence, and the log of what was done to each."""

from __future__ import annotations

import uuid

import pgtrigger
from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now

from answers.feedback import WrongReport
from corpus.models import Document

NAME = r"^[a-z0-9][a-z0-9._-]*$"


class QuestionSet(models.Model):
    """Questions that are asked together. A run names the set, its hash says which questions those were."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    name = models.CharField(max_length=80, unique=True)
    description = models.TextField(blank=True, default="")
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(name__regex=NAME), name="%(app_label)s_%(class)s_name_is_an_identifier"
            )
        ]

    def __str__(self) -> str:
        return self.name


class Question(models.Model):
    """A question, the answer an expert expects, and where it comes from.

    It is a draft until somebody signs it, and again as soon as it is changed: a signature holds for the
    content it was given to, and the database keeps it so.
    """

    class Kind(models.TextChoices):
        UNSPECIFIED = "", "Not said"
        LOOKUP = "lookup", "One fact"
        COMPARISON = "comparison", "Comparison"
        CAUSAL = "causal", "Cause or effect"
        OVERVIEW = "overview", "Overview"

    class Split(models.TextChoices):
        UNSPECIFIED = "", "Not said"
        TRAIN = "train", "For tuning"
        TEST = "test", "Held out"

    class Origin(models.TextChoices):
        WRITTEN = "written", "Written by a person"
        IMPORTED = "imported", "From a file"
        PROPOSED = "proposed", "Proposed from the corpus"
        REPORTED = "reported", "From an answer reported as wrong"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    question_set = models.ForeignKey(QuestionSet, on_delete=models.PROTECT, related_name="questions")
    key = models.CharField(max_length=80, help_text="Its name within the set")
    question = models.TextField()
    reference_answer = models.TextField()
    kind = models.CharField(max_length=12, choices=Kind.choices, blank=True, default="")
    split = models.CharField(max_length=5, choices=Split.choices, blank=True, default="")
    tags = ArrayField(models.CharField(max_length=80), default=list, blank=True)
    unanswerable = models.BooleanField(default=False, help_text="The corpus does not say")
    origin = models.CharField(max_length=8, choices=Origin.choices, default=Origin.WRITTEN)
    wrong_report = models.ForeignKey(
        WrongReport, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    author = models.CharField(max_length=200, blank=True, default="")
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    changed_at = models.DateTimeField(db_default=Now(), editable=False)
    content_sha256 = models.CharField(max_length=64, editable=False)
    # Kept as text beside the key: the account may go, the signature stays said.
    signed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+", editable=False
    )
    signed_by_name = models.CharField(max_length=150, blank=True, default="", editable=False)
    signed_at = models.DateTimeField(null=True, editable=False)
    signed_sha256 = models.CharField(max_length=64, blank=True, default="", editable=False)
    retired_at = models.DateTimeField(null=True, editable=False, help_text="Not asked any more since then")

    class Meta:
        permissions = [("sign_question", "Can sign questions")]
        constraints = [
            models.UniqueConstraint(
                fields=["question_set", "key"], name="%(app_label)s_%(class)s_key_is_unique_in_its_set"
            ),
            models.CheckConstraint(
                condition=Q(key__regex=NAME), name="%(app_label)s_%(class)s_key_is_an_identifier"
            ),
            models.CheckConstraint(
                condition=~Q(question="") & ~Q(reference_answer=""),
                name="%(app_label)s_%(class)s_has_question_and_answer",
            ),
            models.CheckConstraint(
                condition=Q(signed_at__isnull=True, signed_by_name="", signed_sha256="")
                | (Q(signed_at__isnull=False, signed_sha256=F("content_sha256")) & ~Q(signed_by_name="")),
                name="%(app_label)s_%(class)s_signed_as_it_is_now",
            ),
            models.CheckConstraint(
                condition=Q(kind__in=["", "lookup", "comparison", "causal", "overview"]),
                name="%(app_label)s_%(class)s_kind_is_known",
            ),
            models.CheckConstraint(
                condition=Q(split__in=["", "train", "test"]), name="%(app_label)s_%(class)s_split_is_known"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.key}: {self.question[:80]}"

    @property
    def drafted(self) -> bool:
        """Whether nobody has signed the question as it is now."""
        return self.signed_at is None


class Evidence(models.Model):
    """One piece of what a question rests on: a reference document, or words that answer it.

    `document` is where it is held now. The other pointers survive its being taken in again: the hash of
    its text, its DOI, its title, the hash of the passage. A phrase is a quotation and goes with its document.
    """

    question = models.ForeignKey(Question, on_delete=models.CASCADE, related_name="evidence")
    number = models.PositiveSmallIntegerField()
    phrase = models.TextField(blank=True, default="", help_text="Verbatim; empty for a whole document")
    document = models.ForeignKey(
        Document, null=True, blank=True, on_delete=models.SET_NULL, related_name="+", editable=False
    )
    document_sha256 = models.CharField(max_length=64, blank=True, default="")
    doi = models.CharField(max_length=500, blank=True, default="", help_text="In its normal form")
    title = models.TextField(blank=True, default="")
    passage_sha256 = models.CharField(max_length=64, blank=True, default="")
    locator = models.CharField(max_length=200, blank=True, default="")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["question", "number"], name="%(app_label)s_%(class)s_number_is_unique"
            ),
            models.CheckConstraint(
                condition=~Q(phrase="", doi="", title="", document_sha256=""),
                name="%(app_label)s_%(class)s_names_something",
            ),
            models.CheckConstraint(
                condition=Q(passage_sha256="") | ~Q(document_sha256=""),
                name="%(app_label)s_%(class)s_a_passage_has_a_document",
            ),
        ]

    def __str__(self) -> str:
        return self.phrase[:80] or self.doi or self.title or self.document_sha256


class QuestionEvent(models.Model):
    """What was done to a question, by whom, with the hash of its content then. Append-only."""

    class Kind(models.TextChoices):
        CREATED = "created", "Written"
        CHANGED = "changed", "Changed"
        SIGNED = "signed", "Signed"
        UNSIGNED = "unsigned", "Signature withdrawn"
        RETIRED = "retired", "Retired"
        RESTORED = "restored", "Taken up again"

    # No constraint in the database: the log outlives what it speaks of.
    question = models.ForeignKey(
        Question, on_delete=models.DO_NOTHING, db_constraint=False, related_name="events"
    )
    kind = models.CharField(max_length=8, choices=Kind.choices)
    content_sha256 = models.CharField(max_length=64)
    by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        on_delete=models.DO_NOTHING,
        db_constraint=False,
        related_name="+",
    )
    by_name = models.CharField(max_length=150, blank=True, default="")
    note = models.CharField(max_length=300, blank=True, default="")
    at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        triggers = [
            pgtrigger.Protect(name="append_only", operation=pgtrigger.Update | pgtrigger.Delete),
            pgtrigger.Trigger(
                name="no_truncate",
                level=pgtrigger.Statement,
                when=pgtrigger.Before,
                operation=pgtrigger.Truncate,
                func="RAISE EXCEPTION 'pgtrigger: Cannot truncate the log of questions';",
            ),
        ]
        constraints = [
            models.CheckConstraint(
                condition=~Q(kind="signed") | ~Q(by_name=""),
                name="%(app_label)s_%(class)s_a_signature_has_a_name",
            )
        ]

    def __str__(self) -> str:
        return f"{self.question_id}: {self.kind}"
