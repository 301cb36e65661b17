"""The events of an answer, each with the JSON values every surface receives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from answers import withholding
from answers.citations import Citation, cited_numbers
from answers.events import AnswerEvent, EventName
from answers.findings import SentenceFinding
from answers.models import Answer
from answers.writers import Draft
from retrieval.types import Item, RetrievalResult


def started(answer: Answer) -> AnswerEvent:
    """Tell who is asked what, and under which scope."""
    data = {
        "answer": str(answer.pk),
        "question": answer.question,
        "searched_question": answer.searched,
        "conversation": str(answer.conversation_id) if answer.conversation_id else None,
        "profile": answer.profile,
        "engine": answer.engine,
        "model": answer.model,
        "scope": answer.effective_scope,
    }
    return AnswerEvent(EventName.RETRIEVAL_STARTED, data)


def standing_alone(answer: Answer) -> AnswerEvent:
    """Tell what will be searched for a follow-up, and who made it so: a model, the rule, or nobody."""
    data = {"searched_question": answer.searched, "by": answer.rewriting.get("by", "")}
    return AnswerEvent(EventName.STANDALONE_QUESTION, data)


def retrieved(answer: Answer, result: RetrievalResult, items: Sequence[Item]) -> AnswerEvent:
    """Tell what was found: the numbered sources, and the whole retrieval as the other surfaces report it."""
    data = {
        "traces": answer.traces,
        "degraded": answer.degraded,
        "eligible": {"documents": answer.eligible_documents, "passages": answer.eligible_passages},
        "fingerprint": answer.fingerprint,
        "sources": [_source(number, item) for number, item in enumerate(items, 1)],
        "retrieval": result.as_dict(),
    }
    return AnswerEvent(EventName.RETRIEVAL_DONE, data)


def condensed(record: dict[str, Any]) -> AnswerEvent:
    """Tell what became of each source before the model reads it, and the prompt's tokens before and after."""
    return AnswerEvent(EventName.COMPRESSION_DONE, record)


def writing(draft: Draft) -> AnswerEvent:
    """Tell who writes, and which sources the model may not read, for their licence."""
    data = {
        "engine": draft.engine,
        "model": draft.model,
        "withheld": list(withholding.withheld(draft.parameters)),
    }
    return AnswerEvent(EventName.GENERATION_STARTED, data)


def checks(found: Sequence[Citation], noticed: Sequence[SentenceFinding]) -> AnswerEvent:
    """Tell where the text cites what, and what the check of its sentences noticed."""
    data = {
        "cited": list(cited_numbers(found)),
        "citations": [asdict(citation) for citation in found],
        "findings": [{**asdict(finding), "kind": finding.kind.value} for finding in noticed],
    }
    return AnswerEvent(EventName.CITATIONS, data)


def done(answer: Answer) -> AnswerEvent:
    """Tell how it ended."""
    data = {
        **_state(answer),
        "answered": answer.finish == Answer.Finish.STOP,
        "tokens": {"prompt": answer.prompt_tokens, "completion": answer.completion_tokens},
        "timings": answer.timings,
    }
    return AnswerEvent(EventName.DONE, data)


def error(answer: Answer, code: str, message: str, *, offer: str | None = None) -> AnswerEvent:
    """Tell what broke, whether part of the text is kept, and which other engine could answer instead."""
    data = {
        **_state(answer),
        "code": code,
        "message": message,
        "partial": bool(answer.text),
        "offer": offer if offer != answer.engine else None,
    }
    return AnswerEvent(EventName.ERROR, data)


def _state(answer: Answer) -> dict[str, Any]:
    return {"answer": str(answer.pk), "state": str(answer.state), "finish": str(answer.finish)}


def _source(number: int, item: Item) -> dict[str, Any]:
    return {
        "number": number,
        "id": item.id,
        "document_id": item.document_id,
        "title": item.title,
        "citation": item.citation,
        "doi": item.doi,
        "locator": item.locator,
        "section_path": list(item.section_path),
        "page_start": item.page_start,
        "page_end": item.page_end,
        "license_class": item.license_class,
        "content_sha256": item.content_sha256,
        "badges": list(item.badges),
        "other_versions": [
            {"id": other.id, "document_id": other.document_id, "line": other.line, "reason": other.reason}
            for other in item.other_versions
        ],
    }
