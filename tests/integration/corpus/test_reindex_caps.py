"""Moving to vectors that are made elsewhere: said beforehand, stopped at a cap, gone on with."""

import json
from collections.abc import Iterator

import pytest
from click.testing import CliRunner, Result
from pytest_django.fixtures import Settings

from corpus.cli_embed import embed
from corpus.gateways.embedding import forget
from corpus.models import ChunkEmbedding
from corpus.usage import ledger
from corpus.usage.models import ModelUse
from tests.integration.retrieval.corpora import add
from tests.loopback.counting import provider_tokens
from tests.loopback.fixtures import KEY_CANARY, forget_clients
from tests.loopback.openai_server import OpenAIServer, says

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.xdist_group("use-ledger")]

MODEL = "openai/test-embedding"


@pytest.fixture(autouse=True)
def provider(model_server: OpenAIServer, settings: Settings) -> Iterator[OpenAIServer]:
    for number in range(10):
        words = f"Plot {number} had stover that was kept in the open for {number} months, and lost matter."
        add(
            f"Trial {number}",
            [f"{words} {words} Sample {sample}." for sample in range(20)],
            license_class="public",
        )
    settings.SCI_RAG_EMBEDDING_MODEL = MODEL
    settings.SCI_RAG_EMBEDDING_DIMENSIONS = 384
    settings.SCI_RAG_EMBEDDING_API_BASE = model_server.base_url
    settings.SCI_RAG_EMBEDDING_API_KEY = KEY_CANARY
    forget()
    ledger.settle(20)
    ModelUse.objects.all().delete()
    model_server.will_count(provider_tokens)
    model_server.will(says())
    yield model_server
    ledger.settle(20)
    forget()
    forget_clients()


def reindex(*arguments: str) -> Result:
    return CliRunner().invoke(embed, ["reindex", "--json", *arguments])


def test_the_estimate_is_within_a_fifth_and_a_dry_run_asks_nobody(provider: OpenAIServer) -> None:
    said = json.loads(reindex("--dry-run").stdout)["estimate"]
    assert provider.requests == []

    ended = reindex()

    assert ended.exit_code == 0, ended.output
    used = sum(map(sum, provider.counted))
    assert said["calls"] == len(provider.requests) == 4
    assert abs(said["tokens"] - used) <= 0.2 * used
    assert ledger.settle(20)
    row = ModelUse.objects.get()
    assert (row.purpose, row.model, row.calls) == ("passage_vectors", MODEL, 4)
    assert (row.prompt_tokens, row.completion_tokens) == (used, 0)


def test_the_cap_stops_between_batches_and_the_next_call_goes_on(provider: OpenAIServer) -> None:
    stopped = reindex("--max-tokens", "100")

    assert stopped.exit_code == 3, stopped.output
    assert "Stopped at the cap" in stopped.stderr
    report = json.loads(stopped.stdout)
    assert (report["embedded"], report["missing"], report["is_active"]) == (128, 72, False)

    ended = reindex("--max-tokens", "1000000")

    assert ended.exit_code == 0, ended.output
    assert json.loads(ended.stdout)["is_active"] is True
    assert ChunkEmbedding.objects.filter(version__name=f"{MODEL}@384").count() == 200
    assert len(provider.requests) == 4
