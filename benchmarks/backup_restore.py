"""Back a corpus up, lose it, restore it: `python -m benchmarks.backup_restore [--fast] [--passages N]`.

20,000 passages (2,000 with --fast) of 400 documents with originals of 40 kB, and vectors of 384 dimensions. A
directory of its own is backed up and another, empty one restored from the file, both by the command. Gates:
everything is equal, as the restore compares it; both together take less than three minutes.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

from benchmarks import database

PER_DOCUMENT = 50
DIMENSIONS = 384
MOST_SECONDS = 180.0
ORIGINAL = 40_000


def fill(passages: int) -> None:
    """Store documents with passages, vectors and originals, every second one public."""
    import hashlib

    import numpy
    from django.db import transaction

    from benchmarks.reindex_live import QUESTIONS, body
    from corpus import storage, vectors
    from corpus.gateways.embedding import configured_embedder
    from corpus.identity import body_sha256, rank_key
    from corpus.models import Chunk, Document
    from corpus.search_text import search_form
    from evaluation.ground_truth.models import Question, QuestionSet

    version = vectors.ensure_version(configured_embedder())
    random = numpy.random.default_rng(7)
    questions = QuestionSet.objects.create(name="drill")
    Question.objects.bulk_create(
        Question(
            question_set=questions, key=f"q{number}", question=text, reference_answer="It did.",
            content_sha256=hashlib.sha256(text.encode()).hexdigest(),
        )
        for number, text in enumerate(QUESTIONS)
    )  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        for number in range(passages // PER_DOCUMENT):
            original = Path(folder, "original.txt")
            original.write_bytes(f"Trial {number}\n".encode() * (ORIGINAL // 10))
            sha256 = storage.hash_file(original)
            storage.store(original, sha256)
            digest = hashlib.sha256(f"trial {number}".encode()).hexdigest()
            bodies = [body(number * PER_DOCUMENT + place) * 6 for place in range(PER_DOCUMENT)]
            rows = random.normal(size=(PER_DOCUMENT, DIMENSIONS)).astype(numpy.float32)
            rows /= numpy.linalg.norm(rows, axis=1, keepdims=True)
            with transaction.atomic():
                document = Document.objects.create(
                    title=f"Trial {number}", content_sha256=digest, file_sha256=sha256, state="ready",
                    file_name=f"{number}.txt", media_type="text/plain", parser="benchmark", year=2020,
                    chunk_count=PER_DOCUMENT, license_class="public" if number % 2 == 0 else "restricted",
                )  # fmt: skip
                chunks = Chunk.objects.bulk_create(
                    Chunk(
                        document=document, ordinal=place, body=text, content=text, token_count=72,
                        content_sha256=body_sha256(text), rank_key=rank_key(digest, place),
                        search_heading=search_form(document.title), search_body=search_form(text),
                    )
                    for place, text in enumerate(bodies)
                )  # fmt: skip
                vectors.store(version=version, chunks=chunks, vectors=rows)


def command(place: Path, *words: str) -> tuple[float, Any]:
    """Run `sci-rag` on the site below `place`; return how long it took and what it printed."""
    started = perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", "sci_rag_site", *words, "--json"],
        check=True, capture_output=True, text=True,
        env={**os.environ, "SCI_RAG_VAR_DIR": str(place), "DATABASE_URL": ""},
    )  # fmt: skip
    return perf_counter() - started, json.loads(done.stdout)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run, print and gate."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--fast", action="store_true")
    options.add_argument("--passages", type=int)
    given = options.parse_args(arguments)
    passages = given.passages or (2_000 if given.fast else 20_000)
    folder = Path(tempfile.mkdtemp(prefix="sci-rag-bench-"))
    folder.chmod(0o755)
    try:
        return _measured(folder, passages)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _measured(folder: Path, passages: int) -> int:
    for name in ("before", "after"):
        (folder / name).mkdir()
    database.start(folder / "before")
    from django.conf import settings
    from django.db import connection

    fill(passages)
    connection.close()
    connection.close_pool()  # type: ignore[attr-defined]
    settings.EMBEDDED_POSTGRES.release()
    backing, made = command(folder / "before", "backup", str(folder / "kept"))
    verifying, _ = command(folder / "before", "backup", "verify", str(folder / "kept"))
    shutil.rmtree(folder / "before")
    restoring, restored = command(folder / "after", "restore", str(folder / "kept"))
    print(f"{passages:,} passages, {restored['rows']:,} rows of {restored['tables']} tables")
    print(f"backup:  {backing:6.1f} s, {made['size'] / 1e6:,.0f} MB, {made['originals']} originals")
    print(f"verify:  {verifying:6.1f} s")
    print(f"restore: {restoring:6.1f} s, {restored['questions']} stored questions asked again")
    gates = {
        "fingerprints that differ": int(made["fingerprint"] != restored["fingerprint"]),
        "passages that are missing": made["passages"] - restored["passages"],
        "questions that were not compared": int(restored["questions"] != made["questions"]),
        "seconds over three minutes": max(0, round(backing + restoring - MOST_SECONDS)),
    }
    for name, count in gates.items():
        print(f"{name}: {count}")
    return 1 if any(gates.values()) or restored["passages"] != passages else 0


if __name__ == "__main__":
    sys.exit(main())
