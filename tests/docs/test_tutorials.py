"""A tutorial says what the pages say: every word it sets in italics stands in a template or in the code."""

import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TUTORIALS = sorted((ROOT / "docs/tutorials").glob("*.md"))
SAID = re.compile(r"(?<![*\w])\*([^*\n]+(?:\n[^*\n]+)?)\*(?![*\w])")
# What explains the italics themselves.
ABOUT = {"italics"}


def quoted(page: Path) -> list[str]:
    """Return the words of the site that a page names."""
    words = (" ".join(found.split()) for found in SAID.findall(page.read_text(encoding="utf-8")))
    return sorted(set(words) - ABOUT)


@cache
def site() -> str:
    """Return everything the site's words are written in."""
    apps = ("corpus", "retrieval", "answers", "evaluation", "sci_rag_site")
    code = [path for app in apps for path in (ROOT / app).rglob("*.py") if "migrations" not in path.parts]
    files = [*(ROOT / "templates").rglob("*.html"), *code]
    text = "\n".join(path.read_text(encoding="utf-8") for path in files)
    return re.sub(r"\s+", " ", text)


def test_there_is_one_for_each_of_the_three_people() -> None:
    assert [page.stem for page in TUTORIALS] == ["asker", "expert", "librarian"]


@pytest.mark.parametrize("page", TUTORIALS, ids=lambda page: page.stem)
def test_a_tutorial_uses_the_words_of_the_pages(page: Path) -> None:
    names = quoted(page)

    assert len(names) > 15
    assert [name for name in names if not re.search(rf"[\"'>}} ]{re.escape(name)}[\"'<{{ .,]", site())] == []


@pytest.mark.parametrize("page", TUTORIALS, ids=lambda page: page.stem)
def test_a_tutorial_has_numbered_steps(page: Path) -> None:
    steps = re.findall(r"^## (\d+) \S", page.read_text(encoding="utf-8"), re.MULTILINE)

    assert steps == [str(number) for number in range(1, len(steps) + 1)]
    assert len(steps) >= 8


@pytest.mark.parametrize("page", TUTORIALS, ids=lambda page: page.stem)
def test_the_commands_of_a_tutorial_are_documented(page: Path) -> None:
    commands = re.findall(r"`(sci-rag(?: [a-z][a-z-]+)+)", page.read_text(encoding="utf-8"))
    operating = (ROOT / "docs/operating.md").read_text(encoding="utf-8")

    assert [name for name in commands if f"`{name}`" not in operating] == []
