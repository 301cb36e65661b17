"""What a run of judged answers will come to. Nothing is searched for and nobody is asked: passages drawn from
the scope stand in for the sources that questions would find.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Value
from django.db.models.functions import MD5, Concat

from answers import prompting, writers
from answers.models import MODEL
from answers.prompting import NumberedSource
from corpus.domain_profile import active_profile
from corpus.gateways.llm import ChatModel, chat_model, fast_model
from corpus.models import Chunk
from corpus.prompt_files import prompt_file
from corpus.scope import RetrievalScope
from corpus.usage import estimating
from corpus.usage.estimating import Estimate, Line
from corpus.usage.purposes import USUAL_REPLY, Purpose
from evaluation.ground_truth.models import Question
from evaluation.judging import prompts
from evaluation.judging.prompts import Source
from retrieval import profiles

_QUESTIONS, _PASSAGES = 12, 120
# A quoted sentence or three, as far as the extractive engine writes.
_EXTRACTIVE_WORDS = 90
_JUDGED = "word "


@dataclass(frozen=True, slots=True)
class Asking:
    """What is asked, of what, and how: a run before it is one."""

    questions: Sequence[Question]
    scope: RetrievalScope
    engine: str
    profile: str
    limit: int
    compressed: bool | None
    judge: ChatModel


def estimate(asking: Asking) -> Estimate:
    """Return the calls of a run to come."""
    drawn = list(
        Chunk.objects.within(asking.scope)
        .annotate(drawn=MD5(Concat(Value("estimate "), "content_sha256")))
        .select_related("document")
        .order_by("drawn", "pk")[:_PASSAGES]
    )
    asked = [
        (question, _stand_in(drawn, place, asking.limit))
        for place, question in enumerate(estimating.spread(asking.questions, _QUESTIONS))
    ]
    return Estimate((*_searching(asking), *_writing(asking, asked), *_judging(asking, asked)))


_Asked = Sequence[tuple[Question, Sequence[Chunk]]]


def _stand_in(drawn: Sequence[Chunk], place: int, limit: int) -> list[Chunk]:
    if not drawn:
        return []
    return [drawn[(place * limit + number) % len(drawn)] for number in range(min(limit, len(drawn)))]


def _searching(asking: Asking) -> list[Line]:
    """Return what the way of searching asks the fast model."""
    model = fast_model()
    name = profiles.INTERACTIVE if asking.profile == profiles.AUTO else asking.profile
    if model is None or "hyde" not in profiles.profile(name).layers:
        return []
    prompt = prompt_file("hyde")
    filled = [prompt.fill({"style": "", "question": question.question}) for question in asking.questions[:12]]
    count = len(asking.questions)
    return [estimating.line(purpose=Purpose.HYDE, model=model.name, calls=count, prompts=filled)]


def _writing(asking: Asking, asked: _Asked) -> list[Line]:
    model = chat_model()
    if asking.engine != MODEL or model is None:
        return []
    count, lines = len(asking.questions), []
    fast = fast_model() if _is_condensed(asking) else None
    if fast is not None:
        prompt = prompt_file("compress")
        filled = [
            prompt.fill(
                {
                    "nonce": "0" * 32,
                    "title": chunk.document.title,
                    "passage": chunk.body,
                    "question": one.question,
                }
            )
            for one, chunks in asked
            for chunk in chunks[:4]
        ]
        calls = count * max((len(chunks) for _, chunks in asked), default=0)
        lines.append(
            estimating.line(purpose=Purpose.COMPRESSION, model=fast.name, calls=calls, prompts=filled)
        )
    longest = prompting.LONGEST_SOURCE if fast is None else 4 * USUAL_REPLY[Purpose.COMPRESSION]
    template = writers.template()
    built = [
        prompting.build(template, question=one.question, sources=_numbered(chunks, longest))
        for one, chunks in asked
    ]
    prompts_built = [(prompt.system, prompt.user) for prompt in built]
    lines.append(
        estimating.line(purpose=Purpose.ANSWER, model=model.name, calls=count, prompts=prompts_built)
    )
    return lines


def _is_condensed(asking: Asking) -> bool:
    if asking.compressed is not None:
        return asking.compressed
    return asking.profile in active_profile().compression.profiles


def _numbered(chunks: Sequence[Chunk], longest: int) -> list[NumberedSource]:
    return [
        NumberedSource(
            number=number,
            title=chunk.document.title,
            body=chunk.body[:longest],
            section_path=tuple(chunk.section_path),
            locator=chunk.locator,
        )
        for number, chunk in enumerate(chunks, start=1)
    ]


def _judging(asking: Asking, asked: _Asked) -> list[Line]:
    writer = chat_model() if asking.engine == MODEL else None
    words = (
        _EXTRACTIVE_WORDS if writer is None else round(estimating.usual_reply(Purpose.ANSWER, writer.name))
    )
    answer = _JUDGED * words
    grounding = [
        prompts.grounding(question=one.question, answer=answer, sources=_sources(chunks))
        for one, chunks in asked
    ]
    correctness = [
        prompts.correctness(question=one.question, answer=answer, reference=one.reference_answer)
        for one, _ in asked
    ]
    count = len(asking.questions)
    return [
        estimating.line(
            purpose=Purpose.JUDGING,
            model=asking.judge.name,
            calls=count,
            prompts=[(one.system, one.user) for one in sent],
        )
        for sent in (grounding, correctness)
    ]


def _sources(chunks: Sequence[Chunk]) -> list[Source]:
    return [
        Source(
            number=number,
            title=chunk.document.title,
            place=" > ".join(chunk.section_path),
            body=chunk.body,
            license_class=chunk.document.license_class,
        )
        for number, chunk in enumerate(chunks, start=1)
    ]
