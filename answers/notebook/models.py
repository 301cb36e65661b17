"""Observations and the works behind them."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from corpus.models import LICENSE_CHOICES, Document, Source

LONGEST_TEXT = 20_000
LONGEST_TITLE = 200
MOST_SOURCES = 200


class Observation(models.Model):
    """A note that somebody keeps. Theirs alone until they share it with everyone who signs in."""

    class Kind(models.TextChoices):
        FINDING = "finding", "Finding"
        QUESTION = "question", "Question"
        DECISION = "decision", "Decision"
        METHOD = "method", "Method"
        IDEA = "idea", "Idea"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    # Nobody's is what the operator keeps at the command line.
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.CASCADE, related_name="observations"
    )
    kind = models.CharField(max_length=10, choices=Kind.choices, default=Kind.FINDING)
    title = models.CharField(max_length=LONGEST_TITLE, blank=True, default="")
    text = models.TextField(max_length=LONGEST_TEXT)
    is_shared = models.BooleanField(default=False)
    answer = models.ForeignKey(
        "answers.Answer",
        null=True,
        on_delete=models.SET_NULL,
        related_name="observations",
        help_text="The answer it was saved from",
    )
    # The highest number a source of it ever had: one that is taken out leaves its number unused.
    last_number = models.PositiveIntegerField(default=0)
    imported_key = models.CharField(
        max_length=64, blank=True, default="", help_text="Hash of owner and row it was imported from"
    )
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    changed_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [
            models.CheckConstraint(condition=~Q(text=""), name="%(app_label)s_%(class)s_says_something"),
            models.CheckConstraint(
                condition=Q(kind__in=["finding", "question", "decision", "method", "idea"]),
                name="%(app_label)s_%(class)s_kind_is_known",
            ),
            models.UniqueConstraint(
                fields=["imported_key"],
                condition=~Q(imported_key=""),
                name="%(app_label)s_%(class)s_imported_once",
            ),
        ]
        indexes = [
            models.Index(fields=["owner", "-changed_at", "id"], name="answers_notes_by_owner"),
            models.Index(
                fields=["-changed_at", "id"], condition=Q(is_shared=True), name="answers_notes_shared"
            ),
        ]

    def __str__(self) -> str:
        return self.title or self.text[:80]


class ObservationSource(models.Model):
    """One numbered work behind a note: brought by an answer, or named by a person.

    Title and standing are read through the work when the note is shown, under the reader's ceiling of that
    day. What the person wrote to name it is theirs, and stays.
    """

    class Relationship(models.TextChoices):
        CITED = "cited", "Cited"
        RETRIEVED = "retrieved", "Retrieved"
        INFERRED = "inferred", "Inferred from"

    observation = models.ForeignKey(Observation, on_delete=models.CASCADE, related_name="links")
    number = models.PositiveIntegerField()
    source = models.ForeignKey(Source, on_delete=models.PROTECT, related_name="observation_links")
    relationship = models.CharField(max_length=10, choices=Relationship.choices)
    document = models.ForeignKey(
        Document,
        null=True,
        on_delete=models.SET_NULL,
        related_name="+",
        help_text="The version it was met in",
    )
    named = models.CharField(
        max_length=510, blank=True, default="", help_text="Identifier as a person gave it, in its normal form"
    )
    named_title = models.CharField(max_length=500, blank=True, default="", help_text="Title a person gave")
    withdrawn_under = models.CharField(
        max_length=20,
        choices=LICENSE_CHOICES,
        blank=True,
        default="",
        help_text="The document's class when it was deleted; empty while it is held",
    )
    withdrawn_from = models.CharField(max_length=100, blank=True, default="", help_text="Its bucket then")
    standing_then = models.JSONField(
        default=list, help_text="retracted, concern: what held when it was linked"
    )
    added_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["observation", "source"], name="%(app_label)s_%(class)s_each_work_once"
            ),
            models.UniqueConstraint(
                fields=["observation", "number"], name="%(app_label)s_%(class)s_number_is_unique"
            ),
            models.CheckConstraint(
                condition=Q(number__gte=1), name="%(app_label)s_%(class)s_numbers_from_one"
            ),
            models.CheckConstraint(
                condition=Q(relationship__in=["cited", "retrieved", "inferred"]),
                name="%(app_label)s_%(class)s_relationship_is_known",
            ),
        ]

    def __str__(self) -> str:
        return f"[{self.number}] {self.relationship} in {self.observation_id}"


class DeletedNote(models.Model):
    """What a note said when its owner deleted it, kept as long as that can be taken back.

    Its key is the note's. Of the works behind it only their keys and what a person wrote are kept.
    """

    id = models.UUIDField(primary_key=True, editable=False)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.CASCADE, related_name="deleted_notes"
    )
    note = models.JSONField()
    deleted_at = models.DateTimeField(db_default=Now())

    class Meta:
        indexes = [models.Index(fields=["deleted_at", "id"], name="answers_deleted_notes_by_age")]

    def __str__(self) -> str:
        return str(self.pk)
