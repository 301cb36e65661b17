"""Which entities might be one, what was decided about each pair, and how to take a merge back."""

from __future__ import annotations

import pgtrigger
from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now

from retrieval.graph.models import Entity


class MergeProposal(models.Model):
    """That two entities might be one. A pair has one row, whichever way round it was found.

    That somebody said no outlives the entities: their ids come from their names, so that a pair which is
    taken in again is known again.
    """

    class State(models.TextChoices):
        PROPOSED = "proposed", "Proposed"
        APPROVED = "approved", "Approved"
        REJECTED = "rejected", "Rejected"
        NEVER = "never", "Different, never ask again"

    # The lesser id first. No constraint in the database: a refusal outlives the entities.
    low = models.ForeignKey(Entity, on_delete=models.DO_NOTHING, db_constraint=False, related_name="+")
    high = models.ForeignKey(Entity, on_delete=models.DO_NOTHING, db_constraint=False, related_name="+")
    tier = models.PositiveSmallIntegerField()
    method = models.CharField(max_length=60, help_text="What found the pair")
    confidence = models.FloatField()
    state = models.CharField(max_length=8, choices=State.choices, default=State.PROPOSED)
    proposed_at = models.DateTimeField(db_default=Now(), editable=False)
    decided_at = models.DateTimeField(null=True, editable=False)
    # Kept as text beside the key: the account may go, the record may not change.
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        on_delete=models.DO_NOTHING,
        db_constraint=False,
        related_name="+",
    )
    decided_by_name = models.CharField(max_length=150, blank=True, default="")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["low", "high"], name="%(app_label)s_%(class)s_one_per_pair"),
            models.CheckConstraint(
                condition=Q(low__lt=F("high")), name="%(app_label)s_%(class)s_lesser_id_first"
            ),
            models.CheckConstraint(
                condition=Q(tier__in=[1, 2, 3]), name="%(app_label)s_%(class)s_tier_is_known"
            ),
            models.CheckConstraint(
                condition=Q(confidence__gte=0, confidence__lte=1),
                name="%(app_label)s_%(class)s_confidence_is_a_share",
            ),
            models.CheckConstraint(
                condition=Q(state="proposed", decided_at__isnull=True)
                | (~Q(state="proposed") & Q(decided_at__isnull=False)),
                name="%(app_label)s_%(class)s_decided_when_not_proposed",
            ),
        ]
        indexes = [
            # The queue.
            models.Index(
                fields=["tier", "-confidence", "id"],
                condition=Q(state="proposed"),
                name="retrieval_proposals_open",
            )
        ]

    def __str__(self) -> str:
        return f"{self.low_id} and {self.high_id}: {self.state}"


class ResolutionAudit(models.Model):
    """One act on the identity of entities, with what undoes it. Append-only: the database refuses else.

    Holds ids, places and numbers, no words of passages: it outlives the documents it speaks of. What an
    undo has to quote it reads again from the passage.
    """

    class Act(models.TextChoices):
        MERGE = "merge", "Merged"
        UNDO = "undo", "Undone"
        SPLIT = "split", "Split"

    act = models.CharField(max_length=8, choices=Act.choices)
    # Of a split, and of what undoes it, the loser is what was split off.
    # No constraint in the database: the log outlives the entities.
    winner = models.ForeignKey(Entity, on_delete=models.DO_NOTHING, db_constraint=False, related_name="+")
    loser = models.ForeignKey(Entity, on_delete=models.DO_NOTHING, db_constraint=False, related_name="+")
    undoes = models.OneToOneField(
        "self", null=True, on_delete=models.PROTECT, related_name="undone_by", help_text="The act taken back"
    )
    tier = models.PositiveSmallIntegerField(null=True)
    method = models.CharField(max_length=60)
    confidence = models.FloatField(null=True)
    inverse = models.JSONField(default=dict)
    happened_at = models.DateTimeField(db_default=Now(), editable=False)
    done_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        on_delete=models.DO_NOTHING,
        db_constraint=False,
        related_name="+",
    )
    done_by_name = models.CharField(max_length=150, blank=True, default="")

    class Meta:
        verbose_name = "merge or split"
        verbose_name_plural = "merges and splits"
        constraints = [
            models.CheckConstraint(
                condition=~Q(winner=F("loser")), name="%(app_label)s_%(class)s_speaks_of_two"
            ),
            models.CheckConstraint(
                condition=Q(act="undo", undoes__isnull=False) | (~Q(act="undo") & Q(undoes__isnull=True)),
                name="%(app_label)s_%(class)s_undo_names_what",
            ),
        ]
        triggers = [
            pgtrigger.Protect(name="append_only", operation=pgtrigger.Update | pgtrigger.Delete),
            pgtrigger.Trigger(
                name="no_truncate",
                level=pgtrigger.Statement,
                when=pgtrigger.Before,
                operation=pgtrigger.Truncate,
                func="RAISE EXCEPTION 'pgtrigger: Cannot truncate the log of merged entities';",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.act}: {self.loser_id} and {self.winner_id}"


class PassageSense(models.Model):
    """Which sense a name has in a passage that was split off: its text keeps it when it is taken in again.

    Ids and hashes, no words: it outlives the passage.
    """

    # No constraint in the database: the id comes from the name, and is the same when that comes back.
    first = models.ForeignKey(
        Entity,
        on_delete=models.DO_NOTHING,
        db_constraint=False,
        related_name="+",
        help_text="The first sense of the name",
    )
    content_sha256 = models.CharField(max_length=64, help_text="Hash of the passage")
    sense = models.PositiveSmallIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["first", "content_sha256"], name="%(app_label)s_%(class)s_one_per_text"
            ),
            models.CheckConstraint(condition=Q(sense__gt=0), name="%(app_label)s_%(class)s_is_split_off"),
        ]

    def __str__(self) -> str:
        return f"sense {self.sense} of {self.first_id} in {self.content_sha256[:12]}"
