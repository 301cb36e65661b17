"""A clock that jumps an hour gives nobody's work away: leases are held against the database's clock."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.utils import timezone
from pytest_django.fixtures import Settings

from corpus import enqueueing, jobs, pipeline, run_claims
from corpus.campaigns.actions import runs as campaigns
from corpus.campaigns.models import Campaign, CampaignRun
from corpus.inputs import from_paths
from corpus.jobs import Kind
from corpus.models import IngestionRun, Job
from corpus.webhooks import ledger
from corpus.webhooks.models import Webhook, WebhookDelivery
from evaluation.runs.models import EvaluationRun
from retrieval.graph.actions import extraction
from retrieval.models import ExtractionRun
from tests.factories.evaluation import EvaluationRunFactory
from tests.integration.corpus.ingesting import paper, write

pytestmark = pytest.mark.django_db

FAR = [timedelta(hours=1), timedelta(hours=-1), timedelta(days=12 * 365)]


@pytest.fixture(params=FAR, ids=["an-hour-on", "an-hour-back", "past-2038"])
def jump(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Let this machine's clock jump, and not the database's."""
    real = timezone.now

    def jumped() -> datetime:
        return real() + request.param

    return lambda: monkeypatch.setattr(timezone, "now", jumped)


def test_a_job_in_hand_is_not_given_to_another(
    jump: Callable[[], None], tmp_path: Path, settings: Settings
) -> None:
    settings.MEDIA_ROOT = tmp_path / "media"
    enqueueing.enqueue(from_paths([write(tmp_path, "a.md", paper("40 days"))]), by=None)
    claim = jobs.claim(kind=Kind.PARSE)
    jump()

    assert (jobs.claim(kind=Kind.PARSE), pipeline.reclaim()) == (None, 0)
    assert claim is not None
    assert jobs.renew(claim)
    assert Job.objects.get().lease_until > IngestionRun.objects.get().started_at


def test_a_run_of_extraction_or_evaluation_in_hand_is_not_given_to_another(jump: Callable[[], None]) -> None:
    extracted = extraction.start(extractor="rules@0", passages=1, parameters={})
    evaluated = EvaluationRunFactory()
    held = [
        run_claims.claim(model, run.pk, for_workers=False)
        for model, run in ((ExtractionRun, extracted), (EvaluationRun, evaluated))
    ]
    jump()

    assert run_claims.claim(ExtractionRun, extracted.pk, for_workers=False) is None
    assert run_claims.claim(EvaluationRun, evaluated.pk, for_workers=False) is None
    assert extraction.close_abandoned() == 0
    assert all(run_claims.renew(run) for run in held if run is not None)


def test_a_run_of_a_campaign_in_hand_is_not_given_to_another(
    jump: Callable[[], None], librarian: User
) -> None:
    campaign = Campaign.objects.create(name="straw")
    run = CampaignRun.objects.create(campaign=campaign, stage="discover")
    held = campaigns.claim(run=run.pk)
    assert held is not None
    jump()
    with campaigns.effect(held) as row:
        row.done = 1

    assert campaigns.claim(run=run.pk) is None
    assert campaigns.close_abandoned() == 0
    campaigns.still_mine(held)


def test_a_message_in_hand_is_not_sent_by_another(jump: Callable[[], None], librarian: User) -> None:
    webhook = Webhook.objects.create(owner=librarian, url="https://lab.example/", events=["ingest_finished"])
    WebhookDelivery.objects.create(
        webhook=webhook, event="ingest_finished", kind="ingestion", subject=webhook.pk
    )
    assert ledger.claim() is not None
    jump()

    assert ledger.claim() is None
