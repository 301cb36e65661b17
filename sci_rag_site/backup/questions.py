"""Questions that are stored with the corpus, and what search finds for them: asked again after a restore.

Nothing is asked of a model that runs elsewhere: words are searched, and vectors where those are made here.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any, Final
from uuid import UUID

from answers.models import Answer
from corpus import vectors
from corpus.gateways.embedding.minilm import MODEL
from corpus.scope import RetrievalScope
from evaluation.ground_truth.models import Question
from retrieval.retriever import retrieve

MOST: Final = 50
_LIMIT: Final = 10


def asked() -> list[dict[str, str]]:
    """Ask what is stored; return for each question where it is and the hash of what was found, in order.

    Questions of question sets come first; a corpus without any is asked what people asked last.
    """
    kept = Question.objects.filter(retired_at__isnull=True).order_by("question_set__name", "key", "pk")
    found = [("question", row.pk, row.question) for row in kept[:MOST]]
    if not found:
        last = Answer.objects.order_by("-created_at", "pk")[:MOST]
        found = [("answer", row.pk, row.question) for row in last]
    return [{"kind": kind, "id": str(key), "found": _found(text)} for kind, key, text in found]


def differing(stored: Iterable[dict[str, Any]]) -> list[str]:
    """Ask again what is `stored`; return the ids of those for which something else is found now."""
    return [one["id"] for one in stored if not _is_equal(one)]


def _is_equal(one: dict[str, Any]) -> bool:
    rows = (Question if one["kind"] == "question" else Answer).objects.filter(pk=UUID(one["id"]))
    text = rows.values_list("question", flat=True).first()
    return text is not None and _found(text) == one["found"]


def _found(question: str) -> str:
    version = vectors.active_version()
    here = version is not None and version.name.partition("@")[0] == MODEL
    result = retrieve(
        question=question, scope=RetrievalScope(), limit=_LIMIT, switches={"vector": here}, reranker="none"
    )
    lines = [f"{item.id} {item.document_id}" for item in result.items]
    return hashlib.sha256("\n".join([*lines, *result.degraded]).encode()).hexdigest()
