"""Evaluation's background work as Celery sees it."""

from __future__ import annotations

from uuid import UUID

from celery import shared_task

from evaluation.judging import background as judging
from evaluation.runs import background


@shared_task(name=background.TASK)
def carry_out(run: str) -> None:
    """Carry a run on for a turn."""
    background.work(UUID(run))


@shared_task(name=judging.TASK)
def judge_answers(run: str) -> None:
    """Carry a run of answers on for a turn."""
    judging.work(UUID(run))


@shared_task(name="evaluation.continue_runs")
def continue_runs() -> None:
    """Carry on what a worker left or nobody was told of."""
    for run in background.waiting():
        background.work(run)
    for run in judging.waiting():
        judging.work(run)
