"""The look through tracked files finds what must not be there, and nothing in this tree."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module")
def tree() -> dict[str, Any]:
    return runpy.run_path(str(ROOT / ".ci" / "tree.py"))


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("index = https://pypi" + ".org/simple", "the host of a package registry"),
        ("https://files.python" + "hosted.org/x.whl", "the host of a package registry"),
        ("data in /wo" + "rk/main/var", "a path of one machine"),
        (f"see {ROOT}/var", "a path of one machine"),
        ("-----BEGIN RSA PRIV" + "ATE KEY-----", "a private key"),
        ("key = AKIA" + "ABCDEFGHIJKLMNOP", "an access token"),
        ("sk-" + "a1B2" * 10, "an access token"),
    ],
)
def test_what_must_not_be_tracked_is_named_with_its_line(
    tree: dict[str, Any], tmp_path: Path, line: str, name: str
) -> None:
    path = tmp_path / "notes.txt"
    path.write_text(f"harmless\n{line}\n")

    assert list(tree["in_file"](path)) == [f"notes.txt:2: {name}"]


def test_ordinary_lines_are_left_alone(tree: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text(
        "as under `/root`\nthe network of homes/homework/main ideas\nask-a-question-of-any-length-you-like\n"
    )

    assert list(tree["in_file"](path)) == []


@pytest.mark.parametrize(
    "text",
    [
        "requests==2.32.0\n",
        "requests==2.32.0 \\\n",
        "requests>=2 \\\n    --hash=sha256:" + "a" * 64 + "\n",
        "--index-url https://example.org/simple\n",
        "x @ https://example.org/x.whl \\\n    --hash=sha256:" + "a" * 64 + "\n",
    ],
)
def test_a_lock_with_anything_but_pins_and_hashes_is_refused(tree: dict[str, Any], text: str) -> None:
    assert list(tree["in_lock"]("requirements.lock", text))


def test_a_package_that_runs_code_at_every_start_is_noticed(tree: dict[str, Any], tmp_path: Path) -> None:
    for name in ("distutils-precedence.pth", "litellm_init.pth"):
        (tmp_path / name).touch()

    assert [finding.partition(":")[0] for finding in tree["in_environment"](tmp_path)] == ["litellm_init.pth"]


def test_this_tree_is_clean(tree: dict[str, Any]) -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("not a checkout")

    assert tree["main"]() == 0
