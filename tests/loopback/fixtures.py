"""Fixtures of the loopback servers, shared through tests/conftest.py."""

from collections.abc import Iterator

import pytest
from pytest_django.fixtures import Settings

from tests.loopback.openai_server import OpenAIServer

# Looked for in logs, errors, pages and rows: a provider's key may never get there.
KEY_CANARY = "sk-canary-5f1d0c7ab3e94c6d"


@pytest.fixture
def model_server() -> Iterator[OpenAIServer]:
    """A model provider that says what the test queues with `will`."""
    with OpenAIServer() as server:
        yield server


@pytest.fixture
def configured_model(model_server: OpenAIServer, settings: Settings) -> OpenAIServer:
    """The same, set as the site's language model."""
    settings.SCI_RAG_LLM_MODEL = "openai/test-model"
    settings.SCI_RAG_LLM_API_BASE = model_server.base_url
    settings.SCI_RAG_LLM_API_KEY = KEY_CANARY
    return model_server
