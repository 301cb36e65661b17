"""Prices of the settings are read strictly: a wrong one is named, and never taken for nothing."""

from decimal import Decimal

import pytest
from pytest_django.fixtures import Settings

from corpus.checks import prices_can_be_read
from corpus.usage.prices import InvalidPrice, read


def test_a_price_is_for_a_million_tokens_of_prompts_and_of_replies() -> None:
    prices = read([" openai/a=b = 0.15 / 0.60 ", "local/free=0/0"])

    assert prices["openai/a=b"].cost(2_000_000, 1_000_000) == Decimal("0.90")
    assert prices["local/free"].cost(10, 10) == 0


@pytest.mark.parametrize(
    "entry", ["", "model", "=1/2", "m=1", "m=1/", "m=a/1", "m=-1/1", "m=NaN/1", "m=1/inf", "m=1/2/3"]
)
def test_what_is_no_price_is_named(entry: str, settings: Settings) -> None:
    with pytest.raises(InvalidPrice, match="MODEL=PROMPT/REPLY"):
        read(["fine=1/1", entry])

    settings.SCI_RAG_MODEL_PRICES = [entry]
    (problem,) = prices_can_be_read(None)
    assert problem.id == "corpus.E012"


def test_a_cap_below_nothing_is_refused(settings: Settings) -> None:
    settings.SCI_RAG_MAX_TOKENS_PER_RUN = -1

    (problem,) = prices_can_be_read(None)

    assert problem.id == "corpus.E013"
