"""Condense the numbered sources before a model reads them; off unless the domain profile says so.

One request to the fast model for each passage, so that no document can speak for another, side by side
and under one deadline: what is not there by then is kept whole. No connection to the database is held
meanwhile. A summary is seen by the writing model alone: it is not stored, shown or quoted, and citations
and findings are held against the passage itself.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextvars import copy_context
from dataclasses import dataclass

import structlog

from answers import condensing
from answers.condensing import Condensed, Outcome, Verdict
from answers.models import MODEL
from corpus import connections
from corpus.domain_profile import CompressionProfile, active_profile
from corpus.egress import classes_of
from corpus.gateways.llm import ChatModel, ModelError, Usage, complete, fast_model, warm_up
from corpus.normalise import visible
from corpus.prompt_files import PromptFile, prompt_file, quoted
from corpus.usage.purposes import Purpose
from retrieval.types import Item

logger = structlog.get_logger(__name__)

_LONGEST_PASSAGE = 12_000
_LONGEST_TITLE = 300
# Requests at a time, of all answers of this process. One that hangs ends with its own timeout.
_AT_ONCE = 8
_threads = ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="compress")

_Judged = tuple[Verdict, Usage]


@dataclass(frozen=True, slots=True)
class _Work:
    """What is the same for all passages of one answer."""

    question: str
    model: ChatModel
    prompt: PromptFile
    wanted: CompressionProfile

    def judged(self, item: Item) -> _Judged:
        """Ask the model about one passage; whatever goes wrong is a verdict that keeps it whole."""
        try:
            reply, usage = complete(
                self.model,
                **self._filled(item),
                purpose=Purpose.COMPRESSION,
                carries=classes_of([item.license_class]),
                timeout=self.wanted.seconds,
            )
            return condensing.verdict(reply, body=item.body, floor=self.wanted.floor), usage
        except ModelError as failure:
            return Verdict(Outcome(failure.code)), Usage()
        except Exception as error:  # noqa: BLE001 the border of one passage: the answer goes on without it
            # The class alone: what an error says may hold words of the passage.
            logger.error("compression.failed", error=type(error).__name__)  # noqa: TRY400
            return Verdict(Outcome.BROKEN), Usage()

    def _filled(self, item: Item) -> dict[str, str]:
        system, user = self.prompt.fill(
            {
                "nonce": secrets.token_hex(16),
                "title": " ".join(quoted(item.title, longest=_LONGEST_TITLE).split()),
                "passage": quoted(item.body, longest=_LONGEST_PASSAGE),
                "question": visible(self.question),
            }
        )
        return {"system": system, "user": user}


def compress(
    *, question: str, items: Sequence[Item], profile: str, engine: str, asked: bool | None = None
) -> Condensed | None:
    """Return what the writing model reads of `items`; None where they are not condensed at all.

    `profile` is the one that retrieval ran, and the domain profile says whether it has passages condensed,
    unless whoever asks says it in `asked`. Takes no longer than the domain profile allows, whatever the fast
    model does.
    """
    wanted = active_profile().compression
    is_on = profile in wanted.profiles if asked is None else asked
    model = fast_model() if engine == MODEL and is_on else None
    if model is None:
        return None
    work = _Work(question, model, prompt_file("compress"), wanted)
    judged = _all_judged(work, items)
    logger.info("compression.done", sources=len(items), model=model.name)
    return Condensed(
        verdicts=condensing.settled([verdict for verdict, _ in judged]),
        model=model.name,
        prompt_sha256=work.prompt.sha256,
        floor=wanted.floor,
        prompt_tokens=sum(usage.prompt_tokens or 0 for _, usage in judged),
        completion_tokens=sum(usage.completion_tokens or 0 for _, usage in judged),
    )


def _all_judged(work: _Work, items: Sequence[Item]) -> list[_Judged]:
    connections.release()
    # What the client's library takes to load the first time is not the model's doing.
    warm_up()
    kept = [condensing.kept_from(body=item.body, no_derivatives=item.no_derivatives) for item in items]
    asked = {
        # Each in a copy of the context, so that it is charged to whoever asks.
        index: _threads.submit(copy_context().run, work.judged, item)
        for index, item in enumerate(items)
        if kept[index] is None
    }
    wait(asked.values(), timeout=work.wanted.seconds)
    return [
        (verdict, Usage()) if verdict is not None else _in_time(asked[index])
        for index, verdict in enumerate(kept)
    ]


def _in_time(asked: Future[_Judged]) -> _Judged:
    """Return the verdict when it is there; one that is not is not waited for any longer."""
    if asked.done():
        return asked.result()
    asked.cancel()
    return Verdict(Outcome.TIMEOUT), Usage()
