"""The states of an answer, each stored in one short transaction. No model or provider is called here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING

from django.db import transaction
from django.utils import timezone

from answers import other_versions
from answers.models import Answer, AnswerSource, Finding

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from answers.findings import SentenceFinding
    from answers.writers import Draft
    from corpus.gateways.llm import Usage
    from corpus.scope import RetrievalScope
    from retrieval.types import Item, RetrievalResult

# Retrieval and writing have their own deadlines well below this; a row older than it has lost its process.
ABANDONED_AFTER = timedelta(minutes=5)
_RUNNING = (Answer.State.ASKED, Answer.State.RETRIEVED, Answer.State.GENERATING)


def begin(
    *,
    question: str,
    requested: RetrievalScope,
    effective: RetrievalScope,
    by: User | None,
    profile: str,
    engine: str,
    model: str,
    instead_of: Answer | None,
) -> Answer:
    """Store the question before anything is done about it."""
    return Answer.objects.create(
        asked_by=by,
        question=question,
        requested_scope=requested.as_dict(),
        effective_scope=effective.as_dict(),
        scope_digest=effective.digest(),
        profile=profile,
        engine=engine,
        model=model,
        instead_of=instead_of,
    )


@transaction.atomic
def record_retrieval(*, answer: Answer, result: RetrievalResult, items: Sequence[Item]) -> None:
    """Store the evidence: the numbered sources with their rights and status as they are now."""
    answer.state = Answer.State.RETRIEVED
    answer.embedding_version = result.embedding_version
    answer.fingerprint = result.fingerprint
    answer.eligible_documents = result.eligible.documents
    answer.eligible_passages = result.eligible.passages
    answer.traces = [
        *(trace.as_dict() for trace in result.traces),
        *other_versions.trace(items, result),
    ]
    answer.degraded = list(result.degraded)
    answer.save()
    AnswerSource.objects.bulk_create(
        AnswerSource(
            answer=answer,
            number=number,
            chunk_id=item.chunk_pk,
            document_id=item.document_id,
            title=item.title,
            citation=item.citation,
            doi=item.doi,
            section_path=list(item.section_path),
            locator=item.locator,
            page_start=item.page_start,
            page_end=item.page_end,
            license_class=item.license_class,
            bucket=item.bucket,
            badges=list(item.badges),
            content_sha256=item.content_sha256,
            score=item.score,
            ranks=dict(item.ranks),
        )
        for number, item in enumerate(items, 1)
    )


def record_writing(*, answer: Answer, draft: Draft) -> None:
    """Store who is about to write, and with which prompt."""
    answer.state = Answer.State.GENERATING
    answer.model = draft.model
    answer.model_parameters = draft.parameters
    answer.prompt_sha256 = draft.prompt_sha256
    answer.save(update_fields=["state", "model", "model_parameters", "prompt_sha256"])


def record_progress(*, answer: Answer, text: str) -> None:
    """Keep what has been written so far, should the process die."""
    Answer.objects.filter(pk=answer.pk, state=Answer.State.GENERATING).update(text=text)


@dataclass(frozen=True, slots=True)
class Ending:
    """How an answer ended, whole or not."""

    state: Answer.State
    finish: Answer.Finish
    text: str
    cited: Sequence[int] = ()
    findings: Sequence[SentenceFinding] = ()
    timings: dict[str, float] = field(default_factory=dict)
    usage: Usage | None = None
    error: str = ""


@transaction.atomic
def end(*, answer: Answer, ending: Ending) -> None:
    """Store the final text with its citations and findings."""
    answer.state, answer.finish = ending.state, ending.finish
    answer.text, answer.error, answer.timings = ending.text, ending.error, ending.timings
    answer.finished_at = timezone.now()
    if ending.usage is not None:
        answer.prompt_tokens = ending.usage.prompt_tokens
        answer.completion_tokens = ending.usage.completion_tokens
        answer.cost_usd = None if ending.usage.cost_usd is None else Decimal(str(ending.usage.cost_usd))
    answer.save()
    if ending.cited:
        answer.sources.filter(number__in=ending.cited).update(is_cited=True)
    Finding.objects.bulk_create(
        Finding(
            answer=answer,
            sentence=finding.sentence,
            start=finding.start,
            end=finding.end,
            kind=finding.kind.value,
            numbers=list(finding.numbers),
            detail=finding.detail,
        )
        for finding in ending.findings
    )


def close_abandoned(now: datetime) -> int:
    """End the answers whose process is gone; return how many. What they had written is kept."""
    stuck = Answer.objects.filter(state__in=_RUNNING, created_at__lt=now - ABANDONED_AFTER)
    ended = {"finish": Answer.Finish.ABANDONED, "finished_at": now, "error": "abandoned"}
    partial = stuck.exclude(text="").update(state=Answer.State.PARTIAL, **ended)
    return partial + stuck.filter(text="").update(state=Answer.State.FAILED, **ended)
