"""Scope precedes ranking: what one may not see changes nothing in what one gets.

Every example stores a corpus, retrieves, deletes the ineligible documents and retrieves again. The two
results must be the same to the byte: ids, scores, counts, traces, fingerprint.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any
from zlib import crc32

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from corpus.gateways.embedding import forget_queries
from corpus.models import Document, Source
from corpus.rights import ALL_CLASSES
from corpus.scope import RetrievalScope, scope
from retrieval.graph.community_models import CommunityBuild
from retrieval.layers import keyword, vector
from retrieval.profiles import LAYERS
from retrieval.retriever import retrieve
from tests.factories.corpus import SourceFactory
from tests.integration.retrieval import onnx_file
from tests.integration.retrieval.corpora import add
from tests.integration.retrieval.graphs import gather, link
from tests.loopback.fixtures import forget_clients
from tests.loopback.openai_server import OpenAIServer, Reply, Request, says

pytestmark = pytest.mark.django_db(transaction=True)

SENTENCES = (
    "Rice straw gave 230 litres of methane per kilogram of volatile solids.",
    "Biochar at 20 t/ha raised the yield of maize.",
    "IL-6R was blocked and β-catenin fell.",
    "PM2.5 rose after the burning of stubble.",
    "The soil held more water after two years.",
    "Samples were stored at \u221280 °C.",
    "Methane yield of wheat straw, ensiled and dry.",
    "Das Stroh wurde im Herbst gesammelt.",
    "An unrelated remark about libraries.",
)
# What the knowledge graph of these corpora speaks of.
NAMES = ("straw", "methane", "volatile solids", "biochar", "maize", "soil", "water", "stubble")
QUESTIONS = (
    "How much methane does rice straw give?",
    "biochar yield",
    "stored at -80 C",
    '"methane yield"',
    "what did il6r and beta-catenin do",
    "Stroh im Herbst",
    "biochar yield of maize as of 1995",
    "methane before the revision, versus biochar",
)


@dataclass(frozen=True)
class Row:
    """What decides about a document, so that eligibility can be worked out without the code under test."""

    license_class: str
    bucket: str
    year: int | None
    retracted: bool
    superseded: bool
    language: str
    bodies: tuple[str, ...]
    author: str
    journal: str


rows = st.builds(
    Row,
    license_class=st.sampled_from([str(c) for c in ALL_CLASSES]),
    bucket=st.sampled_from(["local", "campaign:a"]),
    year=st.sampled_from([None, 1990, 2020]),
    retracted=st.booleans(),
    superseded=st.booleans(),
    language=st.sampled_from(["en", "en", "de", "xx"]),
    bodies=st.lists(st.sampled_from(SENTENCES), min_size=1, max_size=3).map(tuple),
    author=st.sampled_from(["Ada Lovelace", "Ada Lovelace", "Émilie du Châtelet"]),
    journal=st.sampled_from(["Journal of Biochar", "Journal of Biochar", "Acta"]),
)
scopes = st.builds(
    scope,
    license_classes=st.none() | st.sets(st.sampled_from([str(c) for c in ALL_CLASSES]), min_size=1),
    buckets=st.none() | st.just(["local"]),
    year_min=st.none() | st.just(2000),
    authors=st.none() | st.none() | st.just(["ada lovelace"]),
    journals=st.none() | st.none() | st.just(["journal of biochar"]),
    as_of=st.none() | st.just("2000"),
    exclude_retracted=st.booleans(),
)


def allows(wanted: RetrievalScope, row: Row) -> bool:
    """Decide eligibility by the words of the specification, in Python."""
    return (
        (wanted.license_classes is None or row.license_class in wanted.license_classes)
        and (wanted.buckets is None or row.bucket in wanted.buckets)
        and (wanted.year_min is None or (row.year is not None and row.year >= wanted.year_min))
        and (wanted.authors is None or row.author == "Ada Lovelace")
        and (wanted.journals is None or row.journal == "Journal of Biochar")
        and not (wanted.exclude_retracted and row.retracted)
    )


# What hangs together in it.
GROUPS = (("straw", "methane", "volatile solids"), ("biochar", "maize", "soil", "water"))


def store(corpus: list[Row], wanted: RetrievalScope) -> list[Document]:
    documents = [
        add(
            f"Document {number}",
            row.bodies,
            heading=f"Document {number}",
            language=row.language,
            license_class=row.license_class,
            bucket=row.bucket,
            year=row.year,
            authors=[row.author],
            journal=row.journal,
            source=SourceFactory(is_retracted=row.retracted),
        )
        for number, row in enumerate(corpus)
    ]
    for number, (document, row) in enumerate(zip(documents, corpus, strict=True)):
        if row.superseded and len(documents) > 1:
            document.status = Document.Status.SUPERSEDED
            document.superseded_by = documents[number - 1]
            document.save()
        link(document, NAMES)
    gather(wanted, *GROUPS)
    return documents


def outcome(question: str, wanted: RetrievalScope, **options: Any) -> dict[str, Any]:
    """Return a whole result without what differs from one request to the next."""
    result = retrieve(question=question, scope=wanted, **{"limit": 10, **options}).as_dict()
    del result["request_id"]
    for trace in result["traces"]:
        del trace["milliseconds"]
    return result


@dataclass(frozen=True)
class Way:
    """One way of searching. `patches` set constants of modules, so that few passages take the way of many."""

    layers: tuple[str, ...]
    options: dict[str, Any] = field(default_factory=dict)
    patches: tuple[tuple[ModuleType, str, Any], ...] = ()


def alone(layer: str, *patches: tuple[ModuleType, str, Any], **options: Any) -> Way:
    """Run one layer and no other."""
    return Way((layer,), {"switches": {name: name == layer for name in LAYERS}, **options}, patches)


MANY_PASSAGES = (vector, "exact_bound", lambda _: 0)
# A new layer is one line here; `test_every_layer_is_held_to_it` fails until it is.
WAYS: dict[str, Way] = {
    "vector": alone("vector"),
    "vector narrowed by codes": alone("vector", MANY_PASSAGES, (vector, "_NEAREST", 2), limit=1),
    "keyword": alone("keyword"),
    "keyword, rare words": alone("keyword", (keyword, "READ_ALL_UP_TO", 0)),
    "keyword, common words": alone(
        "keyword",
        (keyword, "READ_ALL_UP_TO", 0),
        (keyword, "ENOUGH_CANDIDATES", (0, 0)),
        (keyword, "_FEW", 1),
        (keyword, "_COMMON", 0),
    ),
    "graph": alone("graph"),
    "community": alone("community"),
    "hyde": alone("hyde"),
    "deep": Way(LAYERS, {"profile": "deep"}),
    "auto": Way((), {"profile": "auto"}),
    "fused by scores": Way((), {"fusion": "scores"}),
    "reranked by a model": Way((), {"reranker": "model", "limit": 3}),
    "reranked by a cross-encoder": Way((), {"reranker": "cross_encoder", "limit": 3}),
}


def test_every_layer_is_held_to_it() -> None:
    assert {layer for way in WAYS.values() for layer in way.layers} == set(LAYERS)


class Grader(OpenAIServer):
    """A model that names two things, writes a probe and grades by a hash of words: any order may come out."""

    def reply_to(self, request: Request) -> Reply:
        prompt = request.prompt
        if '"names"' in prompt:
            return says(json.dumps({"names": ["methane", "crop residue"]}))
        passages = re.findall(r"<passage-\w+ number=\d+>\n(.*?)\n</passage-", prompt, re.DOTALL)
        if not passages:
            return says("Grass silage gave 342 litres of methane per kilogram.")
        return says(json.dumps({"grades": [crc32(text.encode()) % 11 for text in passages]}))

    def told(self) -> list[str]:
        """Return what the model was asked since the last time, without what is random in it."""
        prompts = [re.sub(r"\b[0-9a-f]{32}\b", "nonce", request.prompt) for request in self.requests]
        self.requests.clear()
        return sorted(prompts)


@pytest.fixture
def grader(settings: Any, tmp_path: Path) -> Iterator[Grader]:
    """Every model that a search can use: one on the loopback interface, and a small cross-encoder."""
    onnx_file.write(tmp_path, ["none", "methane", "biochar", "straw", "yield"])
    settings.SCI_RAG_CROSS_ENCODER_DIR = str(tmp_path)
    with Grader() as server:
        settings.SCI_RAG_LLM_MODEL = "openai/test-model"
        settings.SCI_RAG_LLM_API_BASE = server.base_url
        settings.SCI_RAG_LLM_API_KEY = "none"
        yield server
    forget_clients()


def searched(question: str, wanted: RetrievalScope, grader: Grader) -> dict[str, Any]:
    """Return what every way of searching finds, and what the model was told for it."""
    found = {}
    for name, way in WAYS.items():
        with pytest.MonkeyPatch.context() as patch:
            for module, constant, value in way.patches:
                patch.setattr(module, constant, value)
            result = outcome(question, wanted, **way.options)
        # A year bound tells how many undated documents it leaves out: of those the rest of the scope allows.
        result["eligible"].pop("undated")
        found[name] = {**result, "model was told": grader.told()}
    return found


def holds(corpus: list[Row], wanted: RetrievalScope, question: str, grader: Grader) -> None:
    """Assert that each way finds in `corpus` what it finds once the ineligible documents are deleted."""
    Document.objects.all().delete()
    Source.objects.all().delete()
    CommunityBuild.objects.all().delete()
    forget_queries()
    documents = store(corpus, wanted)
    eligible = {
        str(document.pk) for document, row in zip(documents, corpus, strict=True) if allows(wanted, row)
    }

    with_all = searched(question, wanted, grader)
    Document.objects.exclude(pk__in=eligible).delete()
    without = searched(question, wanted, grader)

    for name, found in with_all.items():
        assert found == without[name], name
        assert {item["document_id"] for item in found["items"]} <= eligible, name
        assert found["eligible"]["documents"] == len(eligible), name
        assert not found["degraded"], name


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(corpus=st.lists(rows, min_size=1, max_size=6), wanted=scopes, question=st.sampled_from(QUESTIONS))
def test_a_result_is_what_it_would_be_had_the_ineligible_never_been_ingested(
    corpus: list[Row], wanted: RetrievalScope, question: str, grader: Grader
) -> None:
    holds(corpus, wanted, question, grader)


@pytest.mark.long
@settings(max_examples=250, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(corpus=st.lists(rows, min_size=2, max_size=10), wanted=scopes, question=st.sampled_from(QUESTIONS))
def test_so_it_is_of_hundreds_of_corpora_and_scopes(
    corpus: list[Row], wanted: RetrievalScope, question: str, grader: Grader
) -> None:
    holds(corpus, wanted, question, grader)


def test_the_same_corpus_without_a_scope_shows_what_the_scope_hid() -> None:
    """The control: were nothing ever ineligible, the property above would hold of broken code."""
    public = add("Public", [SENTENCES[8]], license_class="public")
    restricted = add("Restricted", [SENTENCES[0], SENTENCES[6]], license_class="restricted")
    question = QUESTIONS[0]

    everything = outcome(question, scope())
    narrowed = outcome(question, scope(license_classes=["public"]))

    assert everything["items"][0]["document_id"] == str(restricted.pk)
    assert [item["document_id"] for item in narrowed["items"]] == [str(public.pk)]
    assert narrowed["eligible"] == {"documents": 1, "passages": 1, "undated": 0}
    assert {trace["eligible"] for trace in narrowed["traces"] if trace["stage"] != "fusion"} == {1}


def test_the_successor_one_may_not_see_is_not_named() -> None:
    new = add("The secret new edition", [SENTENCES[1]], license_class="restricted")
    add(
        "The old edition",
        [SENTENCES[0]],
        license_class="public",
        status=Document.Status.SUPERSEDED,
        superseded_by=new,
    )

    narrowed = retrieve(question=QUESTIONS[0], scope=scope(license_classes=["public"])).items[0]
    seen = {item.title: item for item in retrieve(question=QUESTIONS[0], scope=scope()).items}

    assert (narrowed.superseded, narrowed.superseded_by_id, narrowed.superseded_by_title) == (True, "", "")
    assert seen["The old edition"].superseded_by_title == "The secret new edition"


def test_every_way_is_really_taken(grader: Grader) -> None:
    """The control of the ways: one that is off or falls back would be equal to itself as well."""
    for number, sentence in enumerate(SENTENCES):
        link(add(f"Document {number}", [sentence], license_class="public"), NAMES)
    gather(scope(), *GROUPS)

    found = searched(QUESTIONS[0], scope(), grader)

    stages = {
        name: {(trace["stage"], trace["status"], trace["mode"]) for trace in result["traces"]}
        for name, result in found.items()
    }
    assert ("vector", "ok", "exact") in stages["vector"]
    assert ("vector", "ok", "exact-two-stage") in stages["vector narrowed by codes"]
    assert ("keyword", "ok", "bm25") in stages["keyword"]
    assert ("keyword", "ok", "bm25-rarest-first") in stages["keyword, rare words"]
    assert ("keyword", "ok", "bm25-rarest-first") in stages["keyword, common words"]
    assert ("community", "ok", "near") in stages["community"] & stages["deep"]
    assert found["community"]["communities"]
    assert ("hyde", "ok", "exact") in stages["hyde"] & stages["deep"]
    assert ("reranker", "ok", "model") in stages["reranked by a model"]
    assert ("reranker", "ok", "cross_encoder") in stages["reranked by a cross-encoder"]
    assert found["hyde"]["model was told"]
