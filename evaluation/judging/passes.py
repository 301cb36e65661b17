"""The two passes of a judge over one answer. A reply is graded or named as a failure, nothing between."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import structlog

from corpus.connections import release
from corpus.egress import Classes, classes_of
from corpus.gateways.llm import ChatModel, ModelError, Usage, complete
from corpus.usage.purposes import Purpose
from evaluation.judging import prompts, rubric
from evaluation.judging.prompts import Asked, Source
from evaluation.judging.rubric import MalformedReply

logger = structlog.get_logger(__name__)

# A judge writes one line. What takes longer hangs.
REPLY_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Reply:
    """What came of one request: grades by dimension, or the code of the failure."""

    grades: dict[str, int] = field(default_factory=dict)
    clamped: tuple[str, ...] = ()
    error_code: str = ""
    prompt_sha256: str = ""
    usage: Usage = field(default_factory=Usage)
    milliseconds: float = 0.0


def grounding(*, judge: ChatModel, question: str, answer: str, sources: Sequence[Source]) -> Reply:
    """Have an answer held against its sources."""
    asked = prompts.grounding(question=question, answer=answer, sources=sources)
    carries = classes_of(source.license_class for source in sources)
    return _reply(judge, asked, rubric.GROUNDING, carries)


def correctness(*, judge: ChatModel, question: str, answer: str, reference: str, carries: Classes) -> Reply:
    """Have an answer held against the reference. `carries` are the classes of what the answer was made of."""
    asked = prompts.correctness(question=question, answer=answer, reference=reference)
    return _reply(judge, asked, rubric.CORRECTNESS, carries)


def _reply(judge: ChatModel, asked: Asked, dimensions: Sequence[str], carries: Classes) -> Reply:
    release()
    started, usage, code = time.monotonic(), Usage(), ""
    grades = rubric.Grades({})
    try:
        text, usage = complete(
            judge,
            system=asked.system,
            user=asked.user,
            purpose=Purpose.JUDGING,
            carries=carries,
            timeout=REPLY_SECONDS,
        )
        grades = rubric.read(text, dimensions)
    except (ModelError, MalformedReply) as failure:
        code = failure.code
    except Exception as error:  # noqa: BLE001 the border of one reply: the other questions go on
        # The class alone: what an error says may hold words of the prompt.
        logger.error("judge.failed", error=type(error).__name__)  # noqa: TRY400
        code = "internal_error"
    return Reply(
        grades=dict(grades.grades),
        clamped=grades.clamped,
        error_code=code,
        prompt_sha256=asked.sha256,
        usage=usage,
        milliseconds=round((time.monotonic() - started) * 1000, 1),
    )
