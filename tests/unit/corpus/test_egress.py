"""Which licence classes may go where: the table alone, and what of the code may send anything at all."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from corpus.egress import EVERY_CLASS, EgressPolicy, Endpoint, Rule
from corpus.gateways import border
from corpus.rights import LicenseClass
from corpus.usage.purposes import Purpose

ROOT = Path(__file__).resolve().parents[3]
OPEN = {LicenseClass.PUBLIC, LicenseClass.OPEN_COMMERCIAL, LicenseClass.OPEN_NONCOMMERCIAL}
PROVIDERS = ("", "https://api.example.org/v1", "http://10.0.0.7:8080/v1", "http://llm.lab.example/v1")


@pytest.fixture(autouse=True)
def _no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


@pytest.mark.parametrize("address", PROVIDERS)
@pytest.mark.parametrize("purpose", Purpose)
def test_by_default_what_is_restricted_or_unknown_leaves_for_nobody(address: str, purpose: Purpose) -> None:
    assert EgressPolicy().allowed(border.endpoint("openai/x", address), purpose) == OPEN


@pytest.mark.parametrize(
    "address",
    ["http://127.0.0.1:8080/v1", "http://localhost:11434", "http://[::1]:1234/v1", "http://127.9.9.9/"],
)
def test_this_machine_may_read_every_class(address: str) -> None:
    assert EgressPolicy().allowed(border.endpoint("openai/x", address), Purpose.ANSWER) == EVERY_CLASS


@pytest.mark.parametrize(
    "address",
    [
        "http://127.0.0.1.example.org/v1",
        "http://localhost.example.org/v1",
        "http://127.0.0.1@example.org/v1",
        "http://example.org/127.0.0.1",
        "http://2130706433/v1",
        "http://0x7f.1/v1",
        "http://[::ffff:10.0.0.1]/v1",
        "http://0.0.0.0:8080/v1",
        "http://[127.0.0.1/v1",
        "http://127.0.0.1:port/v1",
        "127.0.0.1:8080",
        "",
    ],
)
def test_what_only_looks_like_this_machine_is_somebody_else(address: str) -> None:
    assert not EgressPolicy().is_local(border.endpoint("openai/x", address))


def test_a_proxy_between_makes_a_server_of_this_machine_somebody_else(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://proxy.example.org:3128")

    assert not EgressPolicy().is_local(border.endpoint("openai/x", "http://127.0.0.1:8080/v1"))

    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    assert EgressPolicy().is_local(border.endpoint("openai/x", "http://127.0.0.1:8080/v1"))


def test_servers_of_our_own_are_named_with_their_port_or_without() -> None:
    policy = EgressPolicy(local=("llm.lab.example", "10.0.0.7:8080"))

    assert policy.is_local(Endpoint("openai/x", "llm.lab.example", 443))
    assert policy.is_local(Endpoint("openai/x", "10.0.0.7", 8080))
    assert not policy.is_local(Endpoint("openai/x", "10.0.0.7", 9090))
    # Something on this machine that passes text on.
    assert not policy.is_local(Endpoint("openai/x", "127.0.0.1", 4000))


def test_the_first_rule_that_fits_decides() -> None:
    closed = (LicenseClass.RESTRICTED,)
    policy = EgressPolicy(
        rules=(
            Rule(provider="azure", purposes=(Purpose.ANSWER,), classes=(*OPEN, *closed)),
            Rule(provider="azure", classes=()),
            Rule(provider="openai/small", classes=(LicenseClass.PUBLIC,)),
        )
    )

    assert LicenseClass.RESTRICTED in policy.allowed(Endpoint("azure/gpt"), Purpose.ANSWER)
    assert policy.allowed(Endpoint("azure/gpt"), Purpose.JUDGING) == set()
    assert policy.allowed(Endpoint("openai/small"), Purpose.ANSWER) == {LicenseClass.PUBLIC}
    assert policy.allowed(Endpoint("openai/large"), Purpose.ANSWER) == OPEN


# Where a request to a model is made. A new one enters here, with what it carries.
CALLS = {
    "answers/compression.py: complete": "the passage's class",
    "answers/standing_alone.py: complete": "nothing held: the asker's questions",
    "answers/writers.py: stream": "the classes of the sources in the prompt",
    "answers/writers.py: embed": "as the line below",
    "answers/writers.py: partial": "to its `_vectors`: the classes of the sources quoted from",
    "corpus/campaigns/screening.py: complete": "nothing held: what an open index says of a work",
    "corpus/gateways/embedding/query_cache.py: embed": "nothing held: a question",
    "corpus/gateways/llm.py: stream": "handed on",
    "corpus/intake.py: embed": "the class that the document begins with",
    "corpus/reembedding.py: embed": "the classes of the batch's documents",
    "corpus/reparsing.py: embed": "the document's class",
    "corpus/reuse.py: embed": "handed on",
    "evaluation/drafting/manifest.py: complete": "unknown: a file that nobody has said anything about",
    "evaluation/drafting/ontology.py: complete": "the passages' classes",
    "evaluation/drafting/proposing.py: complete": "the passage's class",
    "evaluation/judging/passes.py: complete": "the classes of the sources, or of what the answer was made of",
    "retrieval/graph/communities/building.py: embed": "the classes of the communities' documents",
    "retrieval/graph/communities/summarising.py: complete": "the classes of the community's documents",
    "retrieval/graph/extraction/model.py: complete": "the document's class",
    "retrieval/graph/question_names.py: complete": "nothing held: a question",
    "retrieval/graph/resolution/asking.py: complete": "the classes of the sentences' documents",
    "retrieval/layers/hyde.py: complete": "nothing held: a question",
    "retrieval/layers/hyde.py: embed": "nothing held: what a model made of a question",
    "retrieval/rerank.py: complete": "the classes of the passages",
    "retrieval/retriever.py: grades": "the classes of the passages",
    "sci_rag_site/health/probes.py: embed": "nothing held",
    "sci_rag_site/health/probes.py: stream": "nothing held",
    "sci_rag_site/warming.py: embed": "nothing held",
}


def _calls() -> Iterator[tuple[str, ast.Call]]:
    for package in ("answers", "corpus", "evaluation", "retrieval", "sci_rag_site"):
        for path in sorted((ROOT / package).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Call):
                    name = getattr(node.func, "attr", None) or getattr(node.func, "id", "")
                    yield f"{path.relative_to(ROOT)}: {name}", node


def test_every_request_to_a_model_says_what_it_carries() -> None:
    carrying = {place for place, call in _calls() if "carries" in {word.arg for word in call.keywords}}

    handed_on = {
        "evaluation/judging/running.py: correctness": "to passes",
    }
    assert carrying == set(CALLS) | set(handed_on)


def test_the_library_that_sends_is_called_behind_the_border_alone() -> None:
    sending = {
        place
        for place, call in _calls()
        if isinstance(call.func, ast.Attribute) and ast.unparse(call.func.value) == "litellm()"
    }

    assert {place for place in sending if not place.startswith("corpus/gateways/costs.py")} == {
        "corpus/gateways/embedding/hosted.py: embedding",
        "corpus/gateways/model_call.py: completion",
    }
    made = {place for place, _ in _calls() if place.endswith(": ModelCall")}
    assert made == {"corpus/gateways/llm.py: ModelCall"}
