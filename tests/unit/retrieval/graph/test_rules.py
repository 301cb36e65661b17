"""What the rules find in a passage, after it was verified."""

import pytest

from retrieval.graph.extraction.acronyms import definitions, unambiguous
from retrieval.graph.extraction.rules import RuleExtractor
from retrieval.graph.extraction.types import Batch, Passage, Verified
from retrieval.graph.extraction.verifying import verify
from tests.unit.retrieval.graph.ontologies import ONTOLOGY


def read(*texts: str) -> list[Verified]:
    batch = Batch("d", tuple(Passage(number, text, "") for number, text in enumerate(texts)), texts)
    verified, drops = verify(RuleExtractor(ONTOLOGY).read(batch), batch, ONTOLOGY)
    assert not drops
    return verified


def edges(text: str) -> list[tuple[str, str, str, float]]:
    return [
        (edge.source[1], edge.type, edge.target[1], edge.confidence)
        for passage in read(text)
        for edge in passage.edges
    ]


def entities(*texts: str) -> list[dict[str, list[str]]]:
    return [
        {f"{each.type}:{each.key}": [spot.text for spot in each.spots] for each in passage.entities}
        for passage in read(*texts)
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The total ammonia nitrogen (TAN) rose.", ("TAN", "total ammonia nitrogen")),
        ("Heated by HTC (hydrothermal carbonization) first.", ("HTC", "hydrothermal carbonization")),
        ("Green Leaf Volatiles [GLVs] spread.", ("GLVs", "Green Leaf Volatiles")),
    ],
)
def test_an_abbreviation_is_read_with_what_it_stands_for(text: str, expected: tuple[str, str]) -> None:
    assert [(found.short, found.long) for found in definitions(text)] == [expected]


@pytest.mark.parametrize(
    "text", ["as before (Table 3).", "in Kenya (USA)", "shown (See above)", "a (B2)", "(AD)"]
)
def test_other_brackets_define_nothing(text: str) -> None:
    assert not list(definitions(text))


def test_an_abbreviation_with_two_meanings_stands_for_neither() -> None:
    text = "Anaerobic digestion (AD) is not Alzheimer disease (AD) but total nitrogen (TN) is."

    assert unambiguous(definitions(text)) == {"TN": "total nitrogen"}


def test_an_abbreviation_names_its_thing_in_every_passage_of_its_document() -> None:
    defined, used = entities("Anaerobic digestion (AD) runs wet.", "With AD the rest is safe.")

    assert defined == {"process:anaerobic digestion": ["Anaerobic digestion", "AD"]}
    assert used == {"process:anaerobic digestion": ["AD"]}


def test_names_of_the_ontology_are_found_in_other_spellings_and_numbers() -> None:
    (found,) = entities("Biochars and CH\u2084, from methanisation.\n\n| Straw | 3 |")

    assert found == {
        "material:biochar": ["Biochars"],
        "material:methane": ["CH\u2084"],
        "material:straw": ["Straw"],
        "process:anaerobic digestion": ["methanisation"],
    }


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Pyrolysis produces biochar.", [("pyrolysis", "produces", "biochar", 1.0)]),
        ("Pyrolysis of straw often gives biochar.", [("straw", "produces", "biochar", 0.7)]),
        ("Pyrolysis may also give nothing, but produces biochar.", []),
        ("Biochar is strongly reduced by pyrolysis.", [("pyrolysis", "decreases", "biochar", 1.0)]),
        ("Straw turns into biochar.", [("biochar", "made_of", "straw", 1.0)]),
        ("Hot steam reduces methane.", [("hot steam", "decreases", "methane", 0.7)]),
        ("Hot steam reduces soil moisture.", [("hot steam", "decreases", "soil moisture", 0.4)]),
        ("Pyrolysis perhaps reduces methane.", [("pyrolysis", "decreases", "methane", 0.7)]),
        ("Pyrolysis does not reduces methane.", []),
        ("It reduces methane.", []),
        ("Straw was reduced in steps of methane.", []),
        ("Methane reduces methane.", []),
    ],
)
def test_a_phrase_between_two_things_relates_them(
    text: str, expected: list[tuple[str, str, str, float]]
) -> None:
    assert edges(text) == expected


def test_a_sentence_that_says_what_a_thing_is_describes_it() -> None:
    (passage,) = read("In short. Pyrolysis is a dry process. Pyrolysis is the end.")

    assert [each.description.text for each in passage.entities if each.description] == [
        "Pyrolysis is a dry process."
    ]


@pytest.mark.parametrize(
    "text",
    ["", "\n\n|", "(" * 5000, "A " * 20_000, "reduces " * 5000, "\u0301" * 1000, "AB (" * 3000, "a-" * 9000],
)
def test_no_text_takes_long(text: str) -> None:
    read(text)
