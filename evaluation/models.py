"""The models of evaluation, where Django finds them."""

from __future__ import annotations

from evaluation.ground_truth.models import Evidence, Question, QuestionEvent, QuestionSet
from evaluation.runs.models import (
    Baseline,
    EvaluationRun,
    RetrievalOutcome,
    RunConfiguration,
    RunDocument,
    RunQuestion,
)

__all__ = [
    "Baseline",
    "EvaluationRun",
    "Evidence",
    "Question",
    "QuestionEvent",
    "QuestionSet",
    "RetrievalOutcome",
    "RunConfiguration",
    "RunDocument",
    "RunQuestion",
]
