"""Questions and evaluation runs about every document of the leak table, and the requests that reach them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from django.urls import reverse
from django.utils import timezone

from answers.feedback import WrongReport
from corpus.models import Chunk, Document
from corpus.rights import ALL_CLASSES
from corpus.scope import RetrievalScope, scope
from evaluation.actions import questions as action
from evaluation.actions import runs
from evaluation.actions.questions import Writing
from evaluation.actions.runs import Opening, Row
from evaluation.ground_truth.queries import asked
from evaluation.models import EvaluationRun, Question, QuestionSet, RetrievalOutcome
from evaluation.questions import Form, SeedQuestion, write_questions
from evaluation.reports import drawing, summary
from evaluation.runs.relevant import measured

if TYPE_CHECKING:
    from tests.leaks.routes import Call
    from tests.leaks.world import World


def furnish(world: World, cases: Sequence[str], words: dict[str, str]) -> None:
    """A set about everything and one for each case, each with a run that found its documents."""
    everything = action.add_set(name="everything", by=None)
    world.question_sets[""] = everything.name
    for number, case in enumerate(cases):
        world.questions.append(_question(everything, world.documents[case], words[case]))
        # Whoever asks for it by an address sees the address again: its name says nothing.
        made = action.add_set(name=f"about-{number}", by=None)
        world.question_sets[case] = made.name
        world.questions.append(_question(made, world.documents[case], words[case]))
        classes = [world.documents[case].license_class]
        world.evaluations.append(_run(made, scope(license_classes=classes), [world.passages[case]]))
    within = scope(license_classes=ALL_CLASSES)
    world.evaluations.append(_run(everything, within, [world.passages[case] for case in cases]))


def _question(question_set: QuestionSet, document: Document, word: str) -> Question:
    seed = SeedQuestion(
        id=word,
        question=f"What says {word}?",
        reference_answer=f"Biochar holds water, says {word}.",
        reference_documents=(document.doi,),
        evidence_phrases=(f"holds water, says {word}",),
        tags=(word,),
    )
    writing = Writing(RetrievalScope(), must_be_found=False)
    return action.add(question_set=question_set, seed=seed, writing=writing, by=None)


def _run(question_set: QuestionSet, within: RetrievalScope, passages: list[Chunk]) -> EvaluationRun:
    questions = list(asked(question_set))
    opening = Opening(
        kind=EvaluationRun.Kind.RETRIEVAL,
        question_set=question_set,
        questions=questions,
        rows=[Row("full_deep", "deep"), Row("interactive", "interactive")],
        scope=within.as_dict(),
        fingerprint="f" * 64,
        code_version="test",
        planned=len(questions) * 2,
    )
    run = runs.start(opening=opening, by=None)
    found = [_found(passage) for passage in passages]
    for configuration in run.configurations.all():
        for question in run.questions.all():
            outcome = RetrievalOutcome(configuration=configuration, question=question, found=found)
            outcome.measures = measured(found, passages=1, documents=1)
            runs.keep(outcome=outcome, documents=[row["document"] for row in found])
    rows = list(run.questions.order_by("number"))
    for row in rows:
        row.relevant_documents = row.relevant_passages = 1
    outcomes = list(RetrievalOutcome.objects.filter(configuration__run=run).order_by("pk"))
    numbers = summary.of(rows, list(run.configurations.order_by("number")), outcomes)
    EvaluationRun.objects.filter(pk=run.pk).update(started_at=timezone.now())
    return runs.finish(run=run.pk, summary=numbers, questions=rows)


def _found(passage: Chunk) -> dict[str, object]:
    return {
        "passage": str(passage.public_id),
        "sha256": passage.content_sha256,
        "document": str(passage.document_id),
        "also_in": [],
        "ranks": {"keyword": 1},
        "has_phrase": True,
        "reference": str(passage.document_id),
    }


def _file(world: World) -> str:
    """A file whose questions are named like every question there is, with words of no document."""
    seeds = [
        SeedQuestion(id=one.key, question="?", reference_answer="!", evidence_phrases=("holds gold",))
        for one in world.questions[:1]
    ]
    return write_questions(seeds, form=Form.JSONL)


def _about_answers(world: World) -> dict[str, list[Call]]:
    """Runs of judged answers: begun, looked at, asked again, decided by."""
    from tests.leaks.routes import Call

    start, deciding = reverse("evaluation_start_answers"), reverse("compression_decisions")
    runs_of_answers = [queue.run_id for queue in world.samples.values()]
    chosen = {"profile": "interactive", "limit": "3", "engine": "extractive"}
    sets = sorted({one.question_set_id for one in world.questions})
    return {
        "evaluation_start_answers": [
            Call(start),
            *(Call(start, "post", chosen | {"question_set": str(key)}) for key in sets),
        ],
        "evaluation_answer": [
            Call(reverse("evaluation_answer", args=[key, number]))
            for key in runs_of_answers
            for number in (0, 1)
        ],
        "evaluation_retry": [
            Call(reverse("evaluation_retry", args=[key]), "post") for key in runs_of_answers
        ],
        "evaluation_continue": [
            Call(reverse("evaluation_continue", args=[key]), "post", {"max_tokens": "5"})
            for key in runs_of_answers
        ],
        "compression_decisions": [
            Call(deciding),
            *(
                Call(deciding, "post", {"whole": str(one), "condensed": str(other)})
                for one in runs_of_answers
                for other in runs_of_answers
            ),
        ],
        "compression_decision": [
            Call(reverse("compression_decision", args=[row.pk])) for row in world.decisions.values()
        ],
    }


def _about_reports() -> dict[str, list[Call]]:
    """Answers that somebody reported as wrong, made questions of."""
    from tests.leaks.routes import Call

    keys = list(WrongReport.objects.order_by("pk").values_list("pk", flat=True))
    typed = {"key": "x", "question": "?", "reference_answer": "!", "evidence_phrases": "holds gold"}
    return {
        "reported_answers": [Call(reverse("reported_answers"))],
        "reported_question": [
            call
            for key in keys
            for call in (
                Call(reverse("reported_question", args=[key])),
                Call(reverse("reported_question", args=[key]), "post", typed),
            )
        ],
        "reported_dismiss": [Call(reverse("reported_dismiss", args=[key]), "post") for key in keys],
    }


def calls(world: World) -> dict[str, list[Call]]:
    """Return the requests for each route of evaluation."""
    from tests.leaks.routes import Call

    written = {"key": "x", "question": "?", "reference_answer": "!", "evidence_phrases": "holds water, says"}
    sets, questions = list(world.question_sets.values()), [question.pk for question in world.questions]
    keys = [run.pk for run in world.evaluations]

    def each(name: str, ids: Iterable[object], *more: object, **data: str) -> list[Call]:
        return [Call(reverse(name, args=[key, *more]), data=data) for key in ids]

    def posts(name: str, ids: Iterable[object], **data: str) -> list[Call]:
        return [Call(reverse(name, args=[key]), "post", data) for key in ids]

    start, compare = reverse("evaluation_start"), reverse("evaluation_compare")
    return {
        **_about_answers(world),
        **_about_reports(),
        "questions_import": each("questions_import", sets)
        + posts("questions_import", sets, text=_file(world)),
        "question_sets": [
            Call(reverse("question_sets")),
            Call(reverse("question_sets"), "post", {"name": ""}),
        ],
        "questions": each("questions", sets) + each("questions", sets, show="draft"),
        "question_new": each("question_new", sets) + posts("question_new", sets, **written),
        "questions_export": each("questions_export", sets, "jsonl") + each("questions_export", sets, "yaml"),
        "question": each("question", questions),
        "question_edit": each("question_edit", questions) + posts("question_edit", questions, **written),
        "question_sign": posts("question_sign", questions, seen="0" * 64),
        "question_unsign": posts("question_unsign", questions),
        "question_retire": posts("question_retire", questions) + posts("question_retire", questions),
        "evaluations": [Call(reverse("evaluations"))],
        "evaluation_start": [Call(start), Call(start, "post", {"question_set": str(keys[0]), "how": "deep"})],
        "evaluation_compare": [
            Call(compare, data={"before": str(one), "after": str(other), "corpus": "any"})
            for one in keys[:3]
            for other in keys
        ],
        "evaluation": each("evaluation", keys),
        "evaluation_events": each("evaluation_events", keys),
        "evaluation_cancel": posts("evaluation_cancel", keys),
        "evaluation_plot": [call for name in drawing.PLOTS for call in each("evaluation_plot", keys, name)],
        "evaluation_report": [
            call for form in ("json", "md", "html") for call in each("evaluation_report", keys, form)
        ],
        "evaluation_question": each("evaluation_question", keys, 1)
        + each("evaluation_question", keys, 1, by="interactive"),
    }
