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
    "retrieval.layers.graph._BEGIN: eligible": "the beginning of the layer's statements, each changed apart",
    "corpus.citation_graph.census: Document.objects.within(RetrievalScope())": (
        "counts for the operator, whom no ceiling binds; it leaves out documents that are not ready"
    ),
    "corpus.uploads.judge: Document.objects.within(ceilings.effective_scope(by, Retriev #0": (
        "the line above has answered for what the ceiling does not cover"
    ),
    "corpus.uploads.judge: ceilings.effective_scope(by, RetrievalScope()) #1": "as above",
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
def test_every_scope_mutant_is_killed(furnished: World) -> None:
    every = mutants.all_mutants()

    assert len(every) >= FEWEST
    assert {mutant.name for mutant in every} >= set(EQUIVALENT)
    assert set(survivors(furnished, every)) <= set(EQUIVALENT)


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
