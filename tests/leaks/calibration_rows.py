"""Judged answers from every document of the leak table, and samples of them to label."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from django.urls import reverse
from django.utils import timezone

from corpus.models import Chunk
from corpus.rights import ALL_CLASSES
from evaluation.actions import calibration as action
from evaluation.actions.judging import text_sha256
from evaluation.compression.verdict import Tokens, Verdict
from evaluation.judging.rubric import DIMENSIONS
from evaluation.models import (
    CalibrationItem,
    CalibrationLabel,
    CalibrationQueue,
    CompressionDecision,
    EvaluationRun,
    Evidence,
)
from evaluation.models import RunDocument as Touched
from tests.factories.evaluation import QuestionFactory, QuestionSetFactory, RunQuestionFactory
from tests.factories.judging import (
    AnswerFactory,
    AnswerOutcomeFactory,
    AnswerSourceFactory,
    AnswersRunFactory,
    JudgementFactory,
)

if TYPE_CHECKING:
    from tests.leaks.routes import Call
    from tests.leaks.world import World

EVERYTHING = "everything"
# One that most may see and one that few may.
ABOUT = ("public", "restricted")
_GRADES = dict.fromkeys(DIMENSIONS, "1")
_NUMBERS = Verdict(
    (),
    Tokens(0),
    dict.fromkeys(
        ("answers", "condensed", "set_aside", "whole", "prompt_tokens_taken", "completion_tokens_taken"), 0
    ),
    (),
).numbers()


def furnish(world: World, words: dict[str, str]) -> None:
    """A run about each case of `words` and one about all, each with a sample that somebody labelled."""
    for name, cases in {**{case: [case] for case in words}, EVERYTHING: list(words)}.items():
        run = _run(world, {case: words[case] for case in cases})
        world.samples[name] = action.draw(run=run, size=40, seed=1, by=None)
        for item in world.samples[name].items.all():
            word = item.outcome.question.reference_answer
            CalibrationLabel.objects.create(
                item=item, labeller_name="somebody", is_expert=True, skipped=f"About {word}"
            )
    _decide(world, words)


def _decide(world: World, words: dict[str, str]) -> None:
    """A decision by two runs about one case each: the first and itself again, the first and the last."""
    first, last = ABOUT[0], ABOUT[-1]
    for case in (first, last):
        decision = CompressionDecision(
            whole=world.samples[first].run,
            condensed=_run(world, {case: words[case]}),
            is_adopted=False,
            reasons=["Prompts did not get measurably shorter"],
            numbers=_NUMBERS,
        )
        decision.save()
        world.decisions[case] = decision


def _run(world: World, words: dict[str, str]) -> EvaluationRun:
    classes = [
        str(item)
        for item in ALL_CLASSES
        if any(world.documents[case].license_class == item for case in words)
    ]
    run: EvaluationRun = AnswersRunFactory(
        state="finished",
        finished_at=timezone.now(),
        question_set=QuestionSetFactory(),
        # Whoever knows one of its questions knows a set by its name.
        question_set_name=EVERYTHING if len(words) > 1 else f"set-{next(iter(words.values()))}",
        scope={"license_classes": classes, "buckets": None},
        planned=2 * len(words),
        done=2 * len(words),
    )
    for number, (case, word) in enumerate(words.items()):
        _judged(run, number, world.passages[case], word)
    return run


def _judged(run: EvaluationRun, number: int, passage: Chunk, word: str) -> None:
    document = passage.document
    question = QuestionFactory(
        question_set=run.question_set, key=f"q-{number}", question=f"What says {word}?"
    )
    Evidence.objects.create(
        question=question,
        number=1,
        phrase=f"says {word}",
        document=document,
        document_sha256=document.content_sha256,
    )
    asked = RunQuestionFactory(
        run=run,
        number=number,
        source=question,
        key=question.key,
        question=question.question,
        reference_answer=f"Biochar, says {word}.",
    )
    text = f"Biochar holds water, says {word} [1]."
    answer = AnswerFactory(question=asked.question, text=text)
    AnswerSourceFactory(answer=answer, chunk=passage)
    outcome = AnswerOutcomeFactory(question=asked, answer=answer, answer_sha256=text_sha256(text))
    JudgementFactory(outcome=outcome)
    Touched.objects.create(run=run, document_ref=document.pk)


def items(samples: Iterable[CalibrationQueue]) -> list[CalibrationItem]:
    """Return the items of samples, in order."""
    return list(CalibrationItem.objects.filter(queue__in=samples).order_by("queue_id", "number"))


def hidden_samples(world: World, cases: Iterable[str]) -> list[CalibrationQueue]:
    """Return the samples of which somebody who may see the documents of `cases` may see no item."""
    shown = set(cases)
    return [
        queue
        for name, queue in world.samples.items()
        if name not in shown and (name != EVERYTHING or not shown)
    ]


def hidden_decisions(world: World, cases: Iterable[str]) -> list[CompressionDecision]:
    """Return the decisions that somebody who may see the documents of `cases` may not know of."""
    shown = set(cases)
    return [row for case, row in world.decisions.items() if not {case, ABOUT[0]} <= shown]


def hidden_items(world: World, cases: Iterable[str]) -> list[CalibrationItem]:
    """Return the items that somebody who may see the documents of `cases` may not see."""
    allowed = {world.documents[case].pk for case in cases}
    return [
        item
        for item in items(world.samples.values())
        if not set(item.outcome.answer.sources.values_list("document_id", flat=True)) <= allowed  # type: ignore[union-attr]
    ]


def calls(world: World) -> dict[str, list[Call]]:
    """Return the requests for each route of calibration."""
    from tests.leaks.routes import Call

    queues = list(world.samples.values())

    def each(
        name: str, rows: Iterable[CalibrationQueue | CalibrationItem], method: str = "get", **data: str
    ) -> list[Call]:
        return [Call(reverse(name, args=[row.pk]), method, data) for row in rows]

    new = reverse("calibration_new")
    return {
        "calibrations": [Call(reverse("calibrations"))],
        "calibration_new": [
            Call(new),
            *(Call(new, "post", {"run": str(queue.run_id), "size": "3", "seed": "1"}) for queue in queues),
        ],
        "calibration": each("calibration", queues),
        "calibration_item": each("calibration_item", items(queues)),
        "calibration_skip": each("calibration_skip", items(queues), "post", reason="")
        + each("calibration_item", items(queues), "post", **_GRADES),
        "calibration_agreement": each("calibration_agreement", queues),
        "calibration_finish": each("calibration_finish", queues, "post"),
        "calibration_labels": each("calibration_labels", queues) + each("calibration_agreement", queues),
    }
