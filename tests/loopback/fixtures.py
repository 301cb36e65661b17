"""Fixtures of the loopback servers, shared through tests/conftest.py."""

import socket
import threading
from collections.abc import Iterator

import pytest
from pytest_django.fixtures import Settings

from tests.loopback.oidc_server import CLIENT, SECRET, OidcServer
from tests.loopback.openai_server import OpenAIServer

# Looked for in logs, errors, pages and rows: a provider's key may never get there.
KEY_CANARY = "sk-canary-5f1d0c7ab3e94c6d"


def forget_clients() -> None:
    """Close the connections litellm keeps: left to the collector, they would fail some later test."""
    from corpus.gateways.litellm_library import litellm

    library = litellm()
    library.in_memory_llm_clients_cache.flush_cache()
    library.client_session.close()
    # The next call sets it up anew, with connections of its own.
    litellm.cache_clear()


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


@pytest.fixture
def sign_in_provider(settings: Settings) -> Iterator[OidcServer]:
    """A sign-in provider, set as the site's."""
    from corpus.gateways import oidc

    with OidcServer() as server:
        settings.SCI_RAG_OIDC_ISSUER = server.issuer
        settings.SCI_RAG_OIDC_CLIENT_ID = CLIENT
        settings.SCI_RAG_OIDC_CLIENT_SECRET = SECRET
        settings.SCI_RAG_OIDC_HOSTS = [server.host]
        settings.SCI_RAG_OIDC_NAME = "Lab Login"
        yield server
    oidc.forget()


@pytest.fixture
def trap() -> Iterator[tuple[int, list[str]]]:
    """A port on the loopback range that counts who connects."""
    listening, caught, stopping = socket.create_server(("127.0.0.1", 0)), [], threading.Event()
    listening.settimeout(0.05)

    def listen() -> None:
        while not stopping.is_set():
            try:
                connected, _ = listening.accept()
            except TimeoutError:
                continue
            caught.append("connected")
            connected.close()

    thread = threading.Thread(target=listen)
    thread.start()
    yield listening.getsockname()[1], caught
    stopping.set()
    thread.join()
    listening.close()
