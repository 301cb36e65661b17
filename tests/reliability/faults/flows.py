"""The six flows that faults are swept over: how each is run, taken up again, and what it comes to.

`run` is what a worker, a command or a page does once. `take_up` is what the next worker or the person does
when the fault is gone. `comes_to` says all that has to be the same then as if nothing had happened.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any, Protocol

from django.db import connection, connections
from django.utils import timezone

from answers import engine
from answers.actions import answers as answer_actions
from answers.models import Answer
from corpus import enqueueing, pipeline, reembedding, vectors
from corpus.actions import deletion, runs
from corpus.enrichment import running as enrichment
from corpus.fingerprint import fingerprint
from corpus.gateways import embedding
from corpus.gateways.crossref import Crossref
from corpus.gateways.http import Outbound
from corpus.gateways.pace import Pace
from corpus.inputs import from_manifest
from corpus.jobs import Kind
from corpus.models import Document, IngestionItem, IngestionRun
from corpus.scope import RetrievalScope
from corpus.usage import ledger
from retrieval.graph import queries
from retrieval.graph.actions import resolution
from retrieval.graph.resolution_models import MergeProposal
from tests.loopback.crossref_server import CrossrefServer
from tests.reliability.invariants import expire_leases

EVERYTHING = RetrievalScope()
QUESTION = "How long was straw stored?"


class Flow(Protocol):
    """One of the six."""

    name: str
    kinds: tuple[str, ...]
    # A rule that the flow breaks by what it is there for.
    excused: str

    def run(self) -> None: ...
    def troubles(self) -> list[str]: ...
    def take_up(self) -> None: ...
    def comes_to(self) -> Any: ...


def work_off() -> None:
    """Be a worker until nothing waits."""
    while any(pipeline.work(kind=kind) for kind in Kind):
        pass


def corpus_as_text() -> list[Any]:
    """Return what the corpus holds without ids and times: the fingerprint, every passage and every vector."""
    with connection.cursor() as cursor:
        cursor.execute(
            """
            SELECT document.content_sha256, document.title, document.license_class, chunk.ordinal,
                chunk.content, version.name, version.is_active, md5(embedding.vector::text)
            FROM corpus_document document
            JOIN corpus_chunk chunk ON chunk.document_id = document.id
            LEFT JOIN corpus_chunkembedding embedding ON embedding.chunk_id = chunk.id
            LEFT JOIN corpus_embeddingversion version ON version.id = embedding.version_id
            ORDER BY 1, 4, 6
            """
        )
        return [fingerprint(EVERYTHING), *cursor.fetchall()]


class Ingest:
    """Files handed to the workers, who read, embed and store them and end the run."""

    name, kinds, excused = "ingest", ("sql", "http", "file"), ""

    def __init__(self, manifest: Path) -> None:
        self._manifest = manifest

    def run(self) -> None:
        enqueueing.enqueue(from_manifest(self._manifest), by=None)
        work_off()

    def troubles(self) -> list[str]:
        unnamed = IngestionItem.objects.filter(outcome=IngestionItem.Outcome.FAILED, reason="").count()
        return [f"{unnamed} failed files without a reason"] if unnamed else []

    def take_up(self) -> None:
        expire_leases()
        pipeline.reclaim()
        work_off()
        for run in IngestionRun.objects.all():
            runs.retry(run=run, by=None)
        work_off()
        # What was refused at the door is sent again.
        names = [file.name for file in from_manifest(self._manifest).files]
        if set(names) - set(IngestionItem.objects.filter(outcome="ready").values_list("path", flat=True)):
            self.run()

    def comes_to(self) -> Any:
        return corpus_as_text()


class Ask:
    """A question, answered by a model from passages that were found."""

    name, kinds, excused = "ask", ("sql", "http"), ""

    def run(self) -> None:
        engine.answer(question=QUESTION, requested=EVERYTHING, by=None, engine="model")

    def troubles(self) -> list[str]:
        # The process lives on, so that the clock decides about what it could not end itself.
        answer_actions.close_abandoned(timezone.now() + timedelta(hours=1))
        found = []
        for answer in Answer.objects.all():
            numbers = list(answer.sources.order_by("number").values_list("number", flat=True))
            if answer.state not in {Answer.State.DONE, Answer.State.PARTIAL, Answer.State.FAILED}:
                found.append(f"an answer is {answer.state}")
            elif not answer.finish or answer.finished_at is None:
                found.append(f"an answer is {answer.state} and does not say how")
            elif answer.state == Answer.State.DONE and not answer.text:
                found.append("an answer is done without a word")
            if numbers != list(range(1, len(numbers) + 1)):
                found.append(f"the sources have the numbers {numbers}")
            if answer.state == Answer.State.DONE and answer.finish == "stop" and not numbers:
                found.append("an answer is done without its sources")
        return found

    def take_up(self) -> None:
        last = Answer.objects.order_by("created_at").last()
        if last is None or last.state != Answer.State.DONE or last.degraded:
            self.run()

    def comes_to(self) -> Any:
        answer = Answer.objects.order_by("created_at").last()
        assert answer is not None
        sources = answer.sources.order_by("number").values_list("number", "content_sha256", "is_cited")
        findings = answer.findings.order_by("sentence", "kind").values_list("sentence", "kind", "detail")
        return [answer.state, answer.finish, answer.text, answer.fingerprint, list(sources), list(findings)]


class Enrich:
    """Works that Crossref is asked about, one after the other."""

    name, kinds, excused = "enrich", ("sql", "http"), ""

    def __init__(self, server: CrossrefServer) -> None:
        self._server = server

    def run(self) -> None:
        outbound = Outbound(
            contact="library@lab.example", listed=[self._server.host], deadline=3.0, pace=Pace()
        )
        with outbound:
            enrichment.run(crossref=Crossref(outbound, base_url=self._server.base_url))

    def troubles(self) -> list[str]:
        return _counted(
            {
                "failed checks without a reason": "SELECT count(*) FROM corpus_sourcecheck "
                "WHERE outcome = 'check_failed' AND reason = ''",
                "good checks that never were": "SELECT count(*) FROM corpus_sourcecheck "
                "WHERE outcome = 'good' AND last_good_at IS NULL",
                "good checks of retracted works without the event": "SELECT count(*) FROM corpus_sourcecheck "
                "AS look JOIN corpus_source source ON source.id = look.source_id "
                "WHERE look.outcome = 'good' AND source.identifier_value LIKE '%%retracted%%' "
                "AND NOT source.is_retracted",
            }
        )

    def take_up(self) -> None:
        self.run()

    def comes_to(self) -> Any:
        return _rows(
            "SELECT identifier_value, title, container, is_retracted, has_concern FROM corpus_source "
            "ORDER BY 1",
            "SELECT source.identifier_value, kind, origin, notice_doi, happened_on::text "
            "FROM corpus_editorialevent event JOIN corpus_source source ON source.id = event.source_id "
            "ORDER BY 1, 2, 3, 4",
            "SELECT source.identifier_value, outcome, cited_by FROM corpus_sourcecheck "
            "JOIN corpus_source source ON source.id = source_id ORDER BY 1",
            "SELECT document.title, journal, origin, ordinal, text FROM corpus_documentcitation citation "
            "JOIN corpus_document document ON document.id = citation.citing_id ORDER BY 1, 3, 4",
        )


class Merge:
    """Pairs of entities that somebody decided are one."""

    name, kinds, excused = "merge", ("sql",), ""

    def run(self) -> None:
        proposed = MergeProposal.objects.filter(state=MergeProposal.State.PROPOSED)
        resolution.decide(proposals=list(proposed), state=MergeProposal.State.APPROVED, by=None)

    def troubles(self) -> list[str]:
        return _counted(
            {
                "tombstones of tombstones": "SELECT count(*) FROM retrieval_entity entity JOIN "
                "retrieval_entity canonical ON canonical.id = entity.canonical_entity_id "
                "WHERE canonical.canonical_entity_id IS NOT NULL",
                "edges that end at a tombstone": "SELECT count(*) FROM retrieval_relationship edge JOIN "
                "retrieval_entity entity ON entity.id IN (edge.source_id, edge.target_id) "
                "WHERE entity.canonical_entity_id IS NOT NULL",
            }
        )

    def take_up(self) -> None:
        self.run()

    def comes_to(self) -> Any:
        return list(queries.dump())


class _Unwatched:
    def begin(self, total: int) -> None: ...
    def advance(self, count: int) -> None: ...


class Reembed:
    """Every passage given a vector of another version, and the switch to it."""

    name, kinds, excused = "re-embed", ("sql", "http"), ""

    def __init__(self, version: str) -> None:
        self._version = version

    def run(self) -> None:
        reembedding.reindex(
            embedder=embedding.embedder_of(self._version), switches=True, watcher=_Unwatched(), batch=2
        )

    def troubles(self) -> list[str]:
        active = vectors.active_version()
        if active is None:
            return ["no version is the active one"]
        lacking = reembedding.missing(active)
        return [f"{lacking} passages lack the vector that questions use"] if lacking else []

    def take_up(self) -> None:
        self.run()

    def comes_to(self) -> Any:
        return corpus_as_text()


class Delete:
    """A document removed with everything made from it."""

    name, kinds, excused = "delete", ("sql", "file"), "ready files without a document"

    def run(self) -> None:
        deletion.delete(document_id=Document.objects.get(title=TITLES[0]).pk)

    def troubles(self) -> list[str]:
        return []

    def take_up(self) -> None:
        with contextlib.suppress(Document.DoesNotExist):
            self.run()

    def comes_to(self) -> Any:
        return corpus_as_text()


GRAPH = "Pyrolysis gives biochar. Bio-char holds water. Charcoal holds water."
TITLES = ("Ash", "Char", "Straw", "Water")


def write_corpus(folder: Path, *, count: int = len(TITLES)) -> Path:
    """Write small files and the manifest that says their licence; return it."""
    folder.mkdir(parents=True)
    lines = []
    titles = [*TITLES, *(f"Lot {number}" for number in range(len(TITLES), count))]
    for number, title in enumerate(titles):
        table = f"| Day | Loss |\n|---|---|\n| {number} | 2.5 |\n"
        sentences = (
            f"Straw was stored for {number + 3} days in shed {number}.",
            f"Losses of {title.lower()} rose to {number + 2} percent. {GRAPH}",
        )
        text = "\n\n".join([f"# {title}", "## 1 Methods", sentences[0], "## 2 Results", sentences[1], table])
        (folder / f"{number}.md").write_text(text)
        said = {
            "path": f"{number}.md", "title": title, "doi": f"10.1000/{title.lower().replace(' ', '-')}",
            "license_class": "open_commercial", "license_source": "CC BY 4.0",
        }  # fmt: skip
        lines.append(json.dumps(said))
    manifest = folder / "manifest.jsonl"
    manifest.write_text("\n".join(lines) + "\n")
    return manifest


@contextlib.contextmanager
def settled() -> Iterator[None]:
    """See that what the block began in threads of its own has ended before it is over."""
    try:
        yield
    finally:
        ledger.settle(20)
        connections.close_all()


def _counted(rules: dict[str, str]) -> list[str]:
    found = []
    with connection.cursor() as cursor:
        for rule, statement in rules.items():
            cursor.execute(statement.replace("%%", "%"))
            (count,) = cursor.fetchone()
            if count:
                found.append(f"{count} {rule}")
    return found


def _rows(*statements: str) -> list[Any]:
    found: list[Any] = []
    with connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)
            found.append(cursor.fetchall())
    return found
