"""What is relevant to the questions of a run, and what a ranking of passages is worth by it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from corpus.models import Chunk
from corpus.scope import RetrievalScope
from evaluation.ground_truth.models import Question
from evaluation.metrics.ranking import measures
from evaluation.relevance import SHORTEST_PHRASE, normalise
from retrieval.types import Item

PASSAGE, DOCUMENT = "passage", "document"
LEVELS = (PASSAGE, DOCUMENT)


@dataclass(frozen=True, slots=True)
class Relevance:
    """What is relevant to one question: its reference documents, and passages that hold a phrase.

    `lost` counts reference documents that are not held: they exist and cannot be found.
    """

    documents: frozenset[str]
    lost: int
    phrases: tuple[str, ...]
    passages: frozenset[str]

    @property
    def has_phrases(self) -> bool:
        """Whether the level of passages applies to the question."""
        return bool(self.phrases)


def relevance_of(question: Question, scope: RetrievalScope) -> Relevance:
    """Return what is relevant to `question` among the passages that `scope` allows."""
    rows = list(question.evidence.all())
    held = {row.document_id for row in rows if row.document_id is not None}
    lost = {row.doi or row.title or row.document_sha256 for row in rows if row.document_id is None} - {""}
    phrases = tuple(
        needle for row in rows if row.phrase and len(needle := normalise(row.phrase)) >= SHORTEST_PHRASE
    )
    return Relevance(
        documents=frozenset(str(key) for key in held),
        lost=len(lost),
        phrases=phrases,
        passages=_passages(held, phrases, scope),
    )


def _passages(documents: Iterable[UUID], phrases: Sequence[str], scope: RetrievalScope) -> frozenset[str]:
    """Return the hashes of the eligible passages of `documents` that hold a phrase."""
    if not phrases:
        return frozenset()
    rows = Chunk.objects.within(scope).filter(document__in=list(documents))
    texts = rows.order_by("pk").values_list("content_sha256", "body")
    return frozenset(sha for sha, body in texts.iterator(chunk_size=500) if _holds(body, phrases))


def _holds(body: str, phrases: Sequence[str]) -> bool:
    text = normalise(body)
    return any(phrase in text for phrase in phrases)


def found(items: Sequence[Item], relevance: Relevance) -> list[dict[str, Any]]:
    """Return the ranking as it is kept: ids, hashes, ranks and relevance, none of the words."""
    return [
        {
            "passage": item.id,
            "sha256": item.content_sha256,
            "document": item.document_id,
            "also_in": [twin.document_id for twin in item.also_in],
            "ranks": item.ranks,
            "has_phrase": _holds(item.body, relevance.phrases),
            "reference": _reference(item, relevance),
        }
        for item in items
    ]


def _reference(item: Item, relevance: Relevance) -> str:
    """Return the reference document the passage stands in, itself or as the same words; empty for none."""
    places = [item.document_id, *(twin.document_id for twin in item.also_in)]
    return next((place for place in places if place in relevance.documents), "")


def pooled(relevance: Relevance, rankings: Iterable[Sequence[dict[str, Any]]]) -> frozenset[str]:
    """Return the relevant passages: those of the reference documents, and those any configuration found.

    All configurations are measured against the same ones, as test collections are made by pooling.
    """
    return relevance.passages | {row["sha256"] for rows in rankings for row in rows if row["has_phrase"]}


def measured(
    rows: Sequence[dict[str, Any]], *, passages: int | None, documents: int
) -> dict[str, dict[str, float] | None]:
    """Return every measure of a ranking on both levels; None for a level that does not apply.

    A document counts once, where its first passage stands.
    """
    by_document = {row["reference"] or row["document"]: bool(row["reference"]) for row in rows}
    return {
        PASSAGE: None if passages is None else measures([row["has_phrase"] for row in rows], passages),
        DOCUMENT: measures(list(by_document.values()), documents),
    }
