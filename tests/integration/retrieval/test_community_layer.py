"""Communities lead to passages, for the scope they were built for and while all they read is in it."""

from __future__ import annotations

from typing import Any

import pytest

from corpus.models import Document, EmbeddingVersion
from corpus.rights import ALL_CLASSES
from corpus.scope import RetrievalScope, scope
from retrieval.graph.community_models import Community, CommunityBuild
from retrieval.layers import community
from retrieval.profiles import LAYERS
from retrieval.retriever import retrieve
from retrieval.types import RetrievalResult
from tests.factories.corpus import SourceFactory
from tests.integration.retrieval.corpora import add
from tests.integration.retrieval.graphs import edge, gather, link

pytestmark = pytest.mark.django_db(transaction=True)

STRAW = ("straw", "methane", "digestate")
CHAR = ("biochar", "soil", "water")
QUESTION = "An overview of straw and methane"
PUBLIC = scope(license_classes=["public"])


@pytest.fixture
def papers() -> list[Document]:
    bodies = {
        "Silage": "Straw gives methane, and methane leaves digestate.",
        "Barns": "Digestate of straw is spread.",
        "Char": "Biochar keeps soil and water together.",
    }
    found = [add(name, [body], license_class="public") for name, body in bodies.items()]
    for document in found:
        link(document, (*STRAW, *CHAR))
    return found


def ask(wanted: RetrievalScope, question: str = QUESTION, **options: Any) -> RetrievalResult:
    switches = {name: name == "community" for name in LAYERS}
    return retrieve(question=question, scope=wanted, switches=switches, **options)


def skipped(result: RetrievalResult) -> bool:
    (trace,) = [trace for trace in result.traces if trace.stage == "community"]
    assert trace.reason in {"", community.NOT_BUILT}
    return trace.status == "skipped" and not result.items and not result.communities


@pytest.mark.usefixtures("papers")
def test_the_nearest_community_gives_its_passages_first() -> None:
    gather(PUBLIC, STRAW, CHAR)

    result = ask(PUBLIC)

    assert [one.title for one in result.communities] == ["digestate", "biochar"]
    # One of each community before the second of any.
    assert [item.title for item in result.items] == ["Silage", "Char", "Barns"]
    assert [item.ranks for item in result.items] == [{"community": 1}, {"community": 2}, {"community": 3}]
    first = result.as_dict()["communities"][0]
    assert (first["kind"], first["documents"], first["members"]) == ("community", 2, 3)


@pytest.mark.usefixtures("papers")
def test_without_a_build_for_the_scope_the_layer_is_skipped() -> None:
    assert skipped(ask(scope()))
    gather(scope(), STRAW)
    assert skipped(ask(PUBLIC))
    assert skipped(ask(scope(year_min=1900)))
    assert skipped(ask(scope(exclude_retracted=True)))
    assert not skipped(ask(scope()))


@pytest.mark.usefixtures("papers")
def test_every_class_and_a_day_are_the_same_scope_as_none() -> None:
    gather(scope(), STRAW)

    assert ask(scope(license_classes=ALL_CLASSES, as_of="2020")).communities


def test_a_build_serves_nobody_once_a_document_it_read_is_out_of_scope(papers: list[Document]) -> None:
    gather(PUBLIC, STRAW)
    # Not of the community itself: it had its part in the clustering all the same.
    Document.objects.filter(pk=papers[2].pk).update(license_class="restricted")

    assert skipped(ask(PUBLIC))


def test_a_build_serves_nobody_once_a_document_it_read_may_not_be_retold(papers: list[Document]) -> None:
    gather(PUBLIC, STRAW)
    Document.objects.filter(pk=papers[0].pk).update(no_derivatives=True)

    assert skipped(ask(PUBLIC))


def test_a_build_serves_nobody_once_a_document_it_read_is_gone(papers: list[Document]) -> None:
    gather(PUBLIC, STRAW)
    papers[2].delete()

    assert skipped(ask(PUBLIC))


@pytest.mark.usefixtures("papers")
def test_a_retraction_ends_a_build_that_leaves_retracted_works_out() -> None:
    source = SourceFactory()
    link(add("Trial", ["Straw gives methane and digestate."], source=source), STRAW)
    wanted = scope(exclude_retracted=True)
    gather(wanted, STRAW)
    assert ask(wanted).communities

    source.is_retracted = True
    source.save()

    assert skipped(ask(wanted))


def test_a_document_that_came_later_does_not_end_a_build(papers: list[Document]) -> None:
    gather(PUBLIC, STRAW)
    link(add("Later", ["Straw, methane and more of it."], license_class="public"), STRAW)

    result = ask(PUBLIC)

    assert result.communities
    assert "Later" in {item.title for item in result.items}


def test_an_edge_out_of_scope_brings_no_passage(papers: list[Document]) -> None:
    gather(PUBLIC, STRAW)
    hidden = add("Hidden", ["Straw gives methane in secret."], license_class="restricted")
    edge(hidden, "straw", "methane")

    assert {item.title for item in ask(PUBLIC).items} == {"Silage", "Barns"}


@pytest.mark.usefixtures("papers")
def test_a_summary_of_another_embedding_version_is_not_compared() -> None:
    gather(PUBLIC, STRAW)
    other = EmbeddingVersion.objects.create(name="other", dimensions=4)
    Community.objects.update(version=other)

    result = ask(PUBLIC)

    assert not result.communities
    assert not result.items
    assert not result.degraded


@pytest.mark.usefixtures("papers")
def test_a_build_that_is_not_finished_is_not_asked() -> None:
    build = gather(PUBLIC, STRAW)
    CommunityBuild.objects.filter(pk=build.pk).update(is_current=False)

    assert skipped(ask(PUBLIC))
