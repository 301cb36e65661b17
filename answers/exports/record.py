"""The provenance record of an answer: how it came about, with its sources as they were.

It is made of a `ReadableAnswer`, so that every source was held against the reader's ceiling of this
moment. One that is withdrawn or out of reach is a number without a title.
"""

from __future__ import annotations

import hashlib
from typing import Any

from answers import condensing, differing, wording
from answers.models import Answer
from answers.reading import ReadableAnswer, ReadableSource

FORMAT = "sci-rag answer, version 1"


def record(shown: ReadableAnswer) -> dict[str, Any]:
    """Return everything that is kept of an answer, as JSON values."""
    answer = shown.answer
    return {
        "format": FORMAT,
        "id": str(answer.pk),
        "conversation": str(answer.conversation_id) if answer.conversation_id else None,
        "follows": str(answer.follows_id) if answer.follows_id else None,
        "instead_of": str(answer.instead_of_id) if answer.instead_of_id else None,
        "question": answer.question,
        "searched_question": answer.searched,
        "rewriting": answer.rewriting,
        "asked_by": answer.asked_by.get_username() if answer.asked_by else None,
        "asked_at": answer.created_at.isoformat(),
        "finished_at": answer.finished_at.isoformat() if answer.finished_at else None,
        "state": str(answer.state),
        "finish": str(answer.finish),
        "answered": shown.answered,
        "error": answer.error,
        "text": None if shown.text_withheld else shown.text,
        "text_withheld": shown.text_withheld,
        "text_sha256": None if shown.text_withheld else hashlib.sha256(shown.text.encode()).hexdigest(),
        **_making(shown),
        "sources": [source_record(source) for source in shown.sources],
        "differences": [difference.as_dict() for difference in differing.differences(shown)],
        "findings": [
            {
                "sentence": finding.sentence,
                "start": finding.start,
                "end": finding.end,
                "kind": finding.kind,
                "numbers": list(finding.numbers),
                "detail": finding.detail,
            }
            for finding in shown.findings
        ],
    }


def _making(shown: ReadableAnswer) -> dict[str, Any]:
    """Return how the answer was made: everything somebody needs who wants to repeat it."""
    answer = shown.answer
    return {
        "requested_scope": answer.requested_scope,
        "effective_scope": answer.effective_scope,
        "scope_digest": answer.scope_digest,
        "eligible": {"documents": answer.eligible_documents, "passages": answer.eligible_passages},
        "profile": answer.profile,
        "engine": answer.engine,
        "model": answer.model,
        "model_parameters": shared_parameters(answer),
        "prompt_sha256": answer.prompt_sha256,
        "embedding_version": answer.embedding_version,
        "fingerprint": answer.fingerprint,
        "traces": answer.traces,
        "degraded": answer.degraded,
        "timings_ms": answer.timings,
        "tokens": {"prompt": answer.prompt_tokens, "completion": answer.completion_tokens},
        "cost_usd": None if answer.cost_usd is None else str(answer.cost_usd),
        "methods": wording.searched(answer).methods,
    }


def shared_parameters(answer: Answer) -> dict[str, Any]:
    """Return how it was written. What was done with one source stands with the source, where it is seen."""
    parameters = dict(answer.model_parameters)
    if condensing.RECORD in parameters:
        condensed = {
            name: value for name, value in parameters[condensing.RECORD].items() if name != "sources"
        }
        parameters[condensing.RECORD] = condensed
    return parameters


def source_record(source: ReadableSource) -> dict[str, Any]:
    """Return one numbered source as it was, and what has happened to it since."""
    if not source.available:
        return {"number": source.number, "cited": source.cited, "available": False}
    return {
        "number": source.number,
        "cited": source.cited,
        "available": True,
        "document": source.document_id,
        "passage": source.passage_id or None,
        "title": source.title,
        "authors": list(source.authors),
        "year": source.year,
        "journal": source.journal,
        "citation": source.citation,
        "doi": source.doi,
        "url": source.url,
        "section_path": list(source.section_path),
        "locator": source.locator,
        "page_start": source.page_start,
        "page_end": source.page_end,
        "license_class": source.license_class,
        "license_class_now": source.license_now,
        "no_derivatives": source.no_derivatives,
        "bucket": source.bucket,
        "status": list(source.badges),
        "changed_since": [mark.value for mark in source.drift],
        "content_sha256": source.content_sha256,
        "score": source.score,
        "ranks": dict(source.ranks),
        "set_aside": source.set_aside,
    }
