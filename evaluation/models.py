"""The models of evaluation, where Django finds them."""

from __future__ import annotations

from evaluation.calibration.models import (
    CalibrationFinish,
    CalibrationItem,
    CalibrationLabel,
    CalibrationQueue,
)
from evaluation.compression.models import CompressionDecision
from evaluation.ground_truth.models import Evidence, Question, QuestionEvent, QuestionSet
from evaluation.judging.models import AnswerOutcome, Judgement
from evaluation.runs.models import (
    Baseline,
    EvaluationRun,
    RetrievalOutcome,
    RunConfiguration,
    RunDocument,
    RunQuestion,
)

__all__ = [
    "AnswerOutcome",
    "Baseline",
    "CalibrationFinish",
    "CalibrationItem",
    "CalibrationLabel",
    "CalibrationQueue",
    "CompressionDecision",
    "EvaluationRun",
    "Evidence",
    "Judgement",
    "Question",
    "QuestionEvent",
    "QuestionSet",
    "RetrievalOutcome",
    "RunConfiguration",
    "RunDocument",
    "RunQuestion",
]
