"""Backups, restores and drills: when one was made, of what, by whom, and how it ended."""

from __future__ import annotations

from datetime import timedelta

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils import timezone

# What has been at it for longer was killed: nothing else leaves a row like this.
LONGEST = timedelta(hours=24)


class BackupRun(models.Model):
    """One backup, restore or drill. It holds counts and hashes, never words of a document."""

    class Kind(models.TextChoices):
        BACKUP = "backup", "Backup"
        RESTORE = "restore", "Restore"
        DRILL = "drill", "Drill"

    class State(models.TextChoices):
        RUNNING = "running", "At it"
        DONE = "done", "Done"
        FAILED = "failed", "Failed"

    kind = models.CharField(max_length=8, choices=Kind.choices)
    state = models.CharField(max_length=8, choices=State.choices, default=State.RUNNING)
    reason = models.CharField(max_length=500, blank=True, default="", help_text="Why it failed")
    path = models.TextField(help_text="The file, as it was named on the machine that made it")
    size = models.BigIntegerField(default=0, help_text="Bytes of the file")
    is_sealed = models.BooleanField(default=False, help_text="Whether a passphrase is needed to read it")
    fingerprint = models.CharField(max_length=64, blank=True, default="")
    documents = models.PositiveIntegerField(default=0)
    passages = models.PositiveIntegerField(default=0)
    originals = models.PositiveIntegerField(default=0)
    questions = models.PositiveIntegerField(default=0, help_text="Stored questions that were asked again")
    by_name = models.CharField(max_length=150, blank=True, default="", editable=False)
    started_at = models.DateTimeField(db_default=Now(), editable=False)
    finished_at = models.DateTimeField(null=True, editable=False)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(state="running", finished_at__isnull=True)
                | (~Q(state="running") & Q(finished_at__isnull=False)),
                name="%(app_label)s_%(class)s_finished_has_an_outcome",
            )
        ]

    def __str__(self) -> str:
        return f"{self.get_kind_display()} of {self.started_at:%Y-%m-%d %H:%M}"

    @property
    def seconds(self) -> float | None:
        """How long it took."""
        return None if self.finished_at is None else (self.finished_at - self.started_at).total_seconds()

    @property
    def was_killed(self) -> bool:
        """Whether it never came to an end."""
        return self.state == self.State.RUNNING and timezone.now() - self.started_at > LONGEST


def newest(kind: BackupRun.Kind) -> BackupRun | None:
    """Return the last one of its kind that came to a good end."""
    done = BackupRun.objects.filter(kind=kind, state=BackupRun.State.DONE)
    return done.order_by("-finished_at", "-pk").first()
