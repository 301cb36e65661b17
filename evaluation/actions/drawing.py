"""Making a question of an answer that somebody reported as wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import transaction

from answers.actions.feedback import decide_reports
from answers.feedback import WrongReport
from evaluation.actions import questions as action
from evaluation.actions.questions import Origin, Provenance, QuestionError, Writing
from evaluation.ground_truth.models import Question, QuestionSet
from evaluation.questions import SeedQuestion

if TYPE_CHECKING:
    from django.contrib.auth.models import User


@transaction.atomic
def draw(
    *, report: WrongReport, question_set: QuestionSet, seed: SeedQuestion, writing: Writing, by: User
) -> Question:
    """Write a draft of what a report says, and close the report with it: of one report comes one question.

    Raises `QuestionError` when somebody has decided about the report, and what writing a question raises.
    """
    if not decide_reports(reports=[report], state=WrongReport.State.DRAWN, by=by):
        raise QuestionError("Somebody has decided about this report already.")
    came = Provenance(Origin.REPORTED, wrong_report=report, note="from an answer reported as wrong")
    return action.add(question_set=question_set, seed=seed, writing=writing, provenance=came, by=by)
