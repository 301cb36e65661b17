"""What scopes and ceilings decide in evaluation, observed for the mutants."""

from __future__ import annotations

from typing import Any

from django.db import transaction
from django.urls import reverse

from corpus.rights import ALL_CLASSES
from corpus.scope import scope
from evaluation.ground_truth.binding import Binder
from evaluation.ground_truth.models import Question
from evaluation.ground_truth.queries import known_questions, known_sets, with_evidence
from evaluation.models import EvaluationRun
from evaluation.questions import SeedQuestion
from evaluation.runs import pages, relevant, running
from evaluation.runs.running import ConditionsChanged
from evaluation.runs.visibility import known_runs
from tests.factories.evaluation import EvaluationRunFactory
from tests.leaks.asking import client_of
from tests.leaks.world import World, canary

NARROW = scope(license_classes=["public"])


def step(world: World) -> Any:
    """Return what the narrow librarian, whose ceiling is next to nothing, gets to know."""
    curator = world.people["curator"]
    assert curator is not None
    everything = world.evaluations[-1]
    hidden = Question.objects.filter(key=canary("restricted")).order_by("pk")
    looked = pages.looked(everything.questions.get(number=1), "full_deep", by=curator)
    return (
        [piece.place for piece in Binder(NARROW).pieces(_seed())],
        sorted(known_questions(curator).values_list("pk", flat=True)),
        [(row.name, row.asked) for row in known_sets(curator).order_by("name")],
        sorted(known_runs(curator).values_list("pk", flat=True)),
        [relevant.relevance_of(one, NARROW).passages for one in with_evidence(hidden)],
        looked and [entry.passage and entry.passage.pk for entry in looked.entries],
        _refuses_to_go_on(everything, curator),
        _runs_alone(world, curator),
        _written(world),
        _started(world),
    )


def _seed() -> SeedQuestion:
    word = canary("restricted")
    return SeedQuestion(
        id="hidden",
        question="?",
        reference_answer="!",
        reference_documents=(f"10.9999/{word}",),
        reference_titles=(f"Biochar and {word}",),
        evidence_phrases=(f"holds water, says {word}",),
    )


def _refuses_to_go_on(run: EvaluationRun, by: Any) -> bool:
    """Whether a run over more than its starter may see any more is not carried on."""
    run.started_by = by
    try:
        running._Work(run)
    except ConditionsChanged:
        return True
    finally:
        run.started_by = None
    return False


def _runs_alone(world: World, by: Any) -> list[str]:
    """Which runs without questions show: one over everything, one that found what is out of sight now."""
    with transaction.atomic():
        EvaluationRunFactory(scope=scope(license_classes=ALL_CLASSES).as_dict(), question_set_name="wide")
        found = EvaluationRunFactory(scope=NARROW.as_dict(), question_set_name="found")
        found.documents.create(document_ref=world.documents["restricted"].pk)
        EvaluationRunFactory(scope=NARROW.as_dict(), question_set_name="open")
        named = known_runs(by).filter(question_set_name__in=["wide", "found", "open"])
        shown = sorted(named.values_list("question_set_name", flat=True))
        transaction.set_rollback(True)
    return shown


def _written(world: World) -> int:
    """How writing a question with words of a document out of sight is answered. Nothing of it stays."""
    data = {"key": "x", "question": "?", "reference_answer": "!"}
    phrase = f"holds water, says {canary('restricted')}"
    address = reverse("question_new", args=[world.question_sets[""]])
    with transaction.atomic():
        status = client_of(world, "expert").post(address, data | {"evidence_phrases": phrase}).status_code
        transaction.set_rollback(True)
    return status


def _started(world: World) -> Any:
    """Over what an expert's run goes. Nothing of it stays."""
    chosen = (
        Question.objects.filter(key=canary("public")).order_by("pk").values_list("question_set", flat=True)[0]
    )
    with transaction.atomic():
        client_of(world, "expert").post(
            reverse("evaluation_start"), {"question_set": str(chosen), "how": "deep"}
        )
        run = EvaluationRun.objects.order_by("-started_at", "pk").first()
        found = run and (run.scope, run.planned)
        transaction.set_rollback(True)
    return found
