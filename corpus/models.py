"""The corpus: sources, documents, passages, their vectors, rights decisions and ingestion runs."""

from __future__ import annotations

import uuid

import pghistory
import pgtrigger
from django.conf import settings
from django.contrib.auth.models import Group
from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.contrib.postgres.search import SearchVectorField
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now
from pgvector.django import HalfVectorField

from corpus.identifiers import fold, normalise_doi
from corpus.querysets import ChunkQuerySet, DocumentQuerySet
from corpus.rights import LABELS, LicenseClass
from corpus.search_text import LENGTH_EXPRESSION, TSVECTOR_EXPRESSION

# The row as it was, without words, is the one change there is, once nobody may keep the words.
ONLY_WORDS_OF_THE_DELETED_GO = """
    IF TG_OP = 'UPDATE' AND NOT EXISTS (SELECT 1 FROM corpus_document WHERE id = OLD.document_id) THEN
        OLD.document_title := '';
        OLD.signal := '';
        OLD.evidence := '';
        OLD.note := '';
        IF NEW IS NOT DISTINCT FROM OLD THEN
            RETURN NEW;
        END IF;
    END IF;
    RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;
"""
WEB_ADDRESS = "^https?://"
LICENSE_CHOICES = [(item.value, LABELS[item]) for item in LicenseClass]


@pghistory.track(
    model_name="SourceEvent",
    fields=[
        "identifier_type",
        "identifier_value",
        "year",
        "published_date",
        "version_label",
        "is_retracted",
        "has_concern",
        "is_corrected",
    ],
)
class Source(models.Model):
    """The authority record of one work, held or merely cited."""

    class IdentifierType(models.TextChoices):
        DOI = "doi", "DOI"
        ARXIV = "arxiv", "arXiv"
        PMID = "pmid", "PubMed"
        ISBN = "isbn", "ISBN"
        ISSN = "issn", "ISSN"
        URL = "url", "URL"
        HANDLE = "handle", "Handle"
        URN = "urn", "URN"
        NONE = "", "None"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    identifier_type = models.CharField(max_length=8, choices=IdentifierType.choices, blank=True, default="")
    identifier_value = models.CharField(max_length=500, blank=True, default="")
    title = models.TextField(blank=True, default="")
    authors = models.JSONField(default=list, blank=True)
    year = models.SmallIntegerField(null=True, blank=True)
    published_date = models.DateField(null=True, blank=True)
    container = models.TextField(blank=True, default="", help_text="Journal, book or series")
    publisher = models.TextField(blank=True, default="")
    url = models.URLField(max_length=2000, blank=True, default="")
    version_label = models.CharField(max_length=100, blank=True, default="")
    is_retracted = models.BooleanField(default=False, editable=False)
    has_concern = models.BooleanField(default=False, editable=False)
    is_corrected = models.BooleanField(default=False, editable=False)
    first_seen_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["identifier_type", "identifier_value"],
                condition=~Q(identifier_type="") & ~Q(identifier_value=""),
                name="%(app_label)s_%(class)s_one_row_per_identifier",
            ),
            models.CheckConstraint(
                condition=Q(identifier_type="", identifier_value="")
                | (~Q(identifier_type="") & ~Q(identifier_value="")),
                name="%(app_label)s_%(class)s_identifier_type_and_value_go_together",
            ),
            # Whatever wrote it: a page may link to it.
            models.CheckConstraint(
                condition=Q(url="") | Q(url__iregex=WEB_ADDRESS),
                name="%(app_label)s_%(class)s_address_is_of_the_web",
            ),
            models.CheckConstraint(
                condition=~Q(identifier_type="url") | Q(identifier_value__iregex=WEB_ADDRESS),
                name="%(app_label)s_%(class)s_named_by_an_address_of_the_web",
            ),
        ]

    def __str__(self) -> str:
        return self.title or f"{self.identifier_type}:{self.identifier_value}".strip(":") or str(self.id)


@pghistory.track(
    pghistory.InsertEvent(),
    pghistory.UpdateEvent(),
    pghistory.DeleteEvent(),
    model_name="EditorialEventHistory",
)
class EditorialEvent(models.Model):
    """Something a publisher or an index asserted about a work, or a person recorded."""

    class Kind(models.TextChoices):
        RETRACTION = "retraction", "Retraction"
        WITHDRAWAL = "withdrawal", "Withdrawal"
        REMOVAL = "removal", "Removal"
        CONCERN = "expression_of_concern", "Expression of concern"
        CORRECTION = "correction", "Correction"
        REINSTATEMENT = "reinstatement", "Reinstatement"
        REPLACEMENT = "replacement", "Replacement"

    class Origin(models.TextChoices):
        CROSSREF = "crossref", "Crossref"
        RETRACTION_WATCH = "retraction_watch", "Retraction Watch"
        MANUAL = "manual", "Entered by a person"

    source = models.ForeignKey(Source, on_delete=models.CASCADE, related_name="events")
    kind = models.CharField(max_length=24, choices=Kind.choices)
    origin = models.CharField(max_length=20, choices=Origin.choices)
    notice_doi = models.CharField(max_length=500, blank=True, default="")
    note = models.TextField(blank=True, default="")
    happened_on = models.DateField()
    recorded_at = models.DateTimeField(db_default=Now(), editable=False)
    recorded_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["source", "kind", "origin", "happened_on", "notice_doi"],
                name="%(app_label)s_%(class)s_recorded_once",
            )
        ]

    def __str__(self) -> str:
        return f"{self.get_kind_display()} on {self.happened_on:%Y-%m-%d}"


# What decides who sees a document and how it ranks. No titles, names or text, nor what the document says of
# its licence: history is sealed, and outlives a document that was deleted because nobody may keep its words.
@pghistory.track(
    pghistory.InsertEvent(),
    pghistory.UpdateEvent(),
    pghistory.DeleteEvent(),
    model_name="DocumentEvent",
    fields=[
        "source",
        "year",
        "bucket",
        "license_class",
        "no_derivatives",
        "embargoed_until",
        "status",
        "superseded_by",
        "state",
        "state_reason",
        "file_sha256",
    ],
)
class Document(models.Model):
    """One ingested version of a file."""

    class State(models.TextChoices):
        QUEUED = "queued", "Queued"
        PARSING = "parsing", "Parsing"
        EMBEDDING = "embedding", "Embedding"
        READY = "ready", "Ready"
        NEEDS_OCR = "needs_ocr", "Needs OCR"
        # Whole, and kept from every search until a person has read what it says to machines.
        QUARANTINED = "quarantined", "Quarantined"
        FAILED = "failed", "Failed"

    class Status(models.TextChoices):
        CURRENT = "current", "Current"
        SUPERSEDED = "superseded", "Superseded"

    class Fixity(models.TextChoices):
        UNCHANGED = "", "As taken in"
        ORIGINAL_MISSING = "original_missing", "The original file is missing"
        ORIGINAL_CHANGED = "original_changed", "The original file is not the one taken in"
        PASSAGES_CHANGED = "passages_changed", "A passage is not the one taken in"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    source = models.ForeignKey(
        Source, null=True, blank=True, on_delete=models.PROTECT, related_name="documents"
    )
    title = models.TextField()
    authors = models.JSONField(default=list, blank=True)
    authors_folded = models.TextField(blank=True, default="", editable=False)
    year = models.SmallIntegerField(null=True, blank=True)
    doi = models.CharField(max_length=500, blank=True, default="", help_text="As given")
    doi_normalised = models.CharField(max_length=500, blank=True, default="", editable=False)
    journal = models.TextField(blank=True, default="")
    journal_folded = models.TextField(blank=True, default="", editable=False)
    url = models.URLField(max_length=2000, blank=True, default="")
    language = models.CharField(max_length=8, default="en")
    bucket = models.CharField(max_length=100, default="local", db_index=True)
    license_class = models.CharField(
        max_length=20, choices=LICENSE_CHOICES, default=LicenseClass.UNKNOWN.value
    )
    license_source = models.TextField(blank=True, default="", help_text="The signal, verbatim")
    no_derivatives = models.BooleanField(default=False)
    embargoed_until = models.DateField(
        null=True, blank=True, editable=False, help_text="Restricted until this day; a person decides then"
    )
    rights_statement = models.TextField(blank=True, default="")
    version_label = models.CharField(max_length=100, blank=True, default="")
    status = models.CharField(max_length=12, choices=Status.choices, default=Status.CURRENT)
    superseded_by = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.SET_NULL, related_name="supersedes"
    )
    content_sha256 = models.CharField(max_length=64, unique=True, editable=False)
    # Of the passages in order, as they are embedded, indexed and cited: the same words may be cut otherwise.
    passages_sha256 = models.CharField(max_length=64, blank=True, default="", editable=False)
    file_sha256 = models.CharField(max_length=64, editable=False, db_index=True)
    file_name = models.TextField(editable=False)
    media_type = models.CharField(max_length=100, editable=False)
    page_count = models.PositiveIntegerField(null=True, editable=False)
    chunk_count = models.PositiveIntegerField(default=0, editable=False)
    parser = models.CharField(max_length=60, editable=False, help_text="Name and version")
    parse_quality = models.JSONField(default=dict, editable=False)
    state = models.CharField(max_length=12, choices=State.choices, default=State.QUEUED)
    state_reason = models.CharField(max_length=60, blank=True, default="")
    # By which version of the rules its text was looked at for orders to models and hidden words.
    scanned_under = models.PositiveSmallIntegerField(default=0, editable=False)
    # Fixity: whether what is kept is still what was taken in. Empty while nothing was found changed.
    fixity = models.CharField(max_length=24, choices=Fixity.choices, blank=True, default="", editable=False)
    fixity_checked_at = models.DateTimeField(null=True, editable=False, db_index=True)
    ingested_at = models.DateTimeField(db_default=Now(), editable=False)
    updated_at = models.DateTimeField(auto_now=True)
    extra = models.JSONField(default=dict, blank=True)

    objects = DocumentQuerySet.as_manager()

    class Meta:
        permissions = [("change_license", "Can change licence classes")]
        constraints = [
            models.CheckConstraint(
                condition=Q(license_class__in=[item.value for item in LicenseClass]),
                name="%(app_label)s_%(class)s_license_class_is_known",
            ),
            models.CheckConstraint(
                condition=Q(embargoed_until__isnull=True) | Q(license_class__in=["restricted", "unknown"]),
                name="%(app_label)s_%(class)s_an_embargo_keeps_it_closed",
            ),
            models.CheckConstraint(
                condition=Q(superseded_by__isnull=True) | ~Q(superseded_by=F("id")),
                name="%(app_label)s_%(class)s_not_superseded_by_itself",
            ),
            models.CheckConstraint(
                condition=Q(superseded_by__isnull=True) | Q(status="superseded"),
                name="%(app_label)s_%(class)s_a_successor_means_superseded",
            ),
            models.CheckConstraint(
                condition=Q(url="") | Q(url__iregex=WEB_ADDRESS),
                name="%(app_label)s_%(class)s_address_is_of_the_web",
            ),
            models.CheckConstraint(
                condition=~Q(state="ready") | Q(chunk_count__gt=0),
                name="%(app_label)s_%(class)s_ready_means_it_has_passages",
            ),
        ]

    def __str__(self) -> str:
        return self.title

    def save(self, *args: object, **kwargs: object) -> None:
        self.authors_folded = "\n".join(fold(name) for name in self.authors)
        self.journal_folded = fold(self.journal)
        self.doi_normalised = normalise_doi(self.doi) or ""
        super().save(*args, **kwargs)  # type: ignore[arg-type]


class Chunk(models.Model):
    """A passage: the smallest thing that is retrieved and cited."""

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    document = models.ForeignKey(Document, on_delete=models.CASCADE, related_name="chunks")
    ordinal = models.PositiveIntegerField()
    body = models.TextField()
    content = models.TextField(help_text="Title, section path and body: what is embedded and indexed")
    section_path = models.JSONField(default=list)
    locator = models.CharField(max_length=200, blank=True, default="")
    page_start = models.PositiveIntegerField(null=True)
    page_end = models.PositiveIntegerField(null=True)
    boxes = models.JSONField(
        default=list, help_text="[page, left, top, right, bottom], page-relative from 0 to 1"
    )
    is_table = models.BooleanField(default=False)
    token_count = models.PositiveIntegerField()
    citation_unit = models.CharField(max_length=200, blank=True, default="")
    forward_references = models.JSONField(default=list)
    content_sha256 = models.CharField(max_length=64, help_text="SHA-256 of body")
    rank_key = models.BigIntegerField(
        help_text="From document hash and ordinal: breaks ties the same way after a re-ingest"
    )
    language = models.CharField(max_length=8, default="en")
    search_heading = models.TextField(help_text="Title and section path in search form")
    search_body = models.TextField(help_text="Body in search form")
    search_vector = models.GeneratedField(
        expression=TSVECTOR_EXPRESSION, output_field=SearchVectorField(), db_persist=True
    )
    search_length = models.GeneratedField(
        expression=LENGTH_EXPRESSION, output_field=models.IntegerField(), db_persist=True
    )
    indexed_at = models.DateTimeField(db_default=Now(), editable=False)
    graph_extracted_at = models.DateTimeField(null=True, editable=False)

    objects = ChunkQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["document", "ordinal"], name="%(app_label)s_%(class)s_ordinal_is_unique"
            ),
            models.CheckConstraint(
                condition=Q(page_start__isnull=True, page_end__isnull=True)
                | Q(page_start__lte=F("page_end")),
                name="%(app_label)s_%(class)s_pages_run_forward",
            ),
        ]
        indexes = [GinIndex(fields=["search_vector"], name="corpus_chunk_search")]

    def __str__(self) -> str:
        return f"{self.document_id} #{self.ordinal}"


class EmbeddingVersion(models.Model):
    """One way of making vectors, `model@dimensions`. Queries only ever use the active one."""

    name = models.CharField(max_length=200, unique=True)
    dimensions = models.PositiveSmallIntegerField()
    is_active = models.BooleanField(default=False)
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    activated_at = models.DateTimeField(null=True, editable=False)
    retired_at = models.DateTimeField(null=True, editable=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["is_active"],
                condition=Q(is_active=True),
                name="%(app_label)s_%(class)s_one_is_active",
            )
        ]

    def __str__(self) -> str:
        return self.name


class ChunkEmbedding(models.Model):
    """The vector of a passage in one version. Kept narrow: exact search reads every eligible row."""

    version = models.ForeignKey(EmbeddingVersion, on_delete=models.CASCADE, related_name="+")
    chunk = models.ForeignKey(Chunk, on_delete=models.CASCADE, related_name="embeddings")
    document = models.ForeignKey(Document, on_delete=models.CASCADE, related_name="+")
    rank_key = models.BigIntegerField()
    vector = HalfVectorField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["version", "chunk"], name="%(app_label)s_%(class)s_one_per_version"
            )
        ]

    def __str__(self) -> str:
        return f"{self.chunk_id} in version {self.version_id}"


class RightsDecision(models.Model):
    """One decision about a document's licence class. Append-only: the database refuses anything else.

    Save one thing: once its document is deleted, the words in it are taken out.
    """

    # No constraint in the database: the log outlives the document it speaks of.
    document = models.ForeignKey(
        Document, on_delete=models.DO_NOTHING, db_constraint=False, related_name="rights_decisions"
    )
    document_title = models.TextField(blank=True, default="")
    from_class = models.CharField(max_length=20, choices=LICENSE_CHOICES)
    to_class = models.CharField(max_length=20, choices=LICENSE_CHOICES)
    signal = models.TextField(blank=True, default="")
    evidence = models.TextField(blank=True, default="", help_text="URL or quotation")
    process = models.CharField(max_length=60, blank=True, default="")
    # Kept as text beside the key: the account may go, the record may not change.
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        on_delete=models.DO_NOTHING,
        db_constraint=False,
        related_name="+",
    )
    decided_by_name = models.CharField(max_length=150, blank=True, default="")
    decided_at = models.DateTimeField(db_default=Now(), editable=False)
    note = models.TextField(blank=True, default="")
    undoes = models.ForeignKey(
        "self", null=True, on_delete=models.DO_NOTHING, db_constraint=False, related_name="undone_by"
    )

    class Meta:
        triggers = [
            pgtrigger.Trigger(
                name="append_only",
                when=pgtrigger.Before,
                operation=pgtrigger.Update | pgtrigger.Delete,
                func=ONLY_WORDS_OF_THE_DELETED_GO,
            ),
            pgtrigger.Trigger(
                name="no_truncate",
                level=pgtrigger.Statement,
                when=pgtrigger.Before,
                operation=pgtrigger.Truncate,
                func="RAISE EXCEPTION 'pgtrigger: Cannot truncate the log of rights decisions';",
            ),
        ]
        constraints = [
            models.CheckConstraint(
                condition=~Q(process="") | ~Q(decided_by_name=""),
                name="%(app_label)s_%(class)s_somebody_decided",
            )
        ]

    def __str__(self) -> str:
        return f"{self.document_title or self.document_id}: {self.from_class} to {self.to_class}"


@pghistory.track(pghistory.InsertEvent(), pghistory.UpdateEvent(), pghistory.DeleteEvent())
class GroupCeiling(models.Model):
    """The widest scope the members of a group may have. A group without a row may see nothing."""

    group = models.OneToOneField(Group, on_delete=models.CASCADE, related_name="ceiling")
    license_classes = ArrayField(
        models.CharField(max_length=20, choices=LICENSE_CHOICES), default=list, blank=True
    )
    all_buckets = models.BooleanField(default=True)
    buckets = ArrayField(models.CharField(max_length=100), default=list, blank=True)

    def __str__(self) -> str:
        return f"Ceiling of {self.group}"


class DocumentCitation(models.Model):
    """An entry of a document's reference list.

    Kept whether or not it leads anywhere; one with the DOI of a work that is held leads to that work.
    """

    class Origin(models.TextChoices):
        DOCUMENT = "document", "The document's own list"
        INDEX = "index", "Deposited with an index"

    citing = models.ForeignKey(Document, on_delete=models.CASCADE, related_name="references")
    origin = models.CharField(max_length=10, choices=Origin.choices, default=Origin.DOCUMENT)
    ordinal = models.PositiveIntegerField()
    text = models.TextField(blank=True, default="")
    doi_normalised = models.CharField(max_length=500, blank=True, default="", db_index=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["citing", "origin", "ordinal"], name="%(app_label)s_%(class)s_ordinal_is_unique"
            )
        ]

    def __str__(self) -> str:
        return self.doi_normalised or self.text[:80]


class IngestionRun(models.Model):
    """One request to take files in, with a row for each file."""

    class State(models.TextChoices):
        RUNNING = "running", "Running"
        FINISHED = "finished", "Finished"
        FAILED = "failed", "Failed"
        CANCELLED = "cancelled", "Cancelled"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    started_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    origin = models.TextField(help_text="The manifest, folder or files asked for")
    parameters = models.JSONField(default=dict)
    state = models.CharField(max_length=12, choices=State.choices, default=State.RUNNING)
    started_at = models.DateTimeField(db_default=Now(), editable=False)
    finished_at = models.DateTimeField(null=True, editable=False)

    def __str__(self) -> str:
        return f"{self.origin} at {self.started_at}"


class IngestionItem(models.Model):
    """What happened to one file of a run."""

    class Outcome(models.TextChoices):
        WAITING = "waiting", "Waiting"
        READY = "ready", "Ready"
        DUPLICATE = "duplicate", "Duplicate"
        NEEDS_OCR = "needs_ocr", "Needs OCR"
        FAILED = "failed", "Failed"

    run = models.ForeignKey(IngestionRun, on_delete=models.CASCADE, related_name="items")
    path = models.TextField()
    outcome = models.CharField(max_length=12, choices=Outcome.choices, default=Outcome.WAITING)
    reason = models.CharField(max_length=60, blank=True, default="", help_text="Stable code")
    detail = models.TextField(blank=True, default="", help_text="One sentence for the librarian")
    document = models.ForeignKey(
        Document, null=True, blank=True, on_delete=models.SET_NULL, related_name="ingestion_items"
    )
    seconds = models.FloatField(null=True)
    # What the worker needs to take the file in; a run in the foreground leaves these empty.
    file_sha256 = models.CharField(max_length=64, blank=True, default="", editable=False, db_index=True)
    described = models.JSONField(default=dict, blank=True, editable=False)
    line = models.PositiveIntegerField(null=True, editable=False, help_text="Line of the manifest")

    def __str__(self) -> str:
        return f"{self.path}: {self.outcome}"


class Job(models.Model):
    """One unit of background work. This row is the truth; a message to the worker only rings a bell.

    `attempt` counts up with every claim and is the claim's token: what a worker writes must say that the
    attempt is still its own, so that one which was given up for dead changes nothing.
    """

    class Kind(models.TextChoices):
        PARSE = "parse", "Reading"
        EMBED = "embed", "Embedding"
        SETTLE = "settle", "Finishing the run"

    class State(models.TextChoices):
        QUEUED = "queued", "Queued"
        RUNNING = "running", "Running"
        DONE = "done", "Done"
        FAILED = "failed", "Failed"
        POISONED = "poisoned", "Took its worker down"
        CANCELLED = "cancelled", "Cancelled"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    kind = models.CharField(max_length=12, choices=Kind.choices)
    dedupe_key = models.CharField(max_length=100, unique=True)
    state = models.CharField(max_length=12, choices=State.choices, default=State.QUEUED)
    attempt = models.PositiveIntegerField(default=0)
    attempt_limit = models.PositiveIntegerField(default=2, help_text="No further claim from here on")
    interruptions = models.PositiveSmallIntegerField(
        default=0, help_text="How often the database went away during an attempt"
    )
    lease_until = models.DateTimeField(null=True)
    worker = models.CharField(max_length=200, blank=True, default="")
    last_error_code = models.CharField(max_length=60, blank=True, default="")
    run = models.ForeignKey(IngestionRun, on_delete=models.CASCADE, related_name="jobs")
    item = models.ForeignKey(
        IngestionItem, null=True, blank=True, on_delete=models.CASCADE, related_name="jobs"
    )
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    queued_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=(Q(state="running") & Q(lease_until__isnull=False) & ~Q(worker=""))
                | (~Q(state="running") & Q(lease_until__isnull=True)),
                name="%(app_label)s_%(class)s_running_means_leased",
            ),
        ]
        indexes = [
            # The next one to claim, and whether the oldest waits too long.
            models.Index(
                fields=["kind", "queued_at", "item"], condition=Q(state="queued"), name="corpus_job_queued"
            ),
            # The sweep for workers that died.
            models.Index(fields=["lease_until"], condition=Q(state="running"), name="corpus_job_leased"),
        ]

    def __str__(self) -> str:
        return f"{self.dedupe_key}: {self.state}"


class StageResult(models.Model):
    """A parsed file between two stages. A row, so that it comes and goes with what it belongs to."""

    item = models.OneToOneField(
        IngestionItem, primary_key=True, on_delete=models.CASCADE, related_name="stage_result"
    )
    payload = models.BinaryField()

    def __str__(self) -> str:
        return f"Stage result of {self.item_id}"


# What stands in modules of its own: Django finds models here.
from corpus.access_requests import AccessRequest  # noqa: E402, F401
from corpus.accounts.attempts import SignInCount  # noqa: E402, F401
from corpus.accounts.identities import (  # noqa: E402, F401
    GroupMapping,
    Identity,
    ProviderGrant,
    ProviderSession,
)
from corpus.accounts.sessions import PersonSession  # noqa: E402, F401
from corpus.audit.models import AuditEvent, AuditHead, AuditLink  # noqa: E402, F401
from corpus.backups import BackupRun  # noqa: E402, F401
from corpus.campaigns.models import (  # noqa: E402, F401
    Campaign,
    CampaignRun,
    CampaignSearch,
    Candidate,
    SearchPage,
)
from corpus.campaigns.screening_models import (  # noqa: E402, F401
    Screening,
    ScreeningDecision,
    ScreeningRound,
)
from corpus.campaigns.text_models import FullText  # noqa: E402, F401
from corpus.certificates import Certificate  # noqa: E402, F401
from corpus.curation import CorpusSnapshot, ReviewItem  # noqa: E402, F401
from corpus.enrichment.records import SourceCheck  # noqa: E402, F401
from corpus.history import GroupPermission, Membership, TrackedUser  # noqa: E402, F401
from corpus.keys.models import ApiKey, KeyUse  # noqa: E402, F401
from corpus.upload_charges import UploadCharge  # noqa: E402, F401
from corpus.usage.models import ModelUse  # noqa: E402, F401
from corpus.webhooks.models import Webhook, WebhookDelivery  # noqa: E402, F401
