"""A small library with all that layers of retrieval need, and a model that does as each fault says."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from django.contrib.auth.models import User
from pytest_django.fixtures import Settings

from answers import compression, engine
from answers.models import Answer
from corpus.domain_profile import CompressionProfile, DomainProfile, RerankerProfile
from corpus.gateways import llm
from corpus.models import Document
from corpus.scope import RetrievalScope, scope
from retrieval import profiles, retriever
from retrieval.layers.base import LayerRequest, Session
from retrieval.retriever import retrieve
from retrieval.types import RankedList, RetrievalResult
from tests.integration.retrieval.conftest import statements  # noqa: F401 a fixture of whoever makes a world
from tests.integration.retrieval.corpora import add
from tests.integration.retrieval.graphs import gather, link
from tests.loopback.openai_server import OpenAIServer, Reply, Request, says

LAYERS = profiles.LAYERS
RERANK, COMPRESS, FUSION, ANSWER = "rerank", "compress", "fusion", "answer"
SCOPES = {"everything": scope(), "restricted": scope(license_classes=["public"])}
QUESTION = "How much methane does straw give?"
# Names nothing by itself: whoever finds something in the graph was told by the model.
UNNAMED = "Which residue gasified best?"
_FILLER = "The reactors were stirred by hand and fed once a day by two students of the institute. " * 3
STRAW = f"Straw gave 230 litres of methane per kilogram. {_FILLER}"
SILAGE = f"Silage gave 342 litres of methane, more than straw. {_FILLER}"
CLOSED = f"Straw of the closed trial at Calder gave 377 litres of methane. {_FILLER}"
NAMES = ("straw", "methane")
SECONDS = 0.5
# What the machine may take beside, and a tenth of the budget.
GRACE = 2.0
ANSWERED = "Straw gave 230 litres of methane per kilogram [1]."
SAYS = {
    "hyde": says("Straw gave 230 litres of methane."),
    "graph": says('{"names": ["straw"]}'),
    RERANK: says('{"grades": [1, 9]}'),
    COMPRESS: says('{"relevance": 9, "summary": "It was measured."}'),
    ANSWER: says(ANSWERED),
}
# How a request is told from the others.
_ORDERS = {
    "hyde": "You write one passage",
    "graph": "You list the things",
    RERANK: "You grade how well",
    COMPRESS: "You condense passages",
    ANSWER: "You write short answers",
}


@dataclass
class World:
    """A small library with everything that layers need, and a model that does as each cell says."""

    server: OpenAIServer
    patch: pytest.MonkeyPatch
    statements: list[str]
    asker: User
    wanted: RetrievalScope
    documents: dict[str, Document]
    instead: dict[str, Reply] = field(default_factory=dict)

    def reply(self, request: Request) -> Reply:
        """Return what the model says to a request."""
        purpose = purpose_of(request)
        return self.instead.get(purpose) or SAYS[purpose]

    def asked(self, purpose: str) -> int:
        """Return how often the model was asked for a purpose."""
        return sum(purpose_of(request) == purpose for request in self.server.requests)

    def search(self, *layers: str, question: str = QUESTION, reranker: str = "none") -> RetrievalResult:
        """Search by these layers, by all of them where none is named."""
        switches = {name: not layers or name in layers for name in LAYERS}
        found = retrieve(
            question=question, scope=self.wanted, profile="deep", switches=switches, reranker=reranker
        )
        self.tells_nothing(json.dumps(found.as_dict()))
        return found

    def answer(self, **options: Any) -> Answer:
        """Ask, and return what was stored."""
        self.connect()
        row = engine.answer(question=QUESTION, requested=self.wanted, by=None, engine="model", **options)
        self.tells_nothing(row.text + str(list(row.sources.values())))
        return row

    def connect(self) -> None:
        """Close what the last cell's clients hold, so that each asks anew."""
        llm._configured.cache_clear()

    def tells_nothing(self, told: str) -> None:
        """Fail where something is told that the scope does not allow."""
        if self.wanted.license_classes is not None:
            assert "Calder" not in told
            assert all("Calder" not in request.prompt for request in self.server.requests)

    def profile(self, name: str, seconds: float) -> None:
        """Give the layers of a way to search so much time."""
        self.patch.setitem(profiles.PROFILES, name, profiles.Profile(name, LAYERS, seconds))

    def break_layer(self, name: str, act: Callable[[Session], Sequence[int]]) -> None:
        """Have a layer do this in place of its statements, with all else as it is."""
        real = retriever._LAYERS[name]

        class Broken:
            def __init__(self) -> None:
                self.name = name

            def prepare(self, request: LayerRequest) -> Any:
                return real.prepare(request)

            def candidates(self, _request: LayerRequest, _prepared: Any, session: Session) -> RankedList:
                return RankedList(name, tuple(act(session)))

        self.patch.setitem(retriever._LAYERS, name, Broken())


def purpose_of(request: Request) -> str:
    """Return what the model is asked for."""
    return next(purpose for purpose, order in _ORDERS.items() if order in request.prompt)


@pytest.fixture(name="make_world")
def maker_of_worlds(
    configured_model: OpenAIServer,
    monkeypatch: pytest.MonkeyPatch,
    statements: list[str],  # noqa: F811
    asker: User,
    settings: Settings,
) -> Iterator[Callable[[str], World]]:
    settings.SCI_RAG_FAST_MODEL = "openai/fast-model"
    monkeypatch.setattr("corpus.gateways.llm._PAUSE", 0.01)
    monkeypatch.setattr("corpus.gateways.llm._LONGEST_PAUSE", 0.01)
    domain = DomainProfile(
        reranker=RerankerProfile(kind="model", seconds=SECONDS * 4),
        compression=CompressionProfile(seconds=SECONDS * 4),
    )
    for module in (retriever, compression):
        monkeypatch.setattr(module, "active_profile", lambda: domain)

    def make(name: str) -> World:
        wanted = SCOPES[name]
        documents = {
            title: add(title, [body], license_class=license_class)
            for title, body, license_class in (
                ("Straw", STRAW, "public"),
                ("Silage", SILAGE, "public"),
                ("Closed", CLOSED, "restricted"),
            )
        }
        for document in documents.values():
            link(document, NAMES)
        gather(wanted, NAMES)
        world = World(configured_model, monkeypatch, statements, asker, wanted, documents)
        configured_model.will_choose(world.reply)
        return world

    yield make
    llm._configured.cache_clear()
