"""A judge for the tests of evaluation."""

from __future__ import annotations

import pytest
from pytest_django.fixtures import Settings

from tests.integration.evaluation.judging import JUDGE, judging
from tests.loopback.openai_server import OpenAIServer


@pytest.fixture
def judge(model_server: OpenAIServer, settings: Settings) -> OpenAIServer:
    """A judge beside the extractive engine, reached through the loopback server."""
    settings.SCI_RAG_JUDGE_MODEL = JUDGE
    settings.SCI_RAG_LLM_API_BASE = model_server.base_url
    settings.SCI_RAG_LLM_API_KEY = "sk-test"
    model_server.will_choose(judging())
    return model_server
