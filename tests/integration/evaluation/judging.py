"""A small corpus with questions, and a judge that says what a test wants."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

from corpus.scope import RetrievalScope
from evaluation.actions import questions as question_action
from evaluation.actions.questions import Writing
from evaluation.ground_truth.models import QuestionSet
from evaluation.judging import running, starting
from evaluation.judging.starting import Wanted
from evaluation.questions import SeedQuestion
from evaluation.runs.models import EvaluationRun
from tests.factories.evaluation import QuestionSetFactory
from tests.integration.retrieval import corpora
from tests.loopback.openai_server import Reply, Request, says

GROUNDED = json.dumps({"groundedness": 2, "citation_accuracy": 2, "completeness": 1})
CORRECT = json.dumps({"correctness": 1})
JUDGE = "openai/judge-model"
FACTS = (
    "Rice straw gave 210 L of methane per kg of volatile solids at 37 °C.",
    "Thermophilic digesters run at 53 °C and need 18 days.",
    "Torrefied pellets take up 4 % moisture in a month of rain.",
    "Biochar from pine held 31 % more water than the soil alone.",
    "Corn stover bales lost 18.6 % of their dry matter in the open.",
    "Lignin content of switchgrass reached 21 % in the October harvest.",
)
QUESTIONS = (
    "How much methane did rice straw give?",
    "At what temperature do thermophilic digesters run?",
    "How much moisture do torrefied pellets take up?",
    "How much more water did biochar from pine hold?",
    "How much dry matter did corn stover bales lose in the open?",
    "What lignin content did switchgrass reach?",
)


def asked(count: int = len(QUESTIONS), *, license_class: str = "public", more: str = "") -> QuestionSet:
    """Take `count` documents in and write a question about each; `more` makes their passages longer."""
    question_set: QuestionSet = QuestionSetFactory()
    for number, (fact, question) in enumerate(zip(FACTS[:count], QUESTIONS[:count], strict=True)):
        corpora.add(
            f"Paper {number}", [fact + more], license_class=license_class, doi=f"10.5555/judged.{number}"
        )
        seed = SeedQuestion(
            id=f"question-{number}",
            question=question,
            reference_answer=f"An expert expects statement {number}.",
            evidence_phrases=(fact,),
        )
        question_action.add(question_set=question_set, seed=seed, writing=Writing(RetrievalScope()), by=None)
    return question_set


def is_grounding(request: Request) -> bool:
    """Say whether a judge was asked about sources."""
    return "groundedness" in request.prompt


def judging(grounding: str = GROUNDED, correctness: str = CORRECT) -> Callable[[Request], Reply]:
    """Return a judge that always says the same."""
    return lambda request: says(grounding if is_grounding(request) else correctness)


def in_turn(replies: Sequence[Reply], correctness: str = CORRECT) -> Callable[[Request], Reply]:
    """Return a judge that gives `replies` to one pass, one after the other."""
    waiting = list(replies)
    return lambda request: waiting.pop(0) if is_grounding(request) else says(correctness)


def run_of(question_set: QuestionSet, **options: object) -> EvaluationRun:
    """Answer and judge a set, over everything unless `requested` says otherwise."""
    values = {"requested": RetrievalScope(), "engine": "extractive"} | options
    wanted = Wanted(question_set, **values)  # type: ignore[arg-type]
    run = starting.start(wanted=wanted, is_for_workers=False, by=None)
    ended = running.carry_out(run)
    assert ended is not None
    return ended
