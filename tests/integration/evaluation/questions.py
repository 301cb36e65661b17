"""Small sets of questions over small corpora, for the tests of evaluation."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User

from corpus.ceilings import effective_scope
from corpus.scope import RetrievalScope
from evaluation.actions import questions as action
from evaluation.actions.questions import Writing
from evaluation.models import EvaluationRun, Question, QuestionSet
from evaluation.questions import SeedQuestion
from evaluation.runs import ablations, running
from evaluation.runs.planning import Plan
from tests.integration.retrieval import corpora

FACTS = {
    "straw": "Rice straw gave a methane yield of 210 L per kilogram of volatile solids.",
    "stover": "Corn stover bales in the open lost 18.6 % of their dry matter within six months.",
    "digester": "Thermophilic digesters run at 53 °C and mesophilic ones at 37 °C.",
    "ash": "The ash content of rice straw was 17.3 % of its dry mass.",
    "pellets": "Torrefied pellets took up 7.2 % of water after a week in the rain.",
    "bundle": "Illinois bundleflower fixed 96 kg of nitrogen per hectare and year.",
    "stack": "The height of a stack of bales shall not exceed 4.5 m.",
}
ASKED = {
    "straw": "What is the methane yield of rice straw?",
    "stover": "How much dry matter do stover bales lose in the open?",
    "digester": "At what temperature do thermophilic digesters run?",
    "ash": "How much ash does rice straw hold?",
    "pellets": "How much water do torrefied pellets take up?",
    "bundle": "How much nitrogen does bundleflower fix?",
    "stack": "How high may a stack of bales be?",
}
EVERYTHING = Writing(RetrievalScope(), must_be_found=False)


def facts(**fields: Any) -> None:
    """Store a document for each fact, with vectors."""
    for key, fact in FACTS.items():
        corpora.add(
            f"About {key}",
            [fact, f"Methods of the work on {key} were usual."],
            doi=f"10.5555/{key}",
            **fields,
        )


def seed(key: str, **values: Any) -> SeedQuestion:
    """Return the question about one fact."""
    return SeedQuestion.model_validate(
        {
            "id": key,
            "question": ASKED[key],
            "reference_answer": FACTS[key],
            "reference_documents": [f"10.5555/{key}"],
            "evidence_phrases": [FACTS[key].rstrip(".")],
            "tags": ["numeric"],
        }
        | values
    )


def write(question_set: QuestionSet, *keys: str, by: User | None = None, **values: Any) -> list[Question]:
    """Add the questions about facts to a set; all of them without `keys`."""
    return [
        action.add(question_set=question_set, seed=seed(key, **values), writing=EVERYTHING, by=by)
        for key in keys or FACTS
    ]


def question_set(name: str = "facts") -> QuestionSet:
    """Return a set of all facts and something the corpus does not say."""
    made = action.add_set(name=name, by=None)
    write(made)
    unanswerable = SeedQuestion(
        id="kelp",
        question="How much hydrogen does kelp yield?",
        reference_answer="Not said.",
        unanswerable=True,
    )
    action.add(question_set=made, seed=unanswerable, writing=EVERYTHING, by=None)
    return made


def plan(made: QuestionSet, *names: str, by: User | None = None, **values: Any) -> Plan:
    """Return a plan to compare configurations over everything `by` may see."""
    everything = RetrievalScope() if by is None else effective_scope(by, RetrievalScope())
    return Plan(made, **({"scope": everything, "configurations": ablations.chosen(names)} | values))


def evaluated(made: QuestionSet, *names: str, by: User | None = None, **values: Any) -> EvaluationRun:
    """Carry an evaluation out and return its run."""
    return running.evaluate(plan(made, *names, by=by, **values), by=by)
