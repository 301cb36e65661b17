"""Passages found by walking: only what passages in scope say may seed, extend or end a walk."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from corpus.domain_profile import DomainProfile, GraphProfile
from corpus.models import DocumentCitation
from corpus.scope import RetrievalScope, scope
from retrieval.graph.models import Entity, Mention, Relationship
from retrieval.layers import graph
from retrieval.retriever import retrieve
from retrieval.types import RetrievalResult
from tests.integration.retrieval.corpora import add
from tests.integration.retrieval.graphs import edge, entity, link, mention
from tests.loopback.fixtures import forget_clients
from tests.loopback.openai_server import OpenAIServer, Reply, fails, says

pytestmark = pytest.mark.django_db(transaction=True)

QUESTION = "What follows from torrefaction?"
PUBLIC = scope(license_classes=["public"])


def walked(wanted: RetrievalScope, question: str = QUESTION, **options: Any) -> RetrievalResult:
    switches = {"vector": False, "keyword": False, "graph": True}
    return retrieve(question=question, scope=wanted, switches=switches, **options)


def titles(result: RetrievalResult) -> list[str]:
    return [item.title for item in result.items]


@pytest.fixture
def chain() -> None:
    """Torrefaction - bales - fire, said by three documents."""
    edge(add("First", ["alpha"], license_class="public"), "torrefaction", "dry bales")
    edge(add("Second", ["beta"], license_class="public"), "dry bales", "night fire")
    mention(add("Third", ["gamma"], license_class="public"), "night fire")


@pytest.mark.usefixtures("chain")
def test_two_edges_are_walked_and_passages_come_by_distance() -> None:
    result = walked(PUBLIC)

    assert titles(result) == ["First", "Second", "Third"]
    assert result.traces[0].mode == "walk"


@pytest.mark.usefixtures("chain")
def test_three_edges_are_not() -> None:
    edge(add("Fourth", ["delta"], license_class="public"), "night fire", "insurance")
    mention(add("Fifth", ["epsilon"], license_class="public"), "insurance")

    assert "Fifth" not in titles(walked(PUBLIC))


def test_an_edge_that_only_a_restricted_document_says_stops_the_walk_there() -> None:
    mention(add("First", ["alpha"], license_class="public"), "torrefaction")
    edge(add("Secret", ["beta"], license_class="restricted"), "torrefaction", "night fire")
    mention(add("Third", ["gamma"], license_class="public"), "night fire")

    assert titles(walked(PUBLIC)) == ["First"]
    assert sorted(titles(walked(scope()))) == ["First", "Secret", "Third"]


def test_a_name_that_only_a_restricted_passage_uses_seeds_nothing() -> None:
    document = add("Open", ["alpha"], license_class="public")
    mention(document, "dry bales")
    secret = add("Secret", ["beta"], license_class="restricted")
    Mention.objects.create(
        entity=entity("dry bales"), chunk=secret.chunks.get(), document=secret, start=0,
        surface="torrefaction", surface_key="torrefaction",
    )  # fmt: skip

    assert titles(walked(PUBLIC)) == []
    assert set(titles(walked(scope()))) == {"Open", "Secret"}


def test_a_name_of_an_entity_that_was_merged_leads_to_what_it_became() -> None:
    edge(add("First", ["alpha"], license_class="public"), "roasting", "night fire")
    mention(add("Second", ["beta"], license_class="public"), "torrefaction")
    Entity.objects.filter(name="torrefaction").update(canonical_entity=entity("roasting"))

    assert set(titles(walked(PUBLIC))) == {"First", "Second"}


def test_a_misspelt_name_finds_its_entity() -> None:
    mention(add("First", ["alpha"], license_class="public"), "torrefaction")

    assert titles(walked(PUBLIC, "Tell of torrefactoin")) == ["First"]
    assert titles(walked(PUBLIC, "Tell of something else")) == []


def test_a_question_that_names_nothing_is_empty_and_not_an_error() -> None:
    add("First", ["alpha"], license_class="public")

    result = walked(PUBLIC)

    assert (result.traces[0].stage, result.traces[0].status) == ("graph", "empty")
    assert result.degraded == ()


def test_fan_out_is_capped_and_the_trace_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graph, "_MOST_EDGES", 2)
    document = add("Hub", ["alpha"] * 4, license_class="public")
    for number in range(4):
        edge(
            document, "torrefaction" if number == 0 else f"hub {number - 1}", f"hub {number}", ordinal=number
        )
    for number in range(1, 4):
        Relationship.objects.create(
            source=entity("torrefaction"), target=entity(f"hub {number}"), type="causes", confidence=0.4,
            chunk=document.chunks.get(ordinal=number), document=document, start=0, quote="x",
        )  # fmt: skip

    assert walked(PUBLIC).traces[0].mode == "walk, capped"


def test_edges_below_the_wanted_confidence_are_not_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    edge(add("First", ["alpha"], license_class="public"), "torrefaction", "dry bales", confidence=0.4)
    mention(add("Second", ["beta"], license_class="public"), "dry bales")

    assert set(titles(walked(PUBLIC))) == {"First", "Second"}
    profile = DomainProfile(graph_walk=GraphProfile(min_confidence=0.7))
    monkeypatch.setattr(graph, "active_profile", lambda: profile)
    assert titles(walked(PUBLIC)) == ["First"]


def test_a_request_may_say_how_to_walk_in_place_of_the_domain_profile() -> None:
    edge(add("First", ["alpha"], license_class="public"), "torrefaction", "dry bales", confidence=0.4)
    mention(add("Second", ["beta"], license_class="public"), "dry bales")

    assert titles(walked(PUBLIC, walk=GraphProfile(min_confidence=0.7))) == ["First"]


def test_the_citation_hop_goes_both_ways_and_only_into_what_is_eligible(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(
        graph, "active_profile", lambda: DomainProfile(graph_walk=GraphProfile(citation_hop=True))
    )
    monkeypatch.setattr(graph, "_MOST_MENTIONS", 1)
    first = add("First", ["alpha"], license_class="public", doi="10.5555/first")
    mention(first, "torrefaction")
    first.chunks.update(rank_key=-(2**60))
    for name, license_class in (("Cited", "public"), ("Citing", "public"), ("Secret", "restricted")):
        other = add(name, [name], license_class=license_class, doi=f"10.5555/{name.lower()}")
        mention(other, "torrefaction")
        citing, cited = (first, other) if name != "Citing" else (other, first)
        DocumentCitation.objects.create(
            citing=citing, ordinal=len(name), doi_normalised=cited.doi_normalised, text="reference"
        )

    found = set(titles(walked(PUBLIC)))

    assert "Secret" not in found
    assert len(found) == 3


def test_the_same_walk_is_the_same_a_hundred_times() -> None:
    for number in range(6):
        edge(add(f"D{number}", [f"text {number}"], license_class="public"), "torrefaction", f"thing {number}")

    assert len({tuple(titles(walked(PUBLIC))) for _ in range(100)}) == 1


# --- Names by a model ------------------------------------------------------------------------


@pytest.fixture
def connections() -> Iterator[None]:
    yield
    forget_clients()


@pytest.mark.usefixtures("connections")
def test_a_model_names_what_the_question_spells_otherwise(configured_model: OpenAIServer) -> None:
    link(add("Silage", ["Straw gives methane."]), ("straw", "methane"))
    question = "What does cereal residue yield?"

    configured_model.will(says('{"names": ["Straw", "cereal residue"]}'))
    named = walked(scope(), question)
    configured_model.will(says('{"names": []}'))
    unnamed = walked(scope(), question)

    assert titles(named) == ["Silage"]
    assert titles(unnamed) == []
    assert configured_model.requests[0].prompt.rstrip().endswith(question)


@pytest.mark.usefixtures("connections")
@pytest.mark.parametrize(
    "reply",
    [
        says("Straw, I think."),
        says('{"names": "straw"}'),
        says('{"names": [1]}'),
        says("[" * 50_000),
        fails(500),
    ],
)
def test_a_model_that_cannot_name_is_an_error_where_the_words_lead_nowhere(
    configured_model: OpenAIServer, reply: Reply
) -> None:
    link(add("Silage", ["Straw gives methane."]), ("straw", "methane"))
    configured_model.will(reply)

    nowhere = walked(scope(), "What does cereal residue yield?")
    anyway = walked(scope(), "What does straw yield?")

    assert (nowhere.traces[0].status, nowhere.degraded) == ("error", ("graph",))
    assert (anyway.traces[0].status, anyway.traces[0].mode) == ("ok", "walk, no names by a model")
    assert titles(anyway) == ["Silage"]


@pytest.mark.usefixtures("connections")
def test_a_profile_may_leave_the_model_out(
    configured_model: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    profile = DomainProfile(graph_walk=GraphProfile(name_with_model=False))
    monkeypatch.setattr(graph, "active_profile", lambda: profile)
    link(add("Silage", ["Straw gives methane."]), ("straw", "methane"))

    assert titles(walked(scope(), "What does straw yield?")) == ["Silage"]
    assert configured_model.requests == []
