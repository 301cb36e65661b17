"""A run of judged answers says before what it comes to, stops at its cap between questions, and goes on."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from pytest_django.fixtures import Settings

from corpus.usage import ledger
from corpus.usage.models import ModelUse
from evaluation.cli import evaluate
from evaluation.judging.models import AnswerOutcome
from evaluation.models import EvaluationRun
from tests.integration.evaluation.judging import CORRECT, GROUNDED, JUDGE, asked, is_grounding
from tests.integration.retrieval.graph.readings import DEMO
from tests.loopback.counting import provider_tokens
from tests.loopback.fixtures import forget_clients
from tests.loopback.openai_server import OpenAIServer, Reply, Request, says

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.xdist_group("use-ledger")]

State = EvaluationRun.State


@pytest.fixture(autouse=True)
def provider(configured_model: OpenAIServer, settings: Settings) -> Iterator[OpenAIServer]:
    from corpus.gateways import judge_model, llm

    llm._configured.cache_clear()
    judge_model._configured.cache_clear()
    settings.SCI_RAG_JUDGE_MODEL = JUDGE
    ledger.settle(20)
    ModelUse.objects.all().delete()
    configured_model.will_count(provider_tokens)
    configured_model.will_choose(replies)
    yield configured_model
    ledger.settle(20)
    forget_clients()


def replies(request: Request) -> Reply:
    """Answer in some sentences with a citation, and grade."""
    if request.body["model"] == "judge-model":
        return says(GROUNDED if is_grounding(request) else CORRECT)
    sentence = (
        "The trial found that the yield depended on the temperature and on how the straw was kept [1]. "
    )
    return says(sentence * 11)


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(evaluate, ["answers", *[str(each) for each in arguments], "--json"])


def questions() -> str:
    text = (DEMO / "anaerobic-digestion-primer.md").read_text(encoding="utf-8")[:900]
    return asked(more=f" {text}").name


def used(provider: OpenAIServer) -> int:
    return sum(map(sum, provider.counted))


@pytest.mark.parametrize("engine", ["model", "extractive"])
def test_the_estimate_is_within_a_fifth_of_what_the_provider_counts(
    provider: OpenAIServer, engine: str, tmp_path: Path
) -> None:
    name = questions()
    said: dict[str, Any] = json.loads(run(name, "--engine", engine, "--dry-run").stdout)["estimate"]
    assert (provider.requests, EvaluationRun.objects.count()) == ([], 0)

    ended = run(name, "--engine", engine, "--out", tmp_path)

    assert ended.exit_code == 0, ended.output
    assert said["calls"] == len(provider.requests)
    assert abs(said["tokens"] - used(provider)) <= 0.2 * used(provider)


def test_the_cap_stops_between_questions_and_a_higher_one_lets_the_run_go_on(
    provider: OpenAIServer, tmp_path: Path
) -> None:
    name = questions()

    stopped = run(name, "--engine", "model", "--max-tokens", "9000", "--out", tmp_path)

    assert stopped.exit_code == 3, stopped.output
    assert "Stopped at the cap" in stopped.stderr
    kept = EvaluationRun.objects.get()
    assert (kept.state, list(tmp_path.iterdir())) == (State.CAPPED, [])
    assert kept.tokens_used == used(provider) >= 9000
    # No question is left half done.
    assert kept.done == 2 * AnswerOutcome.objects.count() < kept.planned
    refused = run("--resume", str(kept.pk), "--max-tokens", "9000")
    assert refused.exit_code == 1
    assert "cannot go on" in refused.stderr
    before = len(provider.requests)

    ended = run("--resume", str(kept.pk), "--max-tokens", "900000", "--out", tmp_path)

    assert ended.exit_code == 0, ended.output
    kept.refresh_from_db()
    assert (kept.state, kept.done) == (State.FINISHED, kept.planned)
    assert kept.calls_made == len(provider.requests) > before
    assert kept.tokens_used == used(provider)
    assert ledger.settle(20)
    rows = dict(ModelUse.objects.values_list("purpose", "calls"))
    assert rows == {"answer": 6, "judging": 12}
