"""A process of the site with a database of its own, told what to do in lines of JSON.

The tests kill workers and the database around it; asking it is asking the product.
"""

from __future__ import annotations

import hashlib
import json
import sys
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from uuid import UUID

import django

django.setup()

from django.db import Error, connection, connections  # noqa: E402

from answers import engine  # noqa: E402
from corpus import bells, enqueueing  # noqa: E402
from corpus.actions import deletion, runs  # noqa: E402
from corpus.fingerprint import fingerprint  # noqa: E402
from corpus.inputs import from_paths  # noqa: E402
from corpus.jobs import Kind  # noqa: E402
from corpus.models import Document, IngestionRun, Job  # noqa: E402
from corpus.scope import RetrievalScope  # noqa: E402
from tests.reliability.faults.flows import Ask  # noqa: E402
from tests.reliability.invariants import broken  # noqa: E402


def enqueue(folder: str) -> str:
    """Hand the files of a folder to the workers."""
    return str(enqueueing.enqueue(from_paths([Path(folder)]), by=None).pk)


def status(run: str) -> dict[str, Any]:
    """Say how far a run is, and how many attempts have been begun in all."""
    found = IngestionRun.objects.get(pk=run)
    return {
        "state": found.state,
        "outcomes": Counter(found.items.values_list("outcome", flat=True)),
        "reasons": Counter(found.items.exclude(reason="").values_list("reason", flat=True)),
        "jobs": found.jobs.count(),
        "attempts": sum(found.jobs.values_list("attempt", flat=True)),
        "most_attempts": max(found.jobs.values_list("attempt", flat=True), default=0),
    }


def retry(run: str) -> int:
    """Queue again what failed."""
    return runs.retry(run=IngestionRun.objects.get(pk=run), by=None)


def ring(run: str, times: int) -> None:
    """Deliver a message for every job of a run, again and again."""
    jobs = list(Job.objects.filter(run=run).values_list("pk", "kind"))
    for _ in range(times):
        for job, kind in jobs:
            bells.ring(Kind(kind), [UUID(str(job))])


def digest() -> str:
    """Hash what the corpus holds: the fingerprint, every passage and every vector."""
    with connection.cursor() as cursor:
        cursor.execute(
            """
            SELECT document.content_sha256, chunk.ordinal, chunk.content, embedding.vector::text
            FROM corpus_document document
            JOIN corpus_chunk chunk ON chunk.document_id = document.id
            LEFT JOIN corpus_chunkembedding embedding ON embedding.chunk_id = chunk.id
            ORDER BY 1, 2
            """
        )
        rows = cursor.fetchall()
    whole = json.dumps([fingerprint(RetrievalScope()), rows])
    return hashlib.sha256(whole.encode()).hexdigest()


def asking(stop: str, askers: int) -> list[tuple[float, str]]:
    """Ask without pause, side by side, until the file `stop` is there; say when each ended, and how."""
    ended: list[tuple[float, str]] = []

    def ask(number: int) -> None:
        while not Path(stop).exists():
            question = f"For how many days was straw stored in lot {number}?"
            try:
                answer = engine.answer(
                    question=question, requested=RetrievalScope(), by=None, engine="extractive"
                )
                how = f"{answer.state} {answer.finish}" + (" degraded" if answer.degraded else "")
            except Error as error:
                how = f"refused {type(error).__name__}"
                time.sleep(0.1)
            finally:
                connections.close_all()
            ended.append((time.time(), how))

    with ThreadPoolExecutor(askers) as pool:
        list(pool.map(ask, range(askers)))
    return ended


def wrong_answers() -> list[str]:
    """Name what is wrong with the answers that are stored, after the clock closed those left behind."""
    return Ask().troubles()


def empty() -> None:
    """Delete every document and every record of a run."""
    for identifier in Document.objects.values_list("pk", flat=True):
        deletion.delete(document_id=identifier)
    IngestionRun.objects.all().delete()


COMMANDS: dict[str, Callable[..., Any]] = {
    function.__name__: function
    for function in (enqueue, status, retry, ring, digest, broken, asking, wrong_answers, empty)
}


def answer(name: str, arguments: list[Any]) -> Any:
    """Run a command; a database that is away for a moment is waited for."""
    for _ in range(60):
        try:
            return COMMANDS[name](*arguments)
        except Error:
            connections.close_all()
            time.sleep(0.5)
    return COMMANDS[name](*arguments)


def main() -> None:
    """Answer until there are no more questions."""
    for line in sys.stdin:
        request = json.loads(line)
        print(json.dumps(answer(request["do"], request["with"]), default=str), flush=True)  # noqa: T201
        connections.close_all()


if __name__ == "__main__":
    main()
