"""Deciding whether condensed sources may be adopted, and keeping what was decided."""

from __future__ import annotations

from typing import TYPE_CHECKING

import structlog
from django.db import transaction

from evaluation.compression import verdict
from evaluation.compression.models import CompressionDecision
from evaluation.reports.report import report_of
from evaluation.runs.models import EvaluationRun

if TYPE_CHECKING:
    from django.contrib.auth.models import User

logger = structlog.get_logger(__name__)


@transaction.atomic
def decide(*, whole: EvaluationRun, condensed: EvaluationRun, by: User | None) -> CompressionDecision:
    """Keep the gate's verdict on two runs, a rejection too; the same two again return what was kept.

    Raises `NoReport`, and `Incomparable` where they differ in more than their sources.
    """
    # Nobody may open one of them again meanwhile, and of two who decide at once the second finds the record.
    rows = EvaluationRun.objects.select_for_update().filter(pk__in=[whole.pk, condensed.pk]).order_by("pk")
    locked = {row.pk: row for row in rows}
    kept = CompressionDecision.objects.filter(whole=whole, condensed=condensed).first()
    if kept is not None:
        return kept
    found = verdict.decide(report_of(locked[whole.pk]), report_of(locked[condensed.pk]))
    decision = CompressionDecision.objects.create(
        whole=whole,
        condensed=condensed,
        is_adopted=found.adopts,
        reasons=list(found.reasons),
        numbers=found.numbers(),
        decided_by=by,
        decided_by_name="" if by is None else by.get_username(),
    )
    decision.refresh_from_db()
    logger.info("compression.decided", decision=str(decision.pk), adopted=found.adopts)
    return decision
