"""Taking files of questions into a set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db import transaction
from django.db.models import QuerySet

from evaluation.actions import questions as action
from evaluation.actions.questions import Origin, Provenance, QuestionError, Writing
from evaluation.ground_truth.models import Evidence, Question, QuestionSet
from evaluation.ground_truth.queries import known_questions
from evaluation.questions import SeedQuestion

if TYPE_CHECKING:
    from django.contrib.auth.models import User


@dataclass(frozen=True, slots=True)
class Imported:
    """What became of a file's questions, and what of their evidence no document holds."""

    added: int = 0
    changed: int = 0
    unchanged: int = 0
    signed: int = 0
    missing: tuple[tuple[str, str], ...] = ()


class NotImported(QuestionError):
    """Questions of a file that cannot be taken in: `problems` says of each by its id why."""

    def __init__(self, problems: Sequence[tuple[str, str]]) -> None:
        super().__init__("\n".join(f"{key}: {said}" for key, said in problems))
        self.problems = tuple(problems)


@transaction.atomic
def import_questions(
    *,
    question_set: QuestionSet,
    seeds: Sequence[SeedQuestion],
    writing: Writing,
    origin: str,
    trusts_signatures: bool = False,
    by: User | None,
) -> Imported:
    """Add the questions of a file and change those that differ; all of them or, on an error, none.

    They come as drafts, whatever the file says: only `trusts_signatures` takes its signatures over. What the
    file does not name stays, and so does what `by` may not know of. Raises `NotImported` naming everything.
    """
    rows = question_set.questions.order_by("key", "pk")
    held = {question.key: question for question in rows.filter(pk__in=_changeable(by).values("pk"))}
    outcomes: list[str] = []
    questions = []
    problems = []
    for seed in seeds:
        try:
            outcome, question = _take(question_set, seed, held.get(seed.id), writing, origin, by)
        except QuestionError as error:
            # Nothing was written of this one, and of the others nothing will stay.
            problems.append((seed.id, str(error)))
            continue
        outcomes.append(outcome)
        questions.append(question)
    if problems:
        raise NotImported(problems)
    signed = 0
    if trusts_signatures:
        signed = sum(
            _accept(question, seed, origin, by) for question, seed in zip(questions, seeds, strict=True)
        )
    return Imported(
        added=outcomes.count("added"),
        changed=outcomes.count("changed"),
        unchanged=outcomes.count("unchanged"),
        signed=signed,
        missing=tuple(_missing(questions)),
    )


def _changeable(by: User | None) -> QuerySet[Question]:
    return Question.objects.all() if by is None else known_questions(by)


def _take(
    question_set: QuestionSet,
    seed: SeedQuestion,
    held: Question | None,
    writing: Writing,
    origin: str,
    by: User | None,
) -> tuple[str, Question]:
    if held is None:
        came = Provenance(Origin.IMPORTED, note=f"from {origin}")
        added = action.add(question_set=question_set, seed=seed, writing=writing, provenance=came, by=by)
        return "added", added
    if held.content_sha256 == seed.content_sha256():
        return "unchanged", held
    changed = action.change(question=held, seed=seed, seen_sha256=held.content_sha256, writing=writing, by=by)
    # One that lost its evidence with a document has it again.
    return "changed", action.restore(question=changed, by=by)


def _accept(question: Question, seed: SeedQuestion, origin: str, by: User | None) -> int:
    if seed.signed_by is None or seed.signed_at is None or not question.drafted:
        return 0
    note = f"stated by {origin}, not given here"
    action.accept_signature(question=question, name=seed.signed_by, at=seed.signed_at, note=note, by=by)
    return 1


def _missing(questions: Sequence[Question]) -> list[tuple[str, str]]:
    """Return the key of each question that lacks a place for evidence, with that evidence."""
    rows = Evidence.objects.filter(question__in=questions, document__isnull=True)
    return [
        (row.question.key, str(row))
        for row in rows.select_related("question").order_by("question__key", "number", "pk")
    ]
