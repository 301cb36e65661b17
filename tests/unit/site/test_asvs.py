"""docs/asvs.yaml judges every requirement of ASVS 5.0, and every test it names is there."""

from __future__ import annotations

import ast
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[3]
ROWS: list[dict[str, Any]] = yaml.load(
    (ROOT / "docs/asvs.yaml").read_text(encoding="utf-8"), Loader=yaml.CSafeLoader
)
LEVELS = {1: 70, 2: 183, 3: 92}
# How many requirements each section has, as the standard counts them.
SECTIONS = {
    "1.1": 2, "1.2": 10, "1.3": 12, "1.4": 3, "1.5": 3,
    "2.1": 3, "2.2": 3, "2.3": 5, "2.4": 2,
    "3.1": 1, "3.2": 3, "3.3": 5, "3.4": 8, "3.5": 8, "3.6": 1, "3.7": 5,
    "4.1": 5, "4.2": 5, "4.3": 2, "4.4": 4,
    "5.1": 1, "5.2": 6, "5.3": 3, "5.4": 3,
    "6.1": 3, "6.2": 12, "6.3": 8, "6.4": 6, "6.5": 8, "6.6": 4, "6.7": 2, "6.8": 4,
    "7.1": 3, "7.2": 4, "7.3": 2, "7.4": 5, "7.5": 3, "7.6": 2,
    "8.1": 4, "8.2": 4, "8.3": 3, "8.4": 2,
    "9.1": 3, "9.2": 4,
    "10.1": 2, "10.2": 3, "10.3": 5, "10.4": 16, "10.5": 5, "10.6": 2, "10.7": 3,
    "11.1": 4, "11.2": 5, "11.3": 5, "11.4": 4, "11.5": 2, "11.6": 2, "11.7": 2,
    "12.1": 5, "12.2": 2, "12.3": 5,
    "13.1": 4, "13.2": 6, "13.3": 4, "13.4": 7,
    "14.1": 2, "14.2": 8, "14.3": 3,
    "15.1": 5, "15.2": 5, "15.3": 7, "15.4": 4,
    "16.1": 1, "16.2": 5, "16.3": 4, "16.4": 3, "16.5": 4,
    "17.1": 2, "17.2": 8, "17.3": 2,
}  # fmt: skip


@cache
def functions(path: str) -> frozenset[str]:
    """Return the names of the test functions of a file, of its classes too."""
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    return frozenset(node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))


def test_every_requirement_is_judged_once() -> None:
    ids = [row["id"] for row in ROWS]
    every = [f"{part}.{number}" for part, most in SECTIONS.items() for number in range(1, most + 1)]

    assert ids == every
    assert Counter(row["level"] for row in ROWS) == LEVELS


def test_what_is_met_names_tests_that_exist_and_the_rest_a_reason() -> None:
    for row in ROWS:
        if row["status"] == "pass":
            assert set(row) == {"id", "level", "title", "status", "tests"}, row["id"]
            assert row["tests"], row["id"]
            for test in row["tests"]:
                path, _, name = test.partition("::")
                assert name.startswith("test_"), test
                assert name in functions(path), test
        else:
            assert set(row) == {"id", "level", "title", "status", "reason"}, row["id"]
            assert row["status"] in ("open", "not applicable"), row["id"]
            assert len(row["reason"]) > 8, row["id"]


def share(level: int) -> float:
    of = Counter(row["status"] for row in ROWS if row["level"] == level)
    return of["pass"] / (of["pass"] + of["open"])


@pytest.mark.parametrize(("level", "least"), [(1, 0.95), (2, 0.90)])
def test_what_is_met_does_not_get_less(level: int, least: float) -> None:
    assert share(level) >= least


@pytest.mark.parametrize(
    ("page", "said"),
    [
        ("SECURITY.md", "within seven days"),
        ("SECURITY.md", "asvs.yaml"),
        ("SECURITY.md", "looked at twice"),
        ("docs/operating.md", "### What is logged"),
        ("docs/operating.md", "### Another SECRET_KEY"),
    ],
)
def test_the_documents_say_what_they_have_to(page: str, said: str) -> None:
    assert said in (ROOT / page).read_text(encoding="utf-8")
