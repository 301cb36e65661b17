"""Groups of entities that hang together, summarised for questions about the whole."""

from __future__ import annotations

import uuid

import pgtrigger
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now
from pgvector.django import HalfVectorField

from retrieval.graph.models import Entity


class CommunityBuild(models.Model):
    """The communities of the graph as one named scope sees it. One build of a scope is the current one.

    A build is filled beside the current one and takes its place in one statement. It serves nobody once a
    document that was read for it is gone or no longer eligible: each had a part in who hangs together.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    scope_name = models.CharField(max_length=60)
    scope = models.JSONField(help_text="What the name stood for when it was built")
    graph_sha256 = models.CharField(max_length=64, help_text="Digest of the graph it was built from")
    method = models.CharField(max_length=100, help_text="Algorithm, its version and its numbers")
    documents_read = models.PositiveIntegerField(
        default=0, help_text="How many had rows in the graph it was built from"
    )
    size = models.PositiveIntegerField(
        default=0, help_text="How many communities it had when it was finished"
    )
    is_current = models.BooleanField(default=False)
    started_at = models.DateTimeField(db_default=Now(), editable=False)
    # When whoever makes it last gave a sign of life; None once nobody does.
    touched_at = models.DateTimeField(null=True, editable=False)
    finished_at = models.DateTimeField(null=True, editable=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["scope_name"],
                condition=Q(is_current=True),
                name="%(app_label)s_%(class)s_one_is_current",
            ),
            models.UniqueConstraint(
                fields=["scope_name"],
                condition=Q(finished_at__isnull=True),
                name="%(app_label)s_%(class)s_one_is_being_made",
            ),
            models.CheckConstraint(
                condition=Q(is_current=False) | Q(finished_at__isnull=False),
                name="%(app_label)s_%(class)s_current_means_finished",
            ),
            models.CheckConstraint(
                condition=~Q(scope_name=""), name="%(app_label)s_%(class)s_scope_is_named"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.scope_name} at {self.started_at}"


class BuildDocument(models.Model):
    """A document whose mentions or edges were read for a build, in a community or not."""

    build = models.ForeignKey(CommunityBuild, on_delete=models.CASCADE, related_name="read")
    document = models.ForeignKey("corpus.Document", on_delete=models.CASCADE, related_name="+")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["build", "document"], name="%(app_label)s_%(class)s_once")
        ]

    def __str__(self) -> str:
        return f"{self.document_id} read for {self.build_id}"


class Community(models.Model):
    """One group of a build. Its summary uses words of its documents, so it goes when one of them goes."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    build = models.ForeignKey(CommunityBuild, on_delete=models.CASCADE, related_name="communities")
    level = models.PositiveSmallIntegerField(default=0, help_text="0 is the finest")
    key = models.CharField(max_length=64, help_text="From its members: the same after a re-ingest")
    parent = models.ForeignKey("self", null=True, on_delete=models.SET_NULL, related_name="children")
    title = models.CharField(max_length=300)
    summary = models.TextField()
    written_by = models.CharField(max_length=200, help_text="'extractive' or the model's name")
    evidence_sha256 = models.CharField(
        max_length=64, blank=True, default="", help_text="Hash of what the summary was written from"
    )
    members = models.ManyToManyField(Entity, through="CommunityMember", related_name="communities")
    documents = models.ManyToManyField("corpus.Document", through="CommunityDocument", related_name="+")
    # Both or neither: a summary that could not be embedded is still shown.
    version = models.ForeignKey(
        "corpus.EmbeddingVersion", null=True, on_delete=models.SET_NULL, related_name="+"
    )
    vector = HalfVectorField(null=True)

    class Meta:
        verbose_name_plural = "communities"
        constraints = [
            models.UniqueConstraint(
                fields=["build", "level", "key"], name="%(app_label)s_%(class)s_one_per_members"
            ),
            models.CheckConstraint(
                condition=~Q(summary="") & ~Q(written_by=""), name="%(app_label)s_%(class)s_is_summarised"
            ),
            models.CheckConstraint(
                condition=Q(parent__isnull=True) | ~Q(parent=F("id")),
                name="%(app_label)s_%(class)s_not_in_itself",
            ),
        ]

    def __str__(self) -> str:
        return self.title


class CommunityMember(models.Model):
    """An entity in a community."""

    community = models.ForeignKey(Community, on_delete=models.CASCADE, related_name="+")
    entity = models.ForeignKey(Entity, on_delete=models.CASCADE, related_name="+")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["community", "entity"], name="%(app_label)s_%(class)s_once")
        ]

    def __str__(self) -> str:
        return f"{self.entity_id} in {self.community_id}"


class CommunityDocument(models.Model):
    """A document whose words or edges went into a community: who may not see it may not see the community."""

    community = models.ForeignKey(Community, on_delete=models.CASCADE, related_name="+")
    document = models.ForeignKey("corpus.Document", on_delete=models.CASCADE, related_name="+")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["community", "document"], name="%(app_label)s_%(class)s_once")
        ]
        triggers = [
            # In the database, because no way of deleting a document may leave a summary of it behind.
            pgtrigger.Trigger(
                name="summary_goes_with_its_document",
                level=pgtrigger.Statement,
                when=pgtrigger.After,
                operation=pgtrigger.Delete,
                referencing=pgtrigger.Referencing(old="gone"),  # type: ignore[no-untyped-call]
                # It is fired by its own second statement once more, and then finds nothing gone.
                func="""
                    IF EXISTS (SELECT 1 FROM gone) THEN
                        DELETE FROM retrieval_communitymember
                            WHERE community_id IN (SELECT community_id FROM gone);
                        DELETE FROM retrieval_communitydocument
                            WHERE community_id IN (SELECT community_id FROM gone);
                        UPDATE retrieval_community SET parent_id = NULL
                            WHERE parent_id IN (SELECT community_id FROM gone);
                        DELETE FROM retrieval_community WHERE id IN (SELECT community_id FROM gone);
                    END IF;
                    RETURN NULL;
                """,
            )
        ]

    def __str__(self) -> str:
        return f"{self.document_id} in {self.community_id}"
