"""What is kept of suggestions, and why the rest is not."""

from dataclasses import replace

import pytest

from retrieval.graph.extraction.types import (
    Batch,
    Drop,
    Passage,
    SuggestedEntity,
    SuggestedRelation,
    Suggestions,
    Verified,
)
from retrieval.graph.extraction.verifying import MOST_ENTITIES, verify
from tests.unit.retrieval.graph.ontologies import ONTOLOGY

TEXT = "Slow pyrolysis gives biochar.\nIt is a dry process. Methane (CH4) is lost."
BATCH = Batch("d", (Passage(7, TEXT, ""),), (TEXT, "Elsewhere wet oxidation (WO) is named."))
PYROLYSIS = SuggestedEntity(0, "pyrolysis", "process", ("Slow Pyrolysis",), "It is a dry process.")
BIOCHAR = SuggestedEntity(0, "Biochar", "material")
GIVES = SuggestedRelation(0, "slow pyrolysis", "biochar", "produces", "Slow pyrolysis gives biochar.", 0.93)


def run(
    *entities: SuggestedEntity, relations: tuple[SuggestedRelation, ...] = ()
) -> tuple[Verified, dict[Drop, int]]:
    (verified,), drops = verify(Suggestions(entities, relations), BATCH, ONTOLOGY)
    return verified, dict(drops)


def test_what_stands_in_the_passage_is_kept_as_it_is_spelled_there() -> None:
    verified, drops = run(PYROLYSIS, BIOCHAR, relations=(GIVES,))

    biochar, pyrolysis = verified.entities
    assert not drops
    assert [(spot.text, spot.start) for spot in pyrolysis.spots] == [("pyrolysis", 5), ("Slow pyrolysis", 0)]
    assert pyrolysis.description is not None
    assert pyrolysis.description.start == 30
    assert (biochar.key, biochar.name) == ("biochar", "biochar")
    (edge,) = verified.edges
    assert (edge.source, edge.target) == (("process", "pyrolysis"), ("material", "biochar"))
    assert (edge.confidence, edge.quote.text) == (1.0, "Slow pyrolysis gives biochar.")


@pytest.mark.parametrize(
    ("entity", "reason"),
    [
        (replace(BIOCHAR, type="planet"), Drop.UNKNOWN_TYPE),
        (replace(BIOCHAR, name=" .. "), Drop.EMPTY_NAME),
        (replace(BIOCHAR, name="hydrochar"), Drop.UNVERIFIED_MENTION),
        (replace(BIOCHAR, name="char"), Drop.UNVERIFIED_MENTION),
        (replace(BIOCHAR, name="hydrochar", aliases=("biochar",)), Drop.UNVERIFIED_MENTION),
        (replace(BIOCHAR, passage=1), Drop.NO_PASSAGE),
        (replace(BIOCHAR, passage=-1), Drop.NO_PASSAGE),
    ],
)
def test_a_thing_that_cannot_be_verified_is_left_out(entity: SuggestedEntity, reason: Drop) -> None:
    verified, drops = run(entity)

    assert not verified.entities
    assert drops == {reason: 1}


def test_an_invented_alias_is_left_out_and_the_thing_stays() -> None:
    verified, drops = run(replace(BIOCHAR, aliases=("black carbon", "BC"), description="It is black."))

    assert [spot.text for spot in verified.entities[0].spots] == ["biochar"]
    assert verified.entities[0].description is None
    assert drops == {Drop.UNVERIFIED_ALIAS: 2, Drop.UNVERIFIED_DESCRIPTION: 1}


def test_a_name_may_come_from_the_ontology_or_the_rest_of_the_document() -> None:
    text = "CH4 was lost, WO was not."
    batch = Batch("d", (Passage(1, text, ""),), (text, BATCH.texts[1]))
    suggested = (
        SuggestedEntity(0, "Methane", "material", ("CH4",)),
        SuggestedEntity(0, "wet oxidation", "process", ("WO",)),
    )

    (verified,), drops = verify(Suggestions(suggested), batch, ONTOLOGY)

    assert [(each.name, each.spots[0].text) for each in verified.entities] == [
        ("methane", "CH4"),
        ("wet oxidation", "WO"),
    ]
    assert not drops


@pytest.mark.parametrize(
    ("relation", "reason"),
    [
        (replace(GIVES, type="eats"), Drop.UNKNOWN_TYPE),
        (replace(GIVES, target="Methane"), Drop.DANGLING_END),
        (replace(GIVES, target=""), Drop.DANGLING_END),
        (replace(GIVES, target="PYROLYSIS"), Drop.SELF_EDGE),
        (replace(GIVES, quote="Slow pyrolysis always gives biochar."), Drop.UNVERIFIED_QUOTE),
        (replace(GIVES, quote=""), Drop.UNVERIFIED_QUOTE),
        (replace(GIVES, confidence=None), Drop.MISSING_CONFIDENCE),
        (replace(GIVES, confidence=float("nan")), Drop.MISSING_CONFIDENCE),
        (replace(GIVES, confidence=7.0), Drop.MISSING_CONFIDENCE),
        (replace(GIVES, passage=9), Drop.NO_PASSAGE),
        (replace(GIVES, type="fed_with", source="biochar", target="pyrolysis"), Drop.WRONG_ENDS),
    ],
)
def test_a_relation_that_cannot_be_verified_is_left_out(relation: SuggestedRelation, reason: Drop) -> None:
    verified, drops = run(PYROLYSIS, BIOCHAR, relations=(relation,))

    assert not verified.edges
    assert drops == {reason: 1}


def test_a_name_that_means_two_things_is_no_end() -> None:
    verified, drops = run(PYROLYSIS, BIOCHAR, replace(BIOCHAR, type="concept"), relations=(GIVES,))

    assert not verified.edges
    assert drops == {Drop.DANGLING_END: 1}


@pytest.mark.parametrize(
    ("given", "level"), [(1.0, 1.0), (0.86, 1.0), (0.8, 0.7), (0.6, 0.7), (0.5, 0.4), (0.0, 0.4)]
)
def test_confidence_is_rounded_to_the_nearest_level(given: float, level: float) -> None:
    verified, _ = run(PYROLYSIS, BIOCHAR, relations=(replace(GIVES, confidence=given),))

    assert verified.edges[0].confidence == level


def test_the_surest_of_two_is_kept_whatever_their_order() -> None:
    weak = replace(GIVES, confidence=0.4, quote="gives biochar")

    assert run(PYROLYSIS, BIOCHAR, relations=(GIVES, weak)) == run(
        PYROLYSIS, BIOCHAR, relations=(weak, GIVES)
    )


def test_more_than_a_passage_can_hold_is_cut_and_counted() -> None:
    _, drops = run(*[BIOCHAR] * (MOST_ENTITIES + 5))

    assert drops == {Drop.TOO_MANY: 5}
