"""Many requests at the same time: every one is served, and every connection comes back."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection

from corpus.scope import RetrievalScope, scope
from retrieval.retriever import retrieve
from tests.integration.retrieval.corpora import add

pytestmark = pytest.mark.django_db(transaction=True)

SENTENCES = (
    "Rice straw gave 230 litres of methane per kilogram.",
    "Biochar at 20 t/ha raised the yield of maize.",
    "IL-6R was blocked and beta-catenin fell.",
)
SCOPES = (scope(), scope(exclude_retracted=True), scope(license_classes=["public"]))


def ask(number: int, profile: str = "interactive") -> tuple[str, tuple[str, ...], int]:
    wanted: RetrievalScope = SCOPES[number % len(SCOPES)]
    try:
        result = retrieve(question=f"What gave methane in trial {number}?", scope=wanted, profile=profile)
    except Exception as error:  # noqa: BLE001 - the test names whatever it was
        return type(error).__name__, (), 0
    finally:
        connection.close()
    return "", result.degraded, len(result.items)


def all_came_back() -> bool:
    pool = connection.pool
    connection.close()
    stats = pool.get_stats()
    waiting, refused = stats.get("requests_waiting", 0), stats.get("requests_errors", 0)
    return bool(stats["pool_available"] == stats["pool_size"] and not waiting and not refused)


@pytest.mark.parametrize(
    ("requests", "profile", "askers"),
    [
        (150, "interactive", 50),
        (10, "deep", 5),
        pytest.param(1000, "interactive", 50, marks=pytest.mark.long),
    ],
)
def test_every_request_is_served_and_every_connection_comes_back(
    requests: int, profile: str, askers: int
) -> None:
    add("Paper", SENTENCES, license_class="public")

    with ThreadPoolExecutor(askers) as executor:
        outcomes = set(executor.map(ask, range(requests), [profile] * requests))

    assert outcomes == {("", (), len(SENTENCES))}
    assert all_came_back()
