"""The harness sees: without any single scope condition some observation changes."""

from __future__ import annotations

import pytest

from tests.leaks import battery, mutants
from tests.leaks.mutants import Mutant
from tests.leaks.world import World

pytestmark = pytest.mark.django_db(transaction=True)

# Conditions without which nothing changes, and why that is so.
EQUIVALENT = {
    "retrieval.layers.vector._INDEX: eligible": "asked for scopes that leave nothing out",
    "retrieval.layers.vector._SAMPLED: eligible": "a guess; what it leads to is checked and else done again",
}
# Conditions whose lack no step of the battery notices yet: a debt, each row to be paid with a step.
UNSEEN = {
    "retrieval.layers.graph._BEGIN: eligible",
    "retrieval.layers.graph._CITED: eligible",
    "retrieval.layers.graph._EDGES: eligible",
    "retrieval.layers.graph._EXACT_SEEDS: eligible",
    "retrieval.layers.graph._MENTIONS: eligible",
    "retrieval.layers.graph._NEAR_SEEDS: eligible",
    "retrieval.layers.keyword_rarity._PROMISING: eligible",
    "retrieval.layers.keyword_rarity._SAMPLED: eligible",
    "retrieval.layers.keyword_rarity._WITH_ALL: eligible",
    "retrieval.layers.keyword_terms._LEXEMES: eligible",
    "corpus.citation_graph.cited_by: Document.objects.within(scope)",
    "corpus.citation_graph.census: Document.objects.within(RetrievalScope())",
    "corpus.citation_graph._by_doi: Document.objects.within(scope)",
    "corpus.uploads.judge: Document.objects.within(ceilings.effective_scope(by, Retriev #0",
    "corpus.uploads.judge: ceilings.effective_scope(by, RetrievalScope()) #1",
    "corpus.views._versions: Document.objects.within(ceiling)",
    "answers.conversation_pages._out_of_reach: Document.objects.within(RetrievalScope().within(ceilings.of( #0",  # noqa: E501
    "answers.conversation_pages._out_of_reach: RetrievalScope().within(ceilings.of(user)) #1",
    "answers.conversation_pages._out_of_reach: ceilings.of(user) #2",
    "answers.other_versions.readable: Chunk.objects.within(scope)",
    "answers.reading.readable: RetrievalScope().within(ceiling) #2",
    "answers.waiting.known_reports: ceilings.about_covered_documents(user, lookup='document')",
    "sci_rag_site.certificate.certify: ceilings.effective_scope(member, RetrievalScope())",
}
FEWEST = 20


@pytest.fixture
def furnished(world: World) -> World:
    battery.furnish()
    return world


def survivors(world: World, chosen: list[Mutant]) -> list[str]:
    """Return the mutants under which every step observes what it observed before."""
    steps = list(battery.steps(world))
    before = [battery.observed(world, step) for _, step in steps]
    again = [battery.observed(world, step) for _, step in steps]
    assert [name for (name, _), a, b in zip(steps, before, again, strict=True) if a != b] == []
    return [mutant.name for mutant in chosen if not _is_killed(world, mutant, steps, before)]


def _is_killed(
    world: World, mutant: Mutant, steps: list[tuple[str, battery.Step]], before: list[object]
) -> bool:
    with mutants.applied(mutant):
        return any(
            battery.observed(world, step) != expected
            for (_, step), expected in zip(steps, before, strict=True)
        )


@pytest.mark.long
def test_every_scope_mutant_is_killed_but_those_that_are_named(furnished: World) -> None:
    every = mutants.all_mutants()

    assert len(every) >= FEWEST
    assert {mutant.name for mutant in every} >= UNSEEN, "the debt names what is not there any more"
    assert set(survivors(furnished, every)) <= set(EQUIVALENT) | UNSEEN


def test_a_sample_of_scope_mutants_is_killed(furnished: World) -> None:
    """One of each kind with every run of the tests: a condition, two statements, call sites."""
    chosen = [
        mutant
        for mutant in mutants.all_mutants()
        if mutant.name.startswith(
            (
                "corpus.scope.eligible without license_classes",
                "retrieval.layers.vector._EXACT",
                "retrieval.layers.keyword._SCORED",
                "retrieval.hydration.load",
                "corpus.export.rows.held",
                "corpus.ceilings.effective_scope",
            )
        )
    ]

    assert len(chosen) == 7
    assert survivors(furnished, chosen) == []
