"""The links of the audit chain. The database writes them when a transaction commits; nothing else does."""

from __future__ import annotations

import pgtrigger
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models.functions import Now


class AuditLink(models.Model):
    """One sealed record: which row of which table, its hash, and the hash of all links so far.

    `columns` are those that the row's hash covers, so that a later column changes nothing about it.
    `by` is the account behind a row of history, which that row keeps in its context; empty where none was
    known yet. What a context of history says has links of its own, under the name of its table, and the
    words of a record that go with a deleted document under that of theirs with `.words` behind it.
    """

    number = models.BigIntegerField(primary_key=True)
    table_name = models.CharField(max_length=63)
    row_id = models.CharField(max_length=40)
    columns = ArrayField(models.CharField(max_length=63))
    row_sha256 = models.CharField(max_length=64)
    by = models.CharField(max_length=40, blank=True, default="")
    previous = models.CharField(max_length=64, blank=True)
    sha256 = models.CharField(max_length=64)
    sealed_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        default_permissions = ()
        constraints = [
            models.UniqueConstraint(fields=["table_name", "row_id"], name="%(app_label)s_%(class)s_row_once")
        ]
        triggers = [
            pgtrigger.Protect(name="append_only", operation=pgtrigger.Update | pgtrigger.Delete),
        ]

    def __str__(self) -> str:
        return f"Link {self.number}"


class AuditEvent(models.Model):
    """Something that happened and left no row of its own: ids and codes, never what somebody wrote.

    `by` and `by_name` say who, as text: the account may go, the record may not change. `place` is a keyed
    hash of the network a request came from. Of what anybody can cause a thousand times, `once` lets one in a
    minute in.
    """

    class Kind(models.TextChoices):
        """What happened."""

        SIGNED_IN = "sign_in.succeeded", "Signed in"
        SIGN_IN_FAILED = "sign_in.failed", "Could not sign in"
        DENIED = "denied", "Was refused"
        UPLOADED = "uploaded", "Sent files"
        EXPORTED = "exported", "Took a file away"
        OVERRIDDEN = "overridden", "Looked past a rule"
        CONFIGURED = "configured", "The configuration is another one"
        PUBLISHED = "evaluation.published", "An evaluation has its report"
        RECHECKED = "retrieval.recheck_dropped", "A search found what its scope does not allow"
        FIXITY = "fixity.changed", "A kept file is not what it was"

    kind = models.CharField(max_length=30, choices=Kind)
    happened_at = models.DateTimeField(db_default=Now(), editable=False)
    by = models.CharField(max_length=40, blank=True, default="")
    by_name = models.CharField(max_length=150, blank=True, default="")
    place = models.CharField(max_length=16, blank=True, default="")
    about = models.JSONField(default=dict)
    once = models.CharField(max_length=200, null=True, unique=True)  # noqa: DJ001 - many have none

    class Meta:
        default_permissions = ()
        indexes = [models.Index(fields=["kind", "-id"], name="corpus_auditevent_by_kind")]
        triggers = [
            pgtrigger.Protect(name="append_only", operation=pgtrigger.Update | pgtrigger.Delete),
        ]

    def __str__(self) -> str:
        return f"{self.kind} at {self.happened_at}"


class AuditHead(models.Model):
    """Where the chain ends. Its one row is locked by whoever seals, at the end of a transaction."""

    id = models.PositiveSmallIntegerField(primary_key=True, default=1)
    number = models.BigIntegerField()
    sha256 = models.CharField(max_length=64, blank=True)

    class Meta:
        default_permissions = ()
        constraints = [
            models.CheckConstraint(condition=models.Q(id=1), name="%(app_label)s_%(class)s_is_one")
        ]

    def __str__(self) -> str:
        return f"Head at {self.number}"
