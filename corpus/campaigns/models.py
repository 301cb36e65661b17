"""A campaign: what was searched for, the pages that came back, the works on them, and the runs over them."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from corpus.usage.models import CappedRun

LONGEST_NAME = 80


class Campaign(models.Model):
    """One undertaking to build a collection. Its name is the bucket of what it takes in."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    name = models.CharField(max_length=LONGEST_NAME, unique=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_by_name = models.CharField(max_length=200, blank=True, default="", editable=False)
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=~Q(name=""), name="%(app_label)s_%(class)s_has_a_name")
        ]

    def __str__(self) -> str:
        return self.name


class CampaignSearch(models.Model):
    """One question to one index: a topic, read page by page, or a list of DOIs, asked one after the other."""

    class Provider(models.TextChoices):
        OPENALEX = "openalex", "OpenAlex"
        CROSSREF = "crossref", "Crossref"

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="searches")
    number = models.PositiveIntegerField()
    provider = models.CharField(max_length=12, choices=Provider.choices)
    topic = models.CharField(max_length=500, blank=True, default="")
    is_list = models.BooleanField(default=False, help_text="Whether DOIs are asked for, and no topic")
    dois = models.JSONField(default=list, help_text="As listed, in order; empty for a topic")
    key = models.CharField(max_length=64, editable=False, help_text="The same question again has the same")
    most = models.PositiveIntegerField(help_text="Records to read at most")
    # What the index said when it was asked last. None until then.
    reported = models.PositiveIntegerField(null=True, editable=False, help_text="Records the index knows of")
    is_done = models.BooleanField(default=False, editable=False)
    asked_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["campaign", "number"], name="%(app_label)s_%(class)s_number_is_unique"
            ),
            models.UniqueConstraint(fields=["campaign", "key"], name="%(app_label)s_%(class)s_asked_once"),
            models.CheckConstraint(
                condition=Q(is_list=True, topic="") | (Q(is_list=False) & ~Q(topic="")),
                name="%(app_label)s_%(class)s_topic_or_dois",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.get_provider_display()}: {self.topic or f'{len(self.dois)} DOIs'}"


class SearchPage(models.Model):
    """What an index answered, kept as it came: a search that goes on does not ask for it again."""

    search = models.ForeignKey(CampaignSearch, on_delete=models.CASCADE, related_name="pages")
    number = models.PositiveIntegerField()
    asked_for = models.CharField(max_length=2000, help_text="The cursor, or the DOI")
    next_cursor = models.CharField(max_length=2000, blank=True, default="")
    records = models.PositiveIntegerField(default=0)
    unreadable = models.PositiveIntegerField(default=0, help_text="Records without identifier or title")
    reason = models.CharField(max_length=40, blank=True, default="", help_text="Why there is no record")
    body = models.BinaryField(help_text="The answer, packed")
    body_sha256 = models.CharField(max_length=64, editable=False)
    fetched_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["search", "number"], name="%(app_label)s_%(class)s_number_is_unique"
            )
        ]

    def __str__(self) -> str:
        return f"Page {self.number} of search {self.search_id}"


class Candidate(models.Model):
    """A work that a search found: what an index says of it, and nothing of its text but the abstract."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="candidates")
    search = models.ForeignKey(CampaignSearch, on_delete=models.CASCADE, related_name="candidates")
    number = models.PositiveIntegerField(help_text="In the order they were found")
    key = models.CharField(max_length=520, help_text="The DOI, else the index's own identifier")
    doi = models.CharField(max_length=500, blank=True, default="")
    title = models.TextField(blank=True, default="")
    authors = models.JSONField(default=list)
    year = models.SmallIntegerField(null=True)
    venue = models.TextField(blank=True, default="")
    kind = models.CharField(max_length=60, blank=True, default="")
    language = models.CharField(max_length=20, blank=True, default="")
    abstract = models.TextField(blank=True, default="")
    found_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["campaign", "key"], name="%(app_label)s_%(class)s_counted_once"),
            models.UniqueConstraint(
                fields=["campaign", "number"], name="%(app_label)s_%(class)s_number_is_unique"
            ),
        ]

    def __str__(self) -> str:
        return self.title or self.key


class CampaignRun(CappedRun):
    """One piece of long work on a campaign: who carries it out, how far it is, how it ended.

    `attempt` counts up with every claim and is the claim's token, as with jobs: what is written says that
    the attempt is still its own, so that a process that was given up for dead changes nothing.
    """

    class Stage(models.TextChoices):
        DISCOVER = "discover", "Finding works"
        SCREEN = "screen", "Screening"
        RESOLVE = "resolve", "Asking for licences"
        BUILD = "build", "Building the collection"

    class State(models.TextChoices):
        RUNNING = "running", "Running"
        FINISHED = "finished", "Finished"
        FAILED = "failed", "Ended early"
        CAPPED = "capped", "Stopped at the cap"
        CANCELLED = "cancelled", "Cancelled"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="runs")
    stage = models.CharField(max_length=8, choices=Stage.choices)
    state = models.CharField(max_length=9, choices=State.choices, default=State.RUNNING)
    parameters = models.JSONField(default=dict, help_text="What was asked for")
    total = models.PositiveIntegerField(null=True, help_text="Steps, as far as they are known")
    done = models.PositiveIntegerField(default=0)
    failed = models.PositiveIntegerField(default=0)
    last_error_code = models.CharField(max_length=60, blank=True, default="")
    is_for_workers = models.BooleanField(default=False)
    attempt = models.PositiveIntegerField(default=0, editable=False)
    worker = models.CharField(max_length=200, blank=True, default="", editable=False)
    lease_until = models.DateTimeField(null=True, editable=False)
    ingestion = models.ForeignKey(
        "corpus.IngestionRun", null=True, blank=True, on_delete=models.SET_NULL, related_name="campaign_runs"
    )
    started_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    started_by_name = models.CharField(max_length=200, blank=True, default="", editable=False)
    started_at = models.DateTimeField(db_default=Now(), editable=False)
    finished_at = models.DateTimeField(null=True, editable=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["campaign"],
                condition=Q(state="running"),
                name="%(app_label)s_%(class)s_one_runs_at_a_time",
            ),
            models.CheckConstraint(
                condition=Q(state="running", finished_at__isnull=True)
                | (~Q(state="running") & Q(finished_at__isnull=False)),
                name="%(app_label)s_%(class)s_ended_when_not_running",
            ),
            models.CheckConstraint(
                condition=Q(lease_until__isnull=True) | (Q(state="running") & ~Q(worker="")),
                name="%(app_label)s_%(class)s_leased_to_a_worker",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.get_stage_display()}: {self.state}"
