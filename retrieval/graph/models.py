"""Entities, the passages that mention them, and what passages say holds between them.

Whatever a reader may see of an entity comes through rows that name a passage: its names from mentions,
its description from descriptions, its edges from relationships. Each filters by `document`, so that an
entity looks to everybody as if passages out of their scope had never been read.
"""

from __future__ import annotations

import uuid

from django.conf import settings
from django.contrib.postgres.indexes import GinIndex
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now

from corpus.usage.models import ClaimedRun
from retrieval.graph.naming import LONGEST_NAME

DIRECT, IMPLIED, INFERRED = 1.0, 0.7, 0.4
CONFIDENCES = (DIRECT, IMPLIED, INFERRED)


class Entity(models.Model):
    """One thing of the field, named and typed. Same name with another type is another entity.

    `canonical_entity` makes it a tombstone: it was merged into that one, which is never a tombstone itself,
    and keeps its own mentions; its edges are the other's. An entity nobody mentions any more shows nowhere
    and goes with the next `graph gc`.
    """

    # From type and key, so that an address of a page and a tie broken by id survive a re-ingest.
    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    type = models.CharField(max_length=60, help_text="A type of the ontology")
    key = models.CharField(max_length=LONGEST_NAME, help_text="The name as names are compared")
    sense = models.PositiveSmallIntegerField(default=0, help_text="Tells homonyms apart after a split")
    # Any spelling of the key: what a reader is shown comes from the mentions in their scope.
    name = models.CharField(max_length=LONGEST_NAME)
    canonical_entity = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.PROTECT, related_name="tombstones"
    )
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        verbose_name_plural = "entities"
        constraints = [
            models.UniqueConstraint(
                fields=["type", "key", "sense"], name="%(app_label)s_%(class)s_one_per_name"
            ),
            models.CheckConstraint(
                condition=~Q(type="") & ~Q(key="") & ~Q(name=""), name="%(app_label)s_%(class)s_is_named"
            ),
            models.CheckConstraint(
                condition=Q(canonical_entity__isnull=True) | ~Q(canonical_entity=F("id")),
                name="%(app_label)s_%(class)s_not_its_own_tombstone",
            ),
        ]
        indexes = [
            GinIndex(fields=["key"], opclasses=["gin_trgm_ops"], name="retrieval_entity_key_trigrams"),
        ]

    def __str__(self) -> str:
        return f"{self.name} ({self.type})"


class Evidence(models.Model):
    """A row that stands on words of one passage and goes with it. `start` counts characters of its body."""

    chunk = models.ForeignKey("corpus.Chunk", on_delete=models.CASCADE, related_name="+")
    document = models.ForeignKey("corpus.Document", on_delete=models.CASCADE, related_name="+")
    start = models.PositiveIntegerField()

    class Meta:
        abstract = True


class Mention(Evidence):
    """A surface form of an entity in a passage, where it stands first. Aliases are what mentions spell."""

    entity = models.ForeignKey(Entity, on_delete=models.CASCADE, related_name="mentions")
    surface = models.CharField(max_length=LONGEST_NAME, help_text="Verbatim")
    surface_key = models.CharField(max_length=LONGEST_NAME, help_text="As names are compared")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["entity", "chunk", "surface"], name="%(app_label)s_%(class)s_once_per_passage"
            ),
            models.CheckConstraint(
                condition=~Q(surface="") & ~Q(surface_key=""), name="%(app_label)s_%(class)s_says_something"
            ),
        ]
        indexes = [
            # Which entities a question names.
            models.Index(fields=["surface_key", "entity"], name="retrieval_mention_surface"),
            GinIndex(fields=["surface_key"], opclasses=["gin_trgm_ops"], name="retrieval_mention_trigrams"),
        ]

    def __str__(self) -> str:
        return f"{self.surface} in {self.chunk_id}"


class Description(Evidence):
    """The sentence in which a passage says what an entity is, verbatim."""

    entity = models.ForeignKey(Entity, on_delete=models.CASCADE, related_name="descriptions")
    quote = models.TextField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["entity", "chunk"], name="%(app_label)s_%(class)s_once_per_passage"
            ),
            models.CheckConstraint(condition=~Q(quote=""), name="%(app_label)s_%(class)s_quotes"),
        ]

    def __str__(self) -> str:
        return f"{self.entity_id} described in {self.chunk_id}"


class Relationship(Evidence):
    """What one passage says holds between two entities, with the words that say it.

    The same triple from two passages is two rows, so that no scope can take away evidence of another.
    """

    source = models.ForeignKey(Entity, on_delete=models.CASCADE, related_name="outgoing")
    target = models.ForeignKey(Entity, on_delete=models.CASCADE, related_name="incoming")
    type = models.CharField(max_length=60, help_text="A relation of the ontology")
    quote = models.TextField(help_text="Verbatim")
    confidence = models.FloatField(help_text="1.0 said directly, 0.7 strongly implied, 0.4 inferred")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["source", "target", "type", "chunk"], name="%(app_label)s_%(class)s_once_per_passage"
            ),
            models.CheckConstraint(
                condition=~Q(source=F("target")), name="%(app_label)s_%(class)s_joins_two_entities"
            ),
            models.CheckConstraint(
                condition=Q(confidence__in=CONFIDENCES), name="%(app_label)s_%(class)s_confidence_is_a_level"
            ),
            models.CheckConstraint(
                condition=~Q(quote="") & ~Q(type=""), name="%(app_label)s_%(class)s_quotes"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.source_id} {self.type} {self.target_id}"


class ChunkStamp(models.Model):
    """That an extractor has read a passage. `extractor` names the way of extracting: kind@digest.

    The hash is that of the text it read; another text has to be read again.
    """

    chunk = models.ForeignKey("corpus.Chunk", on_delete=models.CASCADE, related_name="graph_stamps")
    extractor = models.CharField(max_length=100)
    content_sha256 = models.CharField(max_length=64)
    stamped_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["chunk", "extractor"], name="%(app_label)s_%(class)s_once_per_extractor"
            )
        ]

    def __str__(self) -> str:
        return f"{self.chunk_id} by {self.extractor}"


class ExtractionRun(ClaimedRun):
    """One pass over passages that were not read yet: what it found and what it left out, by reason.

    What was read is in the stamps, so that a run which a worker left goes on where it stopped.
    """

    class State(models.TextChoices):
        RUNNING = "running", "Running"
        FINISHED = "finished", "Finished"
        FAILED = "failed", "Failed"
        CAPPED = "capped", "Stopped at the cap"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    extractor = models.CharField(max_length=100)
    state = models.CharField(max_length=8, choices=State.choices, default=State.RUNNING)
    started_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    parameters = models.JSONField(default=dict, help_text="What was asked for")
    passages = models.PositiveIntegerField(default=0, help_text="To be read when it started")
    passages_done = models.PositiveIntegerField(default=0)
    batches_done = models.PositiveIntegerField(default=0)
    batches_failed = models.PositiveIntegerField(default=0)
    entities_added = models.PositiveIntegerField(default=0)
    mentions_added = models.PositiveIntegerField(default=0)
    relationships_added = models.PositiveIntegerField(default=0)
    dropped = models.JSONField(default=dict, help_text="How many suggestions were left out, by reason")
    last_error_code = models.CharField(max_length=60, blank=True, default="")
    started_at = models.DateTimeField(db_default=Now(), editable=False)
    finished_at = models.DateTimeField(null=True, editable=False)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(state="running", finished_at__isnull=True)
                | (~Q(state="running") & Q(finished_at__isnull=False)),
                name="%(app_label)s_%(class)s_ended_when_not_running",
            )
        ]

    def __str__(self) -> str:
        return f"{self.extractor} at {self.started_at}"
