"""What an ontology may say, and how it says what is wrong."""

from pathlib import Path

import pytest
from django.conf import settings

from retrieval.graph.ontology import InvalidOntology, active_ontology, load

GOOD = """entity_types:
  process:
    description: What changes a material.
    examples: [pyrolysis]
relation_types:
  produces:
    description: Makes.
    phrases: [produces]
    target: [process]
"""


def write(path: Path, text: str) -> Path:
    file = path / "ontology.yaml"
    file.write_text(text)
    return file


def test_the_ontology_that_comes_with_the_project_is_valid() -> None:
    ontology = active_ontology()

    assert len(ontology.entity_types) >= 5
    assert all(described.description for described in ontology.entity_types.values())
    assert ontology.fallback == "concept"


def test_comments_do_not_change_what_the_ontology_is(tmp_path: Path) -> None:
    plain = load(write(tmp_path, GOOD))

    assert load(write(tmp_path, "# A word.\n" + GOOD)).digest() == plain.digest()


@pytest.mark.parametrize(
    ("change", "line", "says"),
    [
        (("description: Makes.", "description: ''"), 7, "at least 1 character"),
        (("description: Makes.", "description: |\n      a\n      b"), 7, "description"),
        (("  process:", "  Process Type:"), 2, "pattern"),
        (("examples: [pyrolysis]", "examples: [pyrolysis, '..']"), 4, "needs a letter or a digit"),
        (("examples: [pyrolysis]", "patterns: ['(a']"), 4, "not a regular expression"),
        (("examples: [pyrolysis]", "patterns: ['(a+)+b']"), 4, "repeats a repetition"),
        (("examples: [pyrolysis]", "patterns: ['a*']"), 4, "everywhere"),
        (("examples: [pyrolysis]", "colour: red"), 4, "Extra inputs"),
        (("examples: [pyrolysis]", "examples: [ash, Ash]"), 4, "stands there twice"),
        (("target: [process]", "target: [planet]"), 6, "unknown types: planet"),
        (("phrases: [produces]", "phrases: produces"), 8, "tuple"),
        (("entity_types:", "entity_types: {}\nother:"), 1, "at least 1 item"),
        (("    examples: [pyrolysis]", "\texamples: []"), 4, "tab character"),
    ],
)
def test_a_mistake_is_named_with_its_line(
    tmp_path: Path, change: tuple[str, str], line: int, says: str
) -> None:
    file = write(tmp_path, GOOD.replace(*change))

    with pytest.raises(InvalidOntology, match=says) as refused:
        load(file)
    assert f"ontology.yaml line {line}" in str(refused.value)


def test_without_a_file_the_error_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "DOMAIN_DIR", tmp_path)

    with pytest.raises(InvalidOntology, match="Copy the one that comes with sci-rag"):
        active_ontology()
