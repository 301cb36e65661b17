"""For each finding of the doctor: what provokes it, and following what it says to do."""

from __future__ import annotations

import re
import shutil
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import connection, transaction
from django.db.migrations.loader import MigrationLoader
from django.utils import timezone

from answers.models import Answer
from corpus import enqueueing, pipeline, storage, vectors
from corpus import tasks as corpus_tasks
from corpus.actions import quarantine, rights
from corpus.backups import BackupRun
from corpus.gateways.embedding import configured_embedder
from corpus.inputs import from_paths
from corpus.models import ChunkEmbedding, Document, EmbeddingVersion, IngestionItem, Job
from corpus.parsing.blocks import ParseFailure
from evaluation.actions.questions import find_again
from evaluation.models import Question
from retrieval.graph.actions import resolution
from retrieval.graph.communities import scopes
from retrieval.graph.community_models import CommunityBuild
from retrieval.graph.resolution_models import MergeProposal
from sci_rag_site import tasks
from sci_rag_site.backup import unfinished
from sci_rag_site.cli import main
from sci_rag_site.health import configuration, database, holdings, keeping, keys, probes, sign_in
from sci_rag_site.health.findings import Finding
from tests.factories.corpus import (
    ChunkFactory,
    DocumentFactory,
    IngestionItemFactory,
    IngestionRunFactory,
    SourceFactory,
)
from tests.factories.evaluation import EvidenceFactory
from tests.factories.graph import EntityFactory, MentionFactory
from tests.factories.keys import make_key
from tests.loopback.openai_server import says

ROOT = Path(__file__).resolve().parents[3]
LONG_AGO = timedelta(days=60)
COMMAND = re.compile(r"'sci-rag ([^']+)'")


@dataclass
class World:
    """What a case may change."""

    settings: Any
    monkeypatch: pytest.MonkeyPatch
    folder: Path
    request: pytest.FixtureRequest
    kept: dict[str, Any] = field(default_factory=dict)

    @property
    def librarian(self) -> User:
        return self.request.getfixturevalue("librarian")

    def domain(self) -> Path:
        """Use a copy of the domain folder."""
        if not (self.folder / "domain").exists():
            shutil.copytree(ROOT / "domain", self.folder / "domain")
        self.settings.DOMAIN_DIR = self.folder / "domain"
        return self.folder / "domain"

    def run(self, finding: Finding, **words: str) -> None:
        """Run the command that the finding names, as it names it."""
        line = COMMAND.findall(finding.fix)[0]
        for name, value in words.items():
            line = line.replace(name, value)
        result = CliRunner().invoke(main, line.split(), catch_exceptions=False)
        assert result.exit_code == 0, result.output


Act = Callable[[World], None]
Follow = Callable[[World, Finding], None]


@dataclass(frozen=True)
class Case:
    """One finding."""

    name: str
    check: Callable[[], Iterable[Finding]]
    provoke: Act
    follow: Follow
    # Part of what to do, so that the test reads it as a person does.
    says: str


def command(world: World, finding: Finding) -> None:
    world.run(finding)


def undone(world: World, _finding: Finding) -> None:
    """What was patched stands for the world outside: it is as it was."""
    world.monkeypatch.undo()


def setting(name: str, value: Any) -> Act:
    return lambda world: setattr(world.settings, name, value)


def corrected(name: str, value: Any) -> Follow:
    return lambda world, _finding: setattr(world.settings, name, value)


def broken(file: str, text: str | None) -> Act:
    def provoke(world: World) -> None:
        path = world.domain() / file
        if text is None:
            path.unlink()
        else:
            path.write_text(text)

    return provoke


def restored(file: str) -> Follow:
    def follow(world: World, _finding: Finding) -> None:
        shutil.copyfile(ROOT / "domain" / file, world.domain() / file)

    return follow


def _unparseable(world: World) -> None:
    def refuse(_path: Path) -> None:
        raise ParseFailure("crashed", "It crashed.")

    world.monkeypatch.setattr("corpus.parsing.registry.parse", refuse)


def _no_room(world: World) -> None:
    usage = SimpleNamespace(free=10**8, total=10**12)
    world.monkeypatch.setattr(shutil, "disk_usage", lambda _place: usage)


def _message(world: World) -> None:
    world.settings.VAR_DIR = world.folder
    messages = world.folder / "broker" / "messages"
    messages.mkdir(parents=True)
    world.kept["message"] = messages / f"{time.time_ns() - 3600 * 10**9:020d}_x.light.msg"
    world.kept["message"].write_text("{}")


def _other_clock(world: World) -> None:
    now = time.time
    world.monkeypatch.setattr(keeping, "time", SimpleNamespace(time=lambda: now() + 3600))


def _one_back(_world: World) -> None:
    graph = MigrationLoader(connection).graph
    ((_, last),) = graph.leaf_nodes("evaluation")
    before = next(p.key[1] for p in graph.node_map["evaluation", last].parents if p.key[0] == "evaluation")
    call_command("migrate", "evaluation", before, verbosity=0)


def _build(_world: World) -> None:
    CommunityBuild.objects.create(
        scope_name="open", scope=scopes.scope_named("open").selection.as_dict(), graph_sha256="0" * 64,
        method="hand", is_current=True, finished_at=timezone.now(),
    )  # fmt: skip


def _job(**values: Any) -> Act:
    def provoke(_world: World) -> None:
        run = IngestionRunFactory()
        item = IngestionItemFactory(run=run, file_sha256="a" * 64, outcome=IngestionItem.Outcome.WAITING)
        job = Job.objects.create(kind="parse", dedupe_key="parse:x", run=run, item=item)
        Job.objects.filter(pk=job.pk).update(**{name: value() for name, value in values.items()})

    return provoke


def _waiting_file(world: World) -> None:
    world.settings.MEDIA_ROOT = world.folder / "media"
    _file(world)
    enqueueing.enqueue(from_paths([world.folder / "original.txt"]), by=None)
    Job.objects.update(queued_at=timezone.now() - LONG_AGO)


def _worked(_world: World, _finding: Finding) -> None:
    assert pipeline.work(kind=Job.Kind.PARSE)


def _document(**values: Any) -> Act:
    def provoke(world: World) -> None:
        world.kept["document"] = DocumentFactory(**values)

    return provoke


def _deleted(world: World, finding: Finding) -> None:
    world.run(finding, ID=f"{world.kept['document'].pk} --yes")


def _declared(world: World, _finding: Finding) -> None:
    _declare(world)


def _declare(world: World) -> None:
    rights.set_license(
        documents=[world.kept["document"]], license_class="public", by=world.librarian, evidence="stated"
    )


def _released(world: World, _finding: Finding) -> None:
    quarantine.release(document=world.kept["document"], by=world.librarian, reason="It is a paper on this.")


def _file(world: World) -> str:
    path = world.folder / "original.txt"
    path.write_text("Biochar holds water.")
    return storage.hash_file(path)


def _lost_original(world: World) -> None:
    world.settings.MEDIA_ROOT = world.folder / "media"
    world.kept["document"] = DocumentFactory(file_sha256=_file(world))


def _put_back(world: World, finding: Finding) -> None:
    storage.store(world.folder / "original.txt", world.kept["document"].file_sha256)
    world.run(finding)


def _changed(world: World) -> None:
    _lost_original(world)
    Document.objects.update(fixity=Document.Fixity.ORIGINAL_MISSING)


def _unverified(world: World) -> None:
    _lost_original(world)
    storage.store(world.folder / "original.txt", world.kept["document"].file_sha256)
    Document.objects.update(ingested_at=timezone.now() - LONG_AGO)


def _unscanned(world: World) -> None:
    _unverified(world)
    ChunkFactory(document=world.kept["document"], ordinal=0)


def _never_checked(_world: World) -> None:
    DocumentFactory(source=SourceFactory(identifier_value="10.1000/paper"), doi="10.1000/paper")


def _enriched(world: World, finding: Finding) -> None:
    from tests.loopback.crossref_server import CrossrefServer

    with CrossrefServer() as server:
        server.works["10.1000/paper"] = {"DOI": "10.1000/paper", "title": ["A paper"]}
        world.settings.SCI_RAG_CONTACT_EMAIL = "library@lab.example"
        world.settings.SCI_RAG_CROSSREF_URL = server.base_url
        world.settings.SCI_RAG_OUTBOUND_HOSTS = [server.host]
        world.run(finding)


def _key_of_before(world: World) -> None:
    made = make_key(world.librarian)
    type(made.key).objects.update(hashed_by="0" * 12)
    world.kept["key"] = made.key


def _revoked(world: World, _finding: Finding) -> None:
    result = CliRunner().invoke(main, ["keys", "revoke", str(world.kept["key"].pk)], catch_exceptions=False)
    assert result.exit_code == 0, result.output


def _embedded(version: EmbeddingVersion) -> ChunkEmbedding:
    import numpy

    chunk = ChunkFactory()
    rows = numpy.ones((1, version.dimensions), dtype=numpy.float32)
    vectors.store(version=version, chunks=[chunk], vectors=rows)
    return ChunkEmbedding.objects.get(chunk=chunk)


def _without_code(_world: World) -> None:
    version = EmbeddingVersion.objects.create(name="other@4", dimensions=4)
    embedding = _embedded(version)
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM corpus_vectorcode WHERE embedding_id = %s", [embedding.pk])


def _kept_for_nothing(_world: World) -> None:
    past = timezone.now() - LONG_AGO
    _embedded(EmbeddingVersion.objects.create(name="other@4", dimensions=4, retired_at=past))


def _other_version(_world: World) -> None:
    EmbeddingVersion.objects.create(name="all-MiniLM-L6-v2@256", dimensions=256, is_active=True)


def _bare_passage(_world: World) -> None:
    embedder = configured_embedder()
    EmbeddingVersion.objects.create(name=embedder.version, dimensions=embedder.dimensions, is_active=True)
    ChunkFactory()


def _pair(_world: World) -> None:
    low, high = sorted(MentionFactory(entity=EntityFactory()).entity.pk for _ in range(2))
    MergeProposal.objects.create(low_id=low, high_id=high, tier=1, method="name", confidence=0.9)


def _rejected(world: World, _finding: Finding) -> None:
    resolution.reject(proposals=list(MergeProposal.objects.order_by("pk")), by=world.librarian)


def _written_for_ever(_world: World) -> None:
    answer = Answer.objects.create(question="What holds water?", state=Answer.State.GENERATING)
    Answer.objects.filter(pk=answer.pk).update(created_at=timezone.now() - LONG_AGO)


def _reference_to_nothing(_world: World) -> None:
    EvidenceFactory(phrase="", doi="10.1000/paper")


def _taken_in(_world: World, _finding: Finding) -> None:
    from corpus.scope import RetrievalScope

    document = DocumentFactory(doi="10.1000/paper")
    ChunkFactory(document=document)
    assert find_again(questions=list(Question.objects.order_by("pk")), scope=RetrievalScope()) == 1


def _tampered(world: World) -> None:
    world.kept["document"] = DocumentFactory(license_class="unknown")
    _declare(world)
    _written_past("another")


def _written_past(value: str) -> None:
    # As whoever may do everything with the database does: no trigger hears of it.
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL session_replication_role TO replica")
        cursor.execute("UPDATE corpus_rightsdecision SET evidence = %s", [value])


def _backed_up(world: World, finding: Finding) -> None:
    world.run(finding, FILE=str(world.folder / "kept.backup"))


def _drilled(world: World, finding: Finding) -> None:
    world.folder.chmod(0o755)
    world.settings.VAR_DIR = world.folder
    CliRunner().invoke(main, ["backup", str(world.folder / "kept.backup")], catch_exceptions=False)
    world.run(finding)


def _failed_drill(_world: World) -> None:
    DocumentFactory()
    BackupRun.objects.create(
        kind="drill", state="failed", reason="It broke off.", path="/b", finished_at=timezone.now()
    )


def _large_corpus(world: World) -> None:
    embedder = configured_embedder()
    version = EmbeddingVersion.objects.create(
        name=embedder.version, dimensions=embedder.dimensions, is_active=True
    )
    _embedded(version)
    world.monkeypatch.setattr(vectors, "index_bound", lambda: 0)


def _ingested(world: World, _finding: Finding) -> None:
    (world.folder / "new.txt").write_text("Compost feeds soil, and soil feeds what grows in it for years.")
    result = CliRunner().invoke(main, ["ingest", str(world.folder / "new.txt")], catch_exceptions=False)
    assert result.exit_code == 0, result.output


def _no_model(world: World) -> None:
    world.settings.SCI_RAG_LLM_MODEL = "openai/nothing"
    world.settings.SCI_RAG_LLM_API_BASE = "http://127.0.0.1:9/v1"
    world.settings.SCI_RAG_LLM_API_KEY = "sk-x"


def _model(world: World, _finding: Finding) -> None:
    world.request.getfixturevalue("configured_model").will(says("ready"))


def _no_provider(world: World) -> None:
    world.settings.SCI_RAG_OIDC_ISSUER = "http://127.0.0.1:9"
    world.settings.SCI_RAG_OIDC_CLIENT_ID = "sci-rag"
    world.settings.SCI_RAG_OIDC_HOSTS = ["127.0.0.1:9"]


def _beat(world: World, _finding: Finding) -> None:
    if "message" in world.kept:
        world.kept["message"].unlink()
    tasks.heartbeat()


# Each test's transaction is enough for these.
QUICK = [
    Case(
        "configuration",
        configuration.configuration,
        setting("DEBUG", True),
        corrected("DEBUG", False),
        "Remove DEBUG",
    ),
    Case(
        "domain profile",
        configuration.domain_profile,
        broken("domain.yaml", "chunk_tokens: many\n"),
        restored("domain.yaml"),
        "Correct",
    ),
    Case(
        "prompts",
        configuration.domain_files,
        broken("prompts/screen.md", None),
        restored("prompts/screen.md"),
        "Restore",
    ),
    Case(
        "ontology",
        configuration.domain_files,
        broken("ontology.yaml", "entity_types: 3\n"),
        restored("ontology.yaml"),
        "Correct",
    ),
    Case(
        "what may leave",
        configuration.egress,
        broken("egress.yaml", "outside: [everything]\n"),
        restored("egress.yaml"),
        "Correct",
    ),
    Case("parser", configuration.parser, _unparseable, undone, "make setup"),
    Case(
        "embedding model",
        configuration.models,
        setting("SCI_RAG_EMBEDDING_DIMENSIONS", 999),
        corrected("SCI_RAG_EMBEDDING_DIMENSIONS", 384),
        "SCI_RAG_EMBEDDING_MODEL",
    ),
    Case(
        "credentials",
        configuration.credentials,
        setting("SCI_RAG_LLM_MODEL", "openai/some"),
        corrected("SCI_RAG_LLM_API_KEY", "sk-x"),
        "SCI_RAG_LLM_API_KEY",
    ),
    Case("broker", configuration.worker, _message, _beat, "sci-rag up"),
    Case(
        "worker",
        configuration.worker,
        lambda world: setattr(world.settings, "VAR_DIR", world.folder),
        _beat,
        "sci-rag up",
    ),
    Case("disk", configuration.disk, _no_room, undone, "Free some"),
    Case(
        "database",
        database.database,
        lambda _world: unfinished.begin("/b"),
        lambda _world, _finding: unfinished.end(),
        "sci-rag restore /b --replace",
    ),
    Case(
        "pgvector",
        database.pgvector,
        lambda world: world.monkeypatch.setattr(database, "OLDEST_PGVECTOR", (99,)),
        undone,
        "Install pgvector",
    ),
    Case("clock", keeping.clock, _other_clock, undone, "Set the clocks"),
    Case(
        "migrations",
        database.migrations,
        _one_back,
        lambda _world, _finding: call_command("migrate", verbosity=0),
        "manage.py migrate",
    ),
    Case(
        "leases",
        holdings.attention,
        _job(
            state=lambda: "running",
            worker=lambda: "gone/1",
            attempt=lambda: 1,
            lease_until=lambda: timezone.now() - LONG_AGO,
        ),
        lambda _world, _finding: corpus_tasks.sweep_jobs(),
        "worker",
    ),
    Case(
        "unfinished answers",
        holdings.attention,
        _written_for_ever,
        lambda _world, _finding: tasks.close_abandoned_answers(),
        "worker",
    ),
    Case("unknown licences", database.corpus, _document(license_class="unknown"), _declared, "Declare"),
    Case(
        "documents without text",
        database.corpus,
        _document(state="needs_ocr", chunk_count=0),
        _deleted,
        "OCR",
    ),
    Case("failed documents", database.corpus, _document(state="failed", chunk_count=0), _deleted, "again"),
    Case("quarantined documents", holdings.attention, _document(state="quarantined"), _released, "release"),
    Case("keys", keys.keys, _key_of_before, _revoked, "revoke them"),
    Case("vector codes", holdings.vectors, _without_code, command, "embed repair"),
    Case("graph", holdings.graph, lambda _world: EntityFactory(), command, "graph gc --apply"),
    Case("probable duplicates", holdings.graph, _pair, _rejected, "Decide"),
    Case("evidence", holdings.attention, _reference_to_nothing, _taken_in, "Take their documents in"),
    Case("originals", keeping.originals, _lost_original, _put_back, "Put them back"),
    Case(
        "probe: embedding",
        probes.one_embedding,
        setting("SCI_RAG_EMBEDDING_DIMENSIONS", 999),
        corrected("SCI_RAG_EMBEDDING_DIMENSIONS", 384),
        "SCI_RAG_EMBEDDING_MODEL",
    ),
]
# These need what a test's transaction is not: other connections, one moment, or a model's library.
SLOW = [
    Case("unscanned documents", database.corpus, _unscanned, command, "corpus scan"),
    Case("communities", database.communities, _build, command, "graph communities"),
    Case("queue", database.queue, _waiting_file, _worked, "sci-rag up"),
    Case("stale vectors", holdings.vectors, _kept_for_nothing, command, "embed drop other@4"),
    Case("embeddings", database.embeddings, _other_version, command, "embed reindex"),
    Case("passages without a vector", database.embeddings, _bare_passage, command, "embed reindex"),
    Case("vector index", database.vector_index, _large_corpus, _ingested, "Ingest any file"),
    Case("changed documents", database.corpus, _changed, _put_back, "restore their files"),
    Case("unverified documents", database.corpus, _unverified, command, "corpus verify"),
    Case("unchecked works", database.corpus, _never_checked, _enriched, "corpus enrich"),
    Case(
        "records",
        database.records,
        _tampered,
        lambda _world, _finding: _written_past("stated"),
        "audit verify",
    ),
    Case("backup", keeping.backup, lambda _world: DocumentFactory(), _backed_up, "sci-rag backup FILE"),
    Case("backup drill", keeping.backup, _failed_drill, _drilled, "sci-rag backup drill"),
    Case("probe: generation", probes.one_generation, _no_model, _model, "SCI_RAG_LLM_MODEL"),
    Case(
        "probe: sign-in provider",
        sign_in.provider,
        _no_provider,
        corrected("SCI_RAG_OIDC_ISSUER", ""),
        "SCI_RAG_OIDC_HOSTS",
    ),
]
# Always in order: they say how much there is.
TOLD = {"documents", "retracted works", "answering model"}
