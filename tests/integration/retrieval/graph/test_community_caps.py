"""What summaries of communities come to is said before; a cap stops the build and the next takes over."""

import json
from collections.abc import Iterator

import pytest
from click.testing import CliRunner, Result

from corpus.usage import ledger
from corpus.usage.models import ModelUse
from retrieval.cli_graph import graph
from retrieval.graph.communities.queries import current_build_of
from retrieval.models import Community
from tests.integration.retrieval.graph.grouping import paper
from tests.loopback.counting import provider_tokens
from tests.loopback.fixtures import forget_clients
from tests.loopback.openai_server import OpenAIServer, Reply, Request, says

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.xdist_group("use-ledger")]

WORDS = ("straw", "methane", "digestate", "biochar", "soil", "water", "sludge", "heat", "ash")


def summarised(request: Request) -> Reply:
    """Say something of the first name that is asked about, about as long as a summary is."""
    name = next(word for word in WORDS if f"- {word}" in request.prompt)
    text = " ".join(
        [f"The sources say of {name} that it acts on the others, and describe how that was seen."] * 5
    )
    return says(json.dumps({"summary": text}))


@pytest.fixture(autouse=True)
def provider(configured_model: OpenAIServer) -> Iterator[OpenAIServer]:
    from corpus.gateways import llm

    llm._configured.cache_clear()
    ledger.settle(20)
    ModelUse.objects.all().delete()
    configured_model.will_count(provider_tokens)
    configured_model.will_choose(summarised)
    for start in range(0, len(WORDS), 3):
        group = WORDS[start : start + 3]
        # Sentences as long as those that quotes are taken from.
        paper(f"On {group[0]}", group, says="acts, as every trial of the last ten years has shown, on")
    yield configured_model
    ledger.settle(20)
    forget_clients()


def run(*arguments: str) -> Result:
    return CliRunner().invoke(graph, ["communities", "--scope", "open", "--json", *arguments])


def test_the_estimate_is_within_a_fifth_and_a_dry_run_asks_nobody(provider: OpenAIServer) -> None:
    said = json.loads(run("--dry-run").stdout)["estimate"]
    assert (provider.requests, Community.objects.count()) == ([], 0)

    assert run().exit_code == 0

    used = sum(map(sum, provider.counted))
    assert said["calls"] == len(provider.requests) == 3
    assert abs(said["tokens"] - used) <= 0.2 * used


def test_the_cap_stops_the_build_and_the_next_writes_only_what_is_missing(provider: OpenAIServer) -> None:
    stopped = run("--max-tokens", "500")

    assert stopped.exit_code == 3, stopped.output
    assert "Stopped at the cap" in stopped.stderr
    assert json.loads(stopped.stdout)["scopes"][0]["stopped"]
    assert current_build_of("open") is None
    asked = len(provider.requests)
    assert 1 <= asked < 3

    ended = run("--max-tokens", "50000")

    assert ended.exit_code == 0, ended.output
    (scope,) = json.loads(ended.stdout)["scopes"]
    assert (scope["kept"], scope["stopped"], len(provider.requests)) == (asked, "", 3)
    assert current_build_of("open") is not None


def test_quotes_need_no_cap(provider: OpenAIServer) -> None:
    ended = run("--no-llm", "--max-tokens", "1")

    assert ended.exit_code == 0, ended.output
    assert provider.requests == []
