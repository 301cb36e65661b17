"""A run of extraction says before what it will come to, stops at its cap, and goes on under a higher one."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from click.testing import CliRunner, Result
from django.contrib.auth.models import User
from pytest_django.fixtures import Settings

from corpus.usage import ledger
from corpus.usage.budget import Cap
from corpus.usage.models import ModelUse
from retrieval.cli_graph import graph
from retrieval.graph.actions import extraction as action
from retrieval.graph.extraction import background
from retrieval.models import ChunkStamp, ExtractionRun
from tests.integration.retrieval.graph.readings import extracts, library
from tests.loopback.counting import provider_tokens
from tests.loopback.fixtures import forget_clients
from tests.loopback.openai_server import OpenAIServer

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.xdist_group("use-ledger")]

State = ExtractionRun.State


@pytest.fixture(autouse=True)
def provider(configured_model: OpenAIServer) -> Iterator[OpenAIServer]:
    from corpus.gateways import llm

    llm._configured.cache_clear()
    ledger.settle(20)
    ModelUse.objects.all().delete()
    configured_model.will_count(provider_tokens)
    configured_model.will_choose(extracts)
    yield configured_model
    ledger.settle(20)
    forget_clients()


def run(*arguments: str) -> Result:
    return CliRunner().invoke(graph, [*arguments, "--json"])


def report(*arguments: str) -> dict[str, Any]:
    result = run(*arguments)
    assert result.exit_code == 0, result.output
    value: dict[str, Any] = json.loads(result.stdout)
    return value


def used(provider: OpenAIServer) -> int:
    return sum(map(sum, provider.counted))


def test_the_estimate_is_within_a_fifth_of_what_the_provider_counts(provider: OpenAIServer) -> None:
    library()
    said = report("extract", "--model", "--dry-run")["estimate"]
    assert (provider.requests, ExtractionRun.objects.count()) == ([], 0)

    report("extract", "--model")

    assert said["calls"] == len(provider.requests) > 5
    assert abs(said["tokens"] - used(provider)) <= 0.2 * used(provider)
    assert said["cost_usd"] is None


def test_once_the_ledger_knows_the_replies_the_estimate_is_nearer(provider: OpenAIServer) -> None:
    library()
    report("extract", "--model")
    assert ledger.settle(20)
    before = used(provider)

    said = report("extract", "--model", "--again", "--dry-run")["estimate"]
    report("extract", "--model", "--again")

    assert abs(said["tokens"] - (used(provider) - before)) <= 0.05 * (used(provider) - before)


def test_the_cap_stops_between_batches_and_a_higher_one_lets_the_run_go_on(provider: OpenAIServer) -> None:
    library()
    whole = report("extract", "--model", "--dry-run")["estimate"]["tokens"]

    stopped = run("extract", "--model", "--max-tokens", str(whole // 2))

    assert stopped.exit_code == 3, stopped.output
    assert "Stopped at the cap" in stopped.stderr
    found = json.loads(stopped.stdout)
    kept = ExtractionRun.objects.get()
    assert (found["state"], kept.state) == ("capped", State.CAPPED)
    assert kept.tokens_used == found["tokens_used"] == used(provider) >= whole // 2
    assert ChunkStamp.objects.count() == kept.passages_done < kept.passages
    asked = len(provider.requests)

    refused = run("resume", str(kept.pk), "--max-tokens", str(whole // 2))
    assert refused.exit_code == 1
    assert "cannot go on" in refused.stderr
    assert len(provider.requests) == asked

    ended = report("resume", str(kept.pk), "--max-tokens", str(whole * 2))

    kept.refresh_from_db()
    assert (kept.state, ended["state"]) == (State.FINISHED, "finished")
    assert kept.passages_done == kept.passages == ChunkStamp.objects.count()
    assert kept.tokens_used == used(provider)
    prompts = [request.prompt for request in provider.requests]
    assert kept.calls_made == len(prompts)


def test_a_run_that_reads_again_goes_on_without_reading_its_own_passages_twice(
    provider: OpenAIServer,
) -> None:
    library()
    report("extract", "--model")
    once = len(provider.requests)

    stopped = run("extract", "--model", "--again", "--max-tokens", "3000")
    assert stopped.exit_code == 3, stopped.output
    report("resume", str(json.loads(stopped.stdout)["run"]))

    assert len(provider.requests) == 2 * once


def test_workers_stop_at_the_cap_and_take_the_run_up_again(provider: OpenAIServer, librarian: User) -> None:
    library(bucket="theses")
    queued = background.enqueue(kind="model", limit=None, cap=Cap(max_tokens=3000), by=librarian)

    background.work(queued.pk)

    queued.refresh_from_db()
    assert (queued.state, background.waiting()) == (State.CAPPED, [])
    assert queued.tokens_used >= 3000
    background.work(queued.pk)
    assert len(provider.requests) == queued.calls_made

    assert run("resume", str(queued.pk)).exit_code == 0
    background.work(queued.pk)

    queued.refresh_from_db()
    assert (queued.state, queued.passages_done) == (State.FINISHED, queued.passages)
    assert ledger.settle(20)
    (row,) = ModelUse.objects.all()
    assert (row.user_id, row.purpose, row.collection) == (librarian.pk, "extraction", "theses")
    assert row.calls == len(provider.requests) == queued.calls_made


def test_a_cap_on_cost_needs_a_price_and_is_kept(provider: OpenAIServer, settings: Settings) -> None:
    library()
    refused = run("extract", "--model", "--max-cost", "0.01")
    assert refused.exit_code == 1
    assert "SCI_RAG_MODEL_PRICES" in refused.stderr
    assert provider.requests == []

    settings.SCI_RAG_MODEL_PRICES = ["openai/test-model=1/1"]
    stopped = run("extract", "--model", "--max-cost", "0.004")

    assert stopped.exit_code == 3, stopped.output
    kept = ExtractionRun.objects.get()
    assert 0.004 <= float(kept.cost_usd) == used(provider) / 1_000_000


def test_the_settings_cap_a_run_that_names_none(provider: OpenAIServer, settings: Settings) -> None:
    library()
    settings.SCI_RAG_MAX_TOKENS_PER_RUN = 2500

    assert run("extract", "--model").exit_code == 3
    assert ExtractionRun.objects.get().max_tokens == 2500


def test_a_run_that_did_not_stop_at_a_cap_is_not_gone_on_with(provider: OpenAIServer) -> None:
    made = action.start(extractor="model@abc", passages=1, parameters={})

    result = run("resume", str(made.pk))

    assert result.exit_code == 1
    assert "stopped at its cap" in result.stderr


def test_rules_have_no_estimate_and_no_cap_to_reach(provider: OpenAIServer) -> None:
    library()

    found = report("extract", "--rules", "--max-tokens", "1")

    assert (found["state"], found["tokens_used"], provider.requests) == ("finished", 0, [])
