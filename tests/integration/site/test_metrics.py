"""`/metrics`: for whoever has the token, and without a word that somebody wrote."""

from __future__ import annotations

import json
from pathlib import Path

import httpx
import pytest
from django.contrib.auth.models import User
from django.test import Client
from pytest_django.fixtures import Settings

from answers import engine
from corpus.scope import RetrievalScope
from tests.factories.corpus import ChunkFactory
from tests.loopback import served

TOKEN = "t" * 40
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def counted(settings: Settings, tmp_path: Path) -> None:
    settings.VAR_DIR = tmp_path
    settings.SCI_RAG_METRICS_TOKEN = TOKEN


@pytest.mark.parametrize("given", ["", "Bearer", f"Bearer {TOKEN}x", f"Basic {TOKEN}", "Bearer é"])
def test_without_the_token_there_is_no_such_page(counted: None, client: Client, given: str) -> None:
    missing = client.get("/no-such-page")
    response = client.get("/metrics", headers={"Authorization": given})

    assert (response.status_code, response.content) == (404, missing.content)


def test_as_long_as_no_token_is_set_there_is_no_page_for_an_empty_one(client: Client) -> None:
    assert client.get("/metrics", headers={"Authorization": "Bearer "}).status_code == 404


def test_the_numbers_tell_of_requests_searches_answers_and_the_queue(
    counted: None, librarian: User, caplog: pytest.LogCaptureFixture
) -> None:
    ChunkFactory(document__title="canary-title", body="The canary-passage says that straw holds water.")
    with served.site() as address:
        engine.answer(question="What holds canary-question water?", requested=RetrievalScope(), by=None)
        httpx.get(f"{address}/documents/canary-path")
        httpx.get(f"{address}/sign-in/?q=canary-query")
        httpx.get(f"{address}/healthz")
        text = httpx.get(f"{address}/metrics", headers={"Authorization": f"Bearer {TOKEN}"}).text

    assert 'sci_rag_requests_total{route="login",method="GET",status="200"} 1' in text
    assert 'sci_rag_requests_total{route="none",method="GET",status="404"} 1' in text
    assert 'sci_rag_requests_total{route="healthz",method="GET",status="200"} 1' in text
    assert 'sci_rag_layers_total{layer="keyword",status="ok"} 1' in text
    assert 'sci_rag_answers_total{engine="extractive"' in text
    assert 'sci_rag_documents{state="ready"} 1' in text
    assert 'sci_rag_jobs{kind="parse",state="queued"} 0' in text
    assert "sci_rag_database_up 1" in text
    assert "canary" not in text
    lines = [record.msg for record in caplog.records if isinstance(record.msg, dict)]
    noted = [line for line in lines if line["event"] == "request.finished"]
    assert [(line["route"], line["status"]) for line in noted] == [("none", 404), ("login", 200)]
    assert all(len(line["request_id"]) == 32 and line["ms"] > 0 for line in noted)
    assert "canary" not in json.dumps(noted)
