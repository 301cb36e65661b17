"""The database: reached, equipped, up to date, and what it holds fit to be searched."""

from __future__ import annotations

from collections.abc import Iterator

from django.conf import settings
from django.db import DatabaseError, connection
from django.db.models import Exists, OuterRef

from corpus import fixity, jobs, scanning, vectors
from corpus.audit import verifying
from corpus.models import Chunk, ChunkEmbedding, Document, Source
from corpus.rights import LicenseClass
from corpus.waiting import never_checked
from retrieval.graph.communities import queries
from retrieval.graph.community_models import CommunityBuild
from sci_rag_site.backup import unfinished
from sci_rag_site.commands.preparation import unapplied_migrations
from sci_rag_site.database.errors import EmbeddedPostgresError
from sci_rag_site.database.readiness import OLDEST_PGVECTOR, SELF_TEST, version
from sci_rag_site.health.findings import Finding, counted, fail, ok, warn

# A queue may be long; one that nobody works on is another matter.
PATIENCE_SECONDS = 120


def database() -> Iterator[Finding]:
    """Reach the server."""
    kind = "embedded server" if settings.EMBEDDED_POSTGRES is not None else "server of DATABASE_URL"
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT current_setting('server_version'), pg_database_size(current_database())")
            number, size = cursor.fetchone()
        told = unfinished.told()
    except EmbeddedPostgresError as error:
        yield fail("database", str(error), "Do what the message says.")
    except DatabaseError as error:
        reason = str(error).strip().partition("\n")[0]
        yield fail("database", f"The {kind} is not reached: {reason}", "Start it, or correct DATABASE_URL.")
    else:
        if told:
            what, _, how = told.partition(". Go on with: ")
            yield fail("database", f"{what}.", f"Run '{how}'.")
            return
        yield ok("database", f"PostgreSQL {number}, {kind}, {size / 1e6:.0f} MB")


def records() -> Iterator[Finding]:
    """Compare the logs of decisions, rights and accounts with their seals."""
    found = verifying.verify()
    if not found.tampers:
        yield ok("records", f"{found.links:,} of {len(found.tables)} logs, as they were sealed")
        return
    first = found.tampers[0]
    yield fail(
        "records",
        f"{len(found.tampers):,} are not as they were sealed, first {first.table} {first.row}.",
        "Run 'sci-rag audit verify', and compare with a backup.",
    )


def pgvector() -> Iterator[Finding]:
    """See that the extension is there, new enough, and computes what it should."""
    needed = ".".join(map(str, OLDEST_PGVECTOR))
    install = f"Install pgvector {needed} or newer on the server and run ALTER EXTENSION vector UPDATE."
    with connection.cursor() as cursor:
        cursor.execute("SELECT extversion FROM pg_extension WHERE extname = 'vector'")
        row = cursor.fetchone()
        if row is None:
            yield fail("pgvector", "The extension is not in the database.", "Run 'python manage.py migrate'.")
            return
        if version(row[0]) < OLDEST_PGVECTOR:
            yield fail("pgvector", f"Version {row[0]} has known faults in its indexes.", install)
            return
        cursor.execute(SELF_TEST)
        if cursor.fetchone() != (True,):
            yield fail("pgvector", f"Version {row[0]} computes wrong distances.", install)
            return
    yield ok("pgvector", f"{row[0]}, self-test passed")


def migrations() -> Iterator[Finding]:
    """Compare the database with this version of the code."""
    missing = unapplied_migrations()
    if missing:
        yield fail(
            "migrations",
            f"{len(missing)} not applied, from {missing[0]} on.",
            "Run 'python manage.py migrate'.",
        )
    else:
        yield ok("migrations", "all applied")


def embeddings() -> Iterator[Finding]:
    """Compare the active version with the settings and with the passages."""
    active = vectors.active_version()
    if active is None:
        yield ok("embeddings", "none yet: nothing was ingested")
        return
    from corpus.gateways.embedding import EmbeddingError, configured_embedder

    try:
        vectors.active_embedder()
        wanted = configured_embedder().version
    except EmbeddingError as error:
        yield fail("embeddings", " ".join(str(error).split()), "Change .env back.")
        return
    if wanted == active.name:
        yield ok("embeddings", f"active version {active.name}, {active.dimensions} dimensions")
    else:
        yield warn(
            "embeddings",
            f"The corpus is embedded with {active.name}, the settings name {wanted}. Both go on working.",
            "Run 'sci-rag embed reindex' to move the corpus, or change .env back.",
        )
    embedded = ChunkEmbedding.objects.filter(chunk=OuterRef("pk"), version=active)
    bare = Chunk.objects.filter(document__state=Document.State.READY).exclude(Exists(embedded)).count()
    yield counted(
        "passages without a vector",
        bare,
        good="none",
        bad="{} passages are found by words only.",
        fix=f"Run 'sci-rag embed reindex' for {active.name}.",
    )


def vector_index() -> Iterator[Finding]:
    """See that a corpus too large for exact ranking has its index."""
    active = vectors.active_version()
    rows = ChunkEmbedding.objects.filter(version=active).count() if active else 0
    if active is None or rows <= vectors.index_bound():
        yield ok("vector index", f"not needed for {rows:,} passages: ranking is exact")
    elif vectors.has_index(active):
        yield ok("vector index", f"HNSW over {rows:,} passages, valid")
    else:
        yield warn(
            "vector index",
            f"{rows:,} passages are ranked one by one: the index is missing or half-built.",
            "Ingest any file: the index is built at the end of the run.",
        )


def communities() -> Iterator[Finding]:
    """See that what was built for named scopes serves questions, and of the graph as it is."""
    built = list(CommunityBuild.objects.filter(is_current=True).order_by("scope_name", "pk"))
    unused = [build.scope_name for build in built if not queries.serves(build)]
    outdated = [build.scope_name for build in built if queries.is_stale(build)]
    again = "Run 'sci-rag graph communities'."
    if unused:
        names = ", ".join(unused)
        yield warn("communities", f"Not used, since documents they were read from are out: {names}.", again)
    elif outdated:
        yield warn("communities", f"The graph has changed since: {', '.join(outdated)}.", again)
    else:
        names = ", ".join(build.scope_name for build in built)
        yield ok("communities", f"up to date: {names}" if built else "none built")


def queue() -> Iterator[Finding]:
    """See how long the oldest job has been waiting: that, not a living process, says that workers work."""
    waiting = jobs.backlog()
    found = f"{waiting.queued:,} jobs wait, {waiting.running:,} are being done"
    if waiting.oldest_seconds > PATIENCE_SECONDS and not waiting.running:
        yield warn(
            "queue",
            f"{found}; the oldest has been waiting for {waiting.oldest_seconds / 60:.0f} minutes.",
            "Start the worker, or restart it: 'sci-rag up', or 'celery -A sci_rag_site worker --beat'.",
        )
    else:
        yield ok("queue", found)


def corpus() -> Iterator[Finding]:
    """Count what a librarian has to look at."""
    documents = Document.objects.all()
    yield ok("documents", f"{documents.filter(state=Document.State.READY).count():,} ready")
    yield counted(
        "unknown licences",
        documents.filter(license_class=LicenseClass.UNKNOWN).count(),
        good="none",
        bad="{} documents are hidden from askers.",
        fix="Declare their licence in the admin, under Documents.",
    )
    yield counted(
        "documents without text",
        documents.filter(state=Document.State.NEEDS_OCR).count(),
        good="none",
        bad="{} documents are scans.",
        fix="Run them through OCR, ingest the result, and remove the scans: 'sci-rag corpus delete ID'.",
    )
    yield counted(
        "failed documents",
        documents.filter(state=Document.State.FAILED).count(),
        good="none",
        bad="{} documents failed.",
        fix="See their reason in the admin, ingest them again, and remove these: 'sci-rag corpus delete ID'.",
    )
    yield from _kept()
    yield counted(
        "unscanned documents",
        scanning.due().count(),
        good="none",
        bad="{} documents were not looked at by the present rules for orders to models and hidden text.",
        fix="Run 'sci-rag corpus scan'.",
    )
    retracted = Source.objects.filter(is_retracted=True).count()
    yield ok("retracted works", f"{retracted:,}, left out of answers unless asked for")
    yield counted(
        "unchecked works",
        never_checked().count(),
        good="none",
        bad="The status of {} works with a DOI was never looked up.",
        fix="Set SCI_RAG_CONTACT_EMAIL and run 'sci-rag corpus enrich', or record them in the admin.",
    )


def _kept() -> Iterator[Finding]:
    changed = Document.objects.exclude(fixity=Document.Fixity.UNCHANGED).count()
    if changed:
        yield fail(
            "changed documents",
            f"{changed:,} are not what was taken in.",
            "See 'sci-rag corpus verify', and restore their files from a backup.",
        )
    else:
        yield ok("changed documents", "none found")
    yield counted(
        "unverified documents",
        fixity.overdue(),
        good="none",
        bad="{} were not compared with their hashes for a week.",
        fix="Run 'sci-rag corpus verify', or keep the worker running.",
    )
