"""`sci-rag graph show` and `sci-rag graph citations`."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner, Result

from corpus.models import DocumentCitation
from retrieval.cli_graph import graph
from tests.factories.corpus import ChunkFactory, DocumentFactory
from tests.factories.graph import DescriptionFactory, EntityFactory, MentionFactory, RelationshipFactory

pytestmark = pytest.mark.django_db


def run(*arguments: str) -> Result:
    return CliRunner().invoke(graph, list(arguments))


@pytest.fixture(autouse=True)
def methane() -> None:
    """Made by digestion, as a public passage says, and called marsh gas in a restricted one."""
    said = ChunkFactory(document=DocumentFactory(title="Open", license_class="public"))
    closed = ChunkFactory(document=DocumentFactory(title="Closed", license_class="restricted"))
    methane, digestion = EntityFactory(name="methane"), EntityFactory(name="digestion", type="process")
    for one in (methane, digestion):
        MentionFactory(entity=one, chunk=said)
    MentionFactory(entity=methane, chunk=closed, surface="marsh gas")
    DescriptionFactory(entity=methane, chunk=closed, quote="Marsh gas rises from bogs.")
    RelationshipFactory(source=digestion, target=methane, chunk=said, quote="Digestion makes methane.")


def test_an_entity_is_shown_by_any_spelling_with_its_edges_and_their_words() -> None:
    result = run("show", "Marsh  Gas")

    assert result.exit_code == 0, result.output
    assert "methane (material): 2 mentions in 2 documents" in result.output
    assert "also marsh gas" in result.output
    assert "“Marsh gas rises from bogs.” (Closed)" in result.output
    assert "digestion produces methane [1.0, 1 passages]" in result.output
    assert "“Digestion makes methane.” (Open)" in result.output


def test_what_the_scope_leaves_out_is_neither_shown_nor_found() -> None:
    shown = json.loads(run("show", "methane", "--license", "public", "--json").stdout)
    missing = run("show", "marsh gas", "--license", "public")

    (entity,) = shown["entities"]
    assert (entity["mentions"], entity["documents"], entity["also"], entity["descriptions"]) == (1, 1, [], [])
    assert missing.exit_code == 1
    assert missing.output == run("show", "bog oak", "--license", "public").output.replace(
        "bog oak", "marsh gas"
    )
    assert run("show", "methane", "--license", "").exit_code == 1


def test_a_name_that_nothing_has_is_answered_with_those_that_hold_it() -> None:
    result = run("show", "meth")

    assert result.exit_code == 1
    assert "No passage in scope mentions 'meth'. Names that hold it: methane." in result.output
    assert "Names that hold it" not in run("show", "!!!").output


def test_more_edges_than_asked_for_are_counted() -> None:
    result = run("show", "methane", "--limit", "1", "--json")

    assert len(json.loads(result.stdout)["entities"][0]["edges"]) == 1
    assert run("show", "methane", "--limit", "0").exit_code == 2


def test_citations_are_counted_by_where_they_come_from_and_where_they_lead() -> None:
    citing = DocumentFactory(title="Citing", doi="10.5555/citing")
    DocumentFactory(title="Cited", doi="10.5555/cited")
    for number, doi in enumerate(("10.5555/cited", "10.5555/later", "10.5555/citing")):
        DocumentCitation.objects.create(citing=citing, ordinal=number, doi_normalised=doi, origin="index")
    DocumentCitation.objects.create(citing=citing, ordinal=0, text="A book")

    text, report = run("citations").output, json.loads(run("citations", "--json").stdout)

    assert report["by_origin"] == {"document": 1, "index": 3}
    assert (report["resolved"], report["unresolved"], report["self"]) == (1, 1, 1)
    assert "4 references, 3 with a DOI." in text
    assert "1 lead to a document held here, 1 do not; 1 name their own work." in text
    assert "10.5555/later  by 1" in text
