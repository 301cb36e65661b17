"""Every caller of a model against everything that its provider can do wrong.

Each cell ends in time with a name of its own or with what the caller does without a model; nothing fails by
accident, nothing is asked for more than twice, no key is told, and no failure of a judge is a grade.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from pytest_django.fixtures import Settings

from answers import compression, engine
from answers.condensing import Outcome
from answers.models import Answer
from corpus.domain_profile import CompressionProfile
from corpus.egress import NOTHING_HELD
from corpus.gateways import llm
from corpus.gateways.embedding import EmbeddingError
from corpus.gateways.embedding.hosted import HostedEmbedder
from corpus.gateways.llm import LiteLLMChat, ModelError
from corpus.prompt_files import prompt_file
from corpus.scope import scope
from corpus.usage.purposes import Purpose
from evaluation.judging import passes
from evaluation.judging.prompts import Source
from retrieval.graph import question_names
from retrieval.layers import hyde
from retrieval.layers.base import LayerRequest, Version
from retrieval.rerank import ModelReranker, RerankFailed
from tests.factories.corpus import DocumentFactory
from tests.integration.answers.conftest import STRAW, passages
from tests.loopback.fixtures import KEY_CANARY, forget_clients
from tests.loopback.openai_server import DIMENSIONS, OpenAIServer, Reply, says
from tests.loopback.provider_faults import FINE, PLACES, ProviderFault, chat, transport

pytestmark = pytest.mark.django_db(transaction=True)

SECONDS = 1.5
# What the library and the database need beside the deadline, on a machine that does other things too.
GRACE = 2.5
QUESTION = "What is the methane yield of rice straw?"
FEWEST = 237


@dataclass(frozen=True)
class Caller:
    """A way to ask a model: `good` is what it takes; `call` returns the code of what went wrong, or FINE."""

    good: str
    call: Callable[[], str]


def _answer() -> str:
    if not Answer.objects.exists():
        passages(DocumentFactory(title="Methane from rice straw"), STRAW)
    row = engine.answer(question=QUESTION, requested=scope(), by=None, engine="model")
    assert row.state in {"done", "failed", "partial"}
    assert row.sources.exists(), "the sources are kept whatever the model does"
    return row.error or FINE


def _hyde() -> str:
    version = Version(1, f"all-MiniLM-L6-v2@{DIMENSIONS}", DIMENSIONS)
    request = LayerRequest(QUESTION, scope(), 8, 10, version, style="")
    return _code(lambda: hyde.HydeLayer().prepare(request))


def _names() -> str:
    return _code(lambda: question_names.named_by_model(QUESTION))


def _rerank() -> str:
    model = llm.fast_model()
    assert model is not None
    grade = ModelReranker(model).grades
    return _code(lambda: grade(QUESTION, ["One.", "Two."], carries=NOTHING_HELD, seconds=SECONDS))


def _compress() -> str:
    model = llm.fast_model()
    assert model is not None
    wanted = CompressionProfile(seconds=SECONDS)
    work = compression._Work(QUESTION, model, prompt_file("compress"), wanted)  # one passage of it
    item: Any = SimpleNamespace(title="Straw", body=STRAW, license_class="public")
    outcome = work.judged(item)[0].outcome
    return FINE if outcome in {Outcome.CONDENSED, Outcome.SET_ASIDE} else outcome.value


def _judge() -> str:
    judge = llm.chat_model()
    assert judge is not None
    source = Source(1, "Straw", "p. 1", STRAW, "public")
    reply = passes.grounding(judge=judge, question=QUESTION, answer="210 [1].", sources=[source])
    assert bool(reply.grades) == (not reply.error_code), "a failure is never a grade"
    return reply.error_code or FINE


def _code(call: Callable[[], object]) -> str:
    try:
        call()
    except ModelError as error:
        return error.code
    except RerankFailed as failed:
        return next((code for code, words in llm.MESSAGES.items() if words == str(failed)), "malformed")
    except EmbeddingError:
        return "empty"
    return FINE


GRADES = '{"groundedness": 2, "citation_accuracy": 2, "completeness": 2}'
CALLERS = {
    "answer": Caller("Rice straw yields 210 L/kg of volatile solids [1].", _answer),
    "hyde": Caller("Straw gave 210 L/kg of methane.", _hyde),
    "names": Caller('{"names": ["rice straw"]}', _names),
    "rerank": Caller('{"grades": [1, 2]}', _rerank),
    "compress": Caller('{"relevance": 9, "summary": "Rice straw was digested."}', _compress),
    "judge": Caller(GRADES, _judge),
}
# What a caller says of a reply that came whole and is not what it asked for.
OWN_WORDS = {"malformed", "empty", "not_json", "wrong_form"}


def _row(index: int, *values: float) -> dict[str, Any]:
    return {"object": "embedding", "index": index, "embedding": list(values)}


def _bad(*rows: dict[str, Any]) -> ProviderFault:
    return ProviderFault(frozenset({"failed"}), Reply(vectors=lambda _: list(rows)))


UNIT = [1.0, *[0.0] * 7]
VECTORS = {
    "wrong dimension": _bad(_row(0, 1.0), _row(1, 1.0)),
    "fewer": _bad(_row(0, *UNIT)),
    "more": _bad(_row(0, *UNIT), _row(1, *UNIT), _row(2, *UNIT)),
    "nan": _bad(_row(0, *[float("nan")] * 8), _row(1, *UNIT)),
    "zero": _bad(_row(0, *[0.0] * 8), _row(1, *UNIT)),
    "strings": _bad({"object": "embedding", "index": 0, "embedding": ["a"] * 8}, _row(1, *UNIT)),
    "numbered twice": _bad(_row(0, *UNIT), _row(0, *UNIT)),
    "reordered": ProviderFault(
        frozenset({FINE}), Reply(vectors=lambda _: [_row(1, *UNIT[::-1]), _row(0, *UNIT)])
    ),
    "slow": ProviderFault(frozenset({"failed"}), Reply(wait=SECONDS * 4)),
}
CHAT_CELLS = [(caller, fault) for caller, one in CALLERS.items() for fault in chat(one.good)]
VECTOR_CELLS = [*transport(), *VECTORS]
SAMPLE = [("judge", "500"), ("judge", "usage nan"), ("names", "cut"), ("rerank", "length"), ("hyde", "html")]


@pytest.fixture(scope="module", autouse=True)
def _close_clients() -> Iterator[None]:
    # What the library loads at its first call is not the provider's doing.
    with OpenAIServer() as server:
        server.will(says("Ready."))
        model = LiteLLMChat(model="openai/x", api_base=server.base_url, api_key="k")
        list(model.stream(system="", user="", purpose=Purpose.PROBE, carries=NOTHING_HELD))
    yield
    forget_clients()


@pytest.fixture
def provider(
    model_server: OpenAIServer, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> Iterator[OpenAIServer]:
    settings.SCI_RAG_LLM_MODEL = "openai/test-model"
    settings.SCI_RAG_LLM_API_BASE = model_server.base_url
    settings.SCI_RAG_LLM_API_KEY = KEY_CANARY
    monkeypatch.setattr("corpus.gateways.llm._PAUSE", 0.01)
    monkeypatch.setattr("corpus.gateways.llm._LONGEST_PAUSE", 0.01)
    for module, name in (
        (hyde, "MODEL_SECONDS"), (question_names, "MODEL_SECONDS"), (passes, "REPLY_SECONDS"),
    ):  # fmt: skip
        monkeypatch.setattr(module, name, SECONDS)
    monkeypatch.setattr("answers.writers.DEADLINE_SECONDS", SECONDS)
    yield model_server
    llm._configured.cache_clear()


def _placed(fault: ProviderFault, server: OpenAIServer) -> str:
    if fault.place == "tls":
        return server.base_url.replace("http://", "https://")
    return fault.place or server.base_url


def _settled(call: Callable[[], str], server: OpenAIServer, caplog: pytest.LogCaptureFixture) -> str:
    """Return what a call came to, having looked at what it took and what it told."""
    started = time.monotonic()
    code = call()
    assert time.monotonic() - started < SECONDS + GRACE
    assert len(server.requests) <= 2
    told = " ".join(
        record.getMessage() for record in caplog.records if not record.name.startswith(("httpcore", "httpx"))
    )
    assert KEY_CANARY not in told + code
    return code


def _chat_cell(
    caller: str, name: str, provider: OpenAIServer, settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    one = CALLERS[caller]
    fault = chat(one.good)[name]
    settings.SCI_RAG_LLM_API_BASE = _placed(fault, provider)
    provider.will(fault.reply or Reply())

    code = _settled(one.call, provider, caplog)

    if FINE in fault.codes:
        assert code == FINE
    else:
        assert code in fault.codes | (OWN_WORDS if "garbage" in fault.codes else set())


def test_there_are_as_many_cells_as_the_plan_asks_for() -> None:
    print(f"{len(CHAT_CELLS)} of chat and {len(VECTOR_CELLS)} of vectors")  # noqa: T201 - figures
    assert min(len(chat(one.good)) for one in CALLERS.values()) >= 40
    assert len(CHAT_CELLS) + len(VECTOR_CELLS) >= FEWEST
    assert set(PLACES) <= set(transport())


@pytest.mark.parametrize(("caller", "fault"), SAMPLE)
def test_a_sample_of_faults_ends_by_name(
    caller: str, fault: str, provider: OpenAIServer, settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    _chat_cell(caller, fault, provider, settings, caplog)


@pytest.mark.long
@pytest.mark.parametrize(("caller", "fault"), CHAT_CELLS)
def test_a_fault_of_chat_ends_by_name(
    caller: str, fault: str, provider: OpenAIServer, settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    _chat_cell(caller, fault, provider, settings, caplog)


@pytest.mark.long
@pytest.mark.parametrize("name", VECTOR_CELLS)
def test_a_fault_of_vectors_ends_by_name(
    name: str, model_server: OpenAIServer, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    caplog.set_level(logging.INFO)
    monkeypatch.setattr("corpus.gateways.embedding.hosted._PAUSE", 0.01)
    times = {"query": SECONDS, "document": SECONDS}
    monkeypatch.setattr("corpus.gateways.embedding.hosted._TIMEOUT", times)
    fault = (transport() | VECTORS)[name]
    model_server.will(fault.reply or Reply())
    embedder = HostedEmbedder(
        model="openai/test-embedding", dimensions=8, api_base=_placed(fault, model_server), api_key=KEY_CANARY
    )

    def embed() -> str:
        try:
            rows = embedder.embed(["one", "two"], task="query", carries=NOTHING_HELD)
        except EmbeddingError as error:
            return f"failed {error}{error!r}{error.__cause__}"
        assert rows.shape == (2, 8)
        assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-3)
        return FINE

    assert (_settled(embed, model_server, caplog) == FINE) == (FINE in fault.codes)


def test_a_client_that_is_made_anew_asks_again(provider: OpenAIServer) -> None:
    """The cells do not stand on a breaker that an earlier one opened."""
    assert isinstance(llm.chat_model(), LiteLLMChat)
    llm._configured.cache_clear()
    assert not llm.chat_model()._breaker.is_open  # type: ignore[union-attr]
