"""Test collections with judgements, read from the shared data folder and put into a corpus."""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from corpus.egress import NOTHING_HELD
from corpus.gateways.embedding import Embedder
from corpus.identity import body_sha256, rank_key
from corpus.models import Chunk, Document
from corpus.search_text import search_form
from corpus.vectors import ensure_version, store

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data" / "benchmarks"
NAMES = ("adi", "cacm", "cisi", "cranfield", "pubmedqa_pqal", "scifact")


@dataclass(frozen=True, slots=True)
class Collection:
    """Documents as (id, title, text), questions by id, and judged gains by question and document."""

    name: str
    documents: list[tuple[str, str, str]]
    questions: dict[str, str]
    judged: dict[str, dict[str, int]]


def read(name: str) -> Collection:
    """Read one collection; raise `FileNotFoundError` where the shared folder is absent."""
    folder = SHARED / name
    judged: dict[str, dict[str, int]] = {}
    with gzip.open(folder / "qrels.tsv.gz", "rt", encoding="utf-8") as rows:
        next(rows)
        for row in rows:
            question, document, gain = row.split()
            judged.setdefault(question, {})[document] = int(gain)
    documents = {row["_id"]: row for row in _lines(folder / "documents.jsonl.gz")}
    return Collection(
        name,
        [(number, row.get("title", ""), row["text"]) for number, row in documents.items()],
        {row["_id"]: row["text"] for row in _lines(folder / "queries.jsonl.gz") if row["_id"] in judged},
        judged,
    )


def baseline(name: str) -> float:
    """Return the nDCG@10 of a reference BM25 on exactly these questions."""
    table = json.loads((SHARED / "bm25_baselines_this_split.json").read_text(encoding="utf-8"))
    return float(table[name]["bm25_k1.2_b.75"]["ndcg10"])


def load(collection: Collection, *, embedder: Embedder | None) -> dict[int, str]:
    """Store every document as one passage; return the collection's id by the passage's key."""
    documents, chunks = [], []
    for name, title, text in collection.documents:
        digest = hashlib.sha256(f"{collection.name}/{name}".encode()).hexdigest()
        document = Document(
            title=title or name, content_sha256=digest, file_sha256=digest, file_name=name,
            media_type="text/plain", parser="benchmark", chunk_count=1, state=Document.State.READY,
            bucket=collection.name,
        )  # fmt: skip
        documents.append(document)
        chunks.append(
            Chunk(
                document=document, ordinal=0, body=text, content=f"{title}\n\n{text}".strip(), token_count=1,
                content_sha256=body_sha256(text), rank_key=rank_key(digest, 0),
                search_heading=search_form(title), search_body=search_form(text),
            )
        )  # fmt: skip
    Document.objects.bulk_create(documents, batch_size=500)
    Chunk.objects.bulk_create(chunks, batch_size=500)
    if embedder is not None:
        _embed(chunks, embedder)
    return {chunk.pk: name for chunk, (name, _, _) in zip(chunks, collection.documents, strict=True)}


def _embed(chunks: Sequence[Chunk], embedder: Embedder) -> None:
    version = ensure_version(embedder)
    for start in range(0, len(chunks), 256):
        some = chunks[start : start + 256]
        store(
            version=version,
            chunks=some,
            vectors=embedder.embed([chunk.content for chunk in some], task="document", carries=NOTHING_HELD),
        )


def _lines(path: Path) -> Iterator[dict[str, str]]:
    with gzip.open(path, "rt", encoding="utf-8") as rows:
        yield from map(json.loads, rows)
