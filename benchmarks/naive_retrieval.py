"""The alternative that retrieval is measured against: how a first version would be written.

A fresh connection, every vector brought to Python, the question's raw text through
`websearch_to_tsquery` and `ts_rank`, one search after the other, float scores.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import psycopg
from django.db import connection

from corpus.egress import NOTHING_HELD
from corpus.gateways.embedding import configured_embedder

_POOL = 20
_WORDS = """
SELECT id FROM corpus_chunk, websearch_to_tsquery('english', %s) AS query
WHERE search_vector @@ query ORDER BY ts_rank(search_vector, query) DESC LIMIT 20
"""


@dataclass(frozen=True, slots=True)
class Naive:
    """What it returned, and how many passages its full-text search found."""

    chunk_ids: list[int]
    by_words: int


def retrieve(question: str, limit: int) -> Naive:
    """Return the best passages of the whole corpus; it knows no scope."""
    (query,) = configured_embedder().embed([question], task="query", carries=NOTHING_HELD)
    settings = connection.get_connection_params()
    known = ("host", "port", "dbname", "user", "password")
    with psycopg.connect(**{name: settings[name] for name in known if name in settings}) as fresh:
        rows = fresh.execute("SELECT chunk_id, vector::text FROM corpus_chunkembedding").fetchall()
        words = [key for (key,) in fresh.execute(_WORDS, [question]).fetchall()]
    matrix = np.array([np.fromstring(text[1:-1], sep=",") for _, text in rows])
    near = [rows[place][0] for place in np.argsort(-(matrix @ query))[:_POOL]]
    scores: dict[int, float] = {}
    for weight, keys in ((1.5, near), (1.0, words)):
        for rank, key in enumerate(keys, start=1):
            scores[key] = scores.get(key, 0.0) + weight / (60 + rank)
    return Naive(sorted(scores, key=lambda key: -scores[key])[:limit], len(words))
