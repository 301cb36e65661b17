"""The commands of evaluation."""

from __future__ import annotations

import click

from evaluation.cli_answers import answers
from evaluation.cli_calibration import calibrate, labels
from evaluation.cli_compression import compression
from evaluation.cli_questions import export_questions, import_questions, list_questions
from evaluation.cli_reports import baseline, diff, gate, report, runs
from evaluation.cli_retrieval import retrieval


@click.group("eval")
def evaluate() -> None:
    """Measure retrieval and answers against questions with known evidence."""


for command in (
    import_questions, export_questions, list_questions, retrieval, answers, compression, labels, calibrate,
    runs, report, diff, baseline, gate,
):  # fmt: skip
    evaluate.add_command(command)
