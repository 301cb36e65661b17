"""The states of an answer, each stored in one short transaction. No model or provider is called here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from django.db import transaction
from django.utils import timezone

from answers import citations, evidence, other_versions, processes, standing_alone
from answers import findings as checks
from answers.actions.conversations import conversation_of
from answers.models import Answer, AnswerSource, Finding
from answers.turns import Turn
from corpus.audit.recording import Kind, record

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from answers.findings import SentenceFinding
    from answers.standing_alone import Standalone
    from answers.writers import Draft
    from corpus.gateways.llm import Usage
    from corpus.scope import RetrievalScope
    from retrieval.types import Item, RetrievalResult

# Retrieval and writing have their own deadlines well below this; a row older than it has lost its process.
ABANDONED_AFTER = timedelta(minutes=5)
_RUNNING = (Answer.State.ASKED, Answer.State.RETRIEVED, Answer.State.GENERATING)


@transaction.atomic
def begin(
    *,
    question: str,
    requested: RetrievalScope,
    effective: RetrievalScope,
    by: User | None,
    profile: str,
    engine: str,
    model: str,
    turn: Turn,
) -> Answer:
    """Store the question, in its conversation, before anything is done about it."""
    answer = Answer.objects.create(
        asked_by=by,
        conversation=conversation_of(turn, by=by),
        follows=turn.follows,
        process=processes.mine(),
        question=question,
        requested_scope=requested.as_dict(),
        effective_scope=effective.as_dict(),
        scope_digest=effective.digest(),
        profile=profile,
        engine=engine,
        model=model,
        instead_of=turn.instead_of,
    )
    if not effective.exclude_retracted:
        record(
            Kind.OVERRIDDEN, by=by, about={"what": "retracted work in an answer", "answer": str(answer.pk)}
        )
    if turn.instead_of is not None:
        _search_as(answer, turn.instead_of.searched_question, turn.instead_of.rewriting)
    elif turn.searched:
        record_standalone(answer=answer, made=standing_alone.made_by_the_asker(turn.searched))
    return answer


def record_standalone(*, answer: Answer, made: Standalone) -> None:
    """Store what is searched instead of what was typed, and how it came about."""
    _search_as(answer, "" if made.question == answer.question else made.question, made.record)


def _search_as(answer: Answer, question: str, rewriting: dict[str, Any]) -> None:
    answer.searched_question, answer.rewriting = question, rewriting
    answer.save(update_fields=["searched_question", "rewriting"])


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
    # An answer deleted meanwhile must not come back.
    answer.save(force_update=True)
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
    # Not always the one that was asked for: a model that may read no source writes nothing.
    answer.engine = draft.engine
    answer.model = draft.model
    answer.model_parameters = draft.parameters
    answer.prompt_sha256 = draft.prompt_sha256
    answer.save(update_fields=["state", "engine", "model", "model_parameters", "prompt_sha256"])


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


# What is known of an answer only when it has ended; the rest was stored on the way.
_ENDED = (
    "state", "finish", "text", "error", "timings", "finished_at", "model_parameters",
    "prompt_tokens", "completion_tokens", "cost_usd",
)  # fmt: skip


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
    ended = {name: getattr(answer, name) for name in _ENDED}
    if Answer.objects.filter(pk=answer.pk, finish="").update(**ended):
        _record_checks(answer, ending.cited, ending.findings)
    else:
        # Somebody else ended it, taking its process for gone. One that was deleted does not come back.
        answer.save(force_update=True)
        _record_checks_again(answer, ending.cited, ending.findings)


def _record_checks_again(answer: Answer, cited: Sequence[int], findings: Sequence[SentenceFinding]) -> None:
    """Store what the check of the text found, in place of what an earlier ending stored."""
    answer.findings.all().delete()
    answer.sources.filter(is_cited=True).update(is_cited=False)
    _record_checks(answer, cited, findings)


def _record_checks(answer: Answer, cited: Sequence[int], findings: Sequence[SentenceFinding]) -> None:
    """Store what the check of the text found."""
    if cited:
        answer.sources.filter(number__in=cited).update(is_cited=True)
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
        for finding in findings
    )


def close_abandoned(now: datetime) -> int:
    """End the answers whose process is gone; return how many. What they had written is kept, and checked.

    A process that died is known by its lock at once, wherever the locks are shared; otherwise the clock
    decides.
    """
    processes.forget_old()
    running = Answer.objects.filter(state__in=_RUNNING).order_by("created_at", "id")
    return sum(close_if_abandoned(answer, now=now) for answer in running.only("pk", "process", "created_at"))


def close_if_abandoned(answer: Answer, *, now: datetime) -> bool:
    """End `answer` when it was being written by a process that is gone; say whether it was."""
    if answer.created_at >= now - ABANDONED_AFTER and not processes.is_gone(answer.process):
        return False
    with transaction.atomic():
        row = Answer.objects.select_for_update(of=("self",)).filter(pk=answer.pk, state__in=_RUNNING).first()
        if row is None:
            return False
        row.state = Answer.State.PARTIAL if row.text else Answer.State.FAILED
        row.finish, row.error, row.finished_at = Answer.Finish.ABANDONED, "abandoned", now
        row.save(update_fields=["state", "finish", "error", "finished_at"])
        _check_what_is_kept(row)
    return True


def _check_what_is_kept(answer: Answer) -> None:
    """Resolve the citations of a text that was broken off, from the passages as they are now."""
    rows = list(answer.sources.select_related("chunk").order_by("number"))
    if not answer.text or not rows:
        return
    sources = [evidence.stored_for_checking(row) for row in rows]
    found = citations.find(answer.text, [source.body for source in sources])
    _record_checks_again(answer, citations.cited_numbers(found), checks.check(answer.text, sources))
