"""A proposed ontology holds what stands in the passages, and its file is one that the graph accepts."""

import json
from pathlib import Path
from typing import Any

import pytest

from evaluation.drafting.ontology_replies import read
from evaluation.drafting.replies import Dropped
from retrieval.graph.ontology import load

PASSAGES = [
    "Anaerobic digestion gives biogas, and pyrolysis produces biochar.",
    "Corn stover was stored in the open; co-digestion raises the yield of biogas.",
]


def reply(**changes: Any) -> str:
    good: dict[str, Any] = {
        "entity_types": {
            "process": {
                "description": "What changes a material.",
                "examples": ["anaerobic digestion", "pyrolysis"],
            },
            "material": {"description": "What is changed or made.", "examples": ["biogas", "Corn stover"]},
        },
        "relation_types": {
            "produces": {
                "description": "The source makes the target.",
                "phrases": ["gives", "produces"],
                "source": ["process"],
                "target": ["material", "fantasy"],
            }
        },
    }
    return json.dumps(good | changes)


def accepted(text: str, folder: Path) -> None:
    path = folder / "ontology.yaml"
    path.write_text(text, encoding="utf-8")
    load(path)


def test_what_stands_in_the_passages_becomes_an_ontology_that_the_graph_accepts(tmp_path: Path) -> None:
    proposal = read(reply(), PASSAGES)

    assert list(proposal.entity_types) == ["process", "material"]
    assert proposal.relation_types["produces"]["target"] == ["material"]
    assert proposal.dropped["unknown_end"] == 1
    accepted(proposal.as_yaml("# A draft\n"), tmp_path)


def test_what_stands_in_none_is_left_out_and_counted(tmp_path: Path) -> None:
    types = {
        "process": {"description": "P.", "examples": ["pyrolysis", "torrefaction", "Pyrolysis", "a | b", ""]},
        "organism": {"description": "O.", "examples": ["Escherichia coli"]},
        "Bad Name": {"description": "B.", "examples": ["biogas"]},
        "silent": {"description": " ", "examples": ["biochar"]},
    }

    proposal = read(reply(entity_types=types, relation_types={}), PASSAGES)

    assert proposal.entity_types == {"process": {"description": "P.", "examples": ["pyrolysis"]}}
    assert proposal.dropped["not_in_the_passages"] == 2
    assert proposal.dropped["twice"] == 1
    assert proposal.dropped["malformed"] == 2
    assert (proposal.dropped["type_malformed"], proposal.dropped["type_without_evidence"]) == (2, 1)
    accepted(proposal.as_yaml(""), tmp_path)


def test_names_that_the_graph_takes_for_one_are_examples_once(tmp_path: Path) -> None:
    types = {
        "process": {"description": "P.", "examples": ["co-digestion", "Co-Digestion"]},
        "material": {"description": "M.", "examples": ["CO-DIGESTION", "biogas"]},
    }

    proposal = read(reply(entity_types=types, relation_types={}), PASSAGES)

    assert proposal.entity_types["process"]["examples"] == ["co-digestion"]
    assert proposal.entity_types["material"]["examples"] == ["biogas"]
    accepted(proposal.as_yaml(""), tmp_path)


@pytest.mark.parametrize(
    "hostile",
    [
        "yes",
        "1e3",
        "null",
        "<<",
        "*alias",
        "&anchor x",
        "- item",
        "a: b",
        "'",
        "# comment",
        "!!python/name:os.system",
    ],
)
def test_words_that_mean_something_in_yaml_stay_words(hostile: str, tmp_path: Path) -> None:
    types = {"process": {"description": f"{hostile} it is.", "examples": [hostile, "biogas"]}}

    proposal = read(reply(entity_types=types, relation_types={}), [*PASSAGES, f"We saw {hostile} there."])

    accepted(proposal.as_yaml("# A draft\n"), tmp_path)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("types: none", "not_json"),
        ("{}", "wrong_form"),
        ('{"entity_types": {}}', "wrong_form"),
        ('{"entity_types": {"a": 7}}', "wrong_form"),
        ('{"entity_types": {"a": {"description": "x", "examples": ["nowhere"]}}}', "nothing_stands"),
        ("x" * 70_000, "too_long"),
    ],
)
def test_what_is_no_proposal_is_dropped_by_name(text: str, code: str) -> None:
    with pytest.raises(Dropped) as dropped:
        read(text, PASSAGES)
    assert dropped.value.code == code
