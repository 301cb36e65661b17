"""What the pages name is there, modules, functions and files, and their examples are code that runs."""

import ast
import importlib
import re
from collections.abc import Iterator
from pathlib import Path
from string import ascii_lowercase
from typing import Any

import numpy as np
import pytest

from corpus.domain_profile import active_profile
from corpus.egress import NOTHING_HELD
from corpus.gateways.embedding import protocol
from corpus.parsing import media_types
from corpus.parsing.blocks import ParseFailure
from corpus.parsing.limits import DEFAULT_LIMITS
from retrieval.layers.keyword import READ_ALL_UP_TO
from retrieval.profiles import LAYERS

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = [
    *(DOCS / name for name in ("architecture.md", "extending.md", "glossary.md", "methodology.md")),
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CONTEXT.md")),
    *sorted((DOCS / "tutorials").glob("*.md")),
]
EXTENDING = (DOCS / "extending.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^```python\n(.*?)^```$", EXTENDING, re.MULTILINE | re.DOTALL)
# What docs/extending.md has its reader make.
TO_BE_MADE = {
    "corpus.parsing.transcript",
    "corpus/parsing/transcript.py",
    "retrieval.layers.title.TitleLayer",
    "retrieval/layers/title.py",
}
DOTTED = re.compile(
    r"(?<![\w./-])((?:answers|corpus|evaluation|retrieval|sci_rag_site)(?:\.(?!md\b)\w+)+)(?![\w/])"
)
FILES = re.compile(r"`([\w./]+/[\w./]*\w\.(?:py|yaml|md|html|jsonl|txt))`")


def is_there(name: str) -> bool:
    """Whether a dotted name leads to a module, or to something in one."""
    parts = name.split(".")
    for length in range(len(parts), 0, -1):
        try:
            found: Any = importlib.import_module(".".join(parts[:length]))
        except ModuleNotFoundError:
            continue
        for part in parts[length:]:
            found = getattr(found, part, None)
        return found is not None
    return False


def missing(page: Path) -> Iterator[str]:
    text = page.read_text(encoding="utf-8")
    for name in sorted(set(DOTTED.findall(text)) - TO_BE_MADE):
        if not is_there(name):
            yield name
    for name in sorted(set(FILES.findall(text)) - TO_BE_MADE):
        if not any((place / name).exists() for place in (ROOT, page.parent, ROOT / "domain")):
            yield name


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_what_a_page_names_is_there(page: Path) -> None:
    assert list(missing(page)) == []


def test_a_name_that_is_gone_is_noticed(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("`corpus.ceilings.effective_scope`, `corpus.ceilings.no_such` and `corpus/no_such.py`.")

    assert list(missing(page)) == ["corpus.ceilings.no_such", "corpus/no_such.py"]


def example(opening: str) -> str:
    """Return the one block of docs/extending.md that says `opening`."""
    (found,) = (block for block in EXAMPLES if opening in block)
    return found


def test_the_examples_are_python() -> None:
    assert len(EXAMPLES) == 5
    for block in EXAMPLES:
        ast.parse(block.strip())


def test_the_parser_of_the_page_reads_a_transcript(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(media_types, "VTT", "text/vtt", raising=False)
    names: dict[str, Any] = {}
    exec(example("WebVTT"), names)  # noqa: S102 the page's own code
    talk = tmp_path / "talk.vtt"
    talk.write_text("WEBVTT\n\n00:01 --> 00:04\nStraw rots\nwhen wet.\n\n00:05 --> 00:09\nHay too.\n")

    found = names["parse"](talk, DEFAULT_LIMITS)

    assert [block.text for block in found.blocks] == ["Straw rots when wet.", "Hay too."]
    talk.write_text("WEBVTT\n")
    with pytest.raises(ParseFailure, match="no cues"):
        names["parse"](talk, DEFAULT_LIMITS)


def test_the_embedder_of_the_page_makes_unit_vectors() -> None:
    names: dict[str, Any] = {**vars(protocol), "ascii_lowercase": ascii_lowercase}
    exec(example("class Letters"), names)  # noqa: S102 the page's own code

    vectors = names["Letters"]().embed(["straw", "hay"], task="document", carries=NOTHING_HELD)

    assert vectors.shape == (2, 26)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1)


def test_the_engine_of_the_page_keeps_the_contract() -> None:
    from answers import writers

    names: dict[str, Any] = dict(vars(writers))
    exec(example("class OpeningsDraft"), names)  # noqa: S102 the page's own code
    item = type("Item", (), {"body": "Straw rots. Hay does too."})

    draft = names["OpeningsDraft"]([item])

    assert list(draft.pieces()) == ["“Straw rots” [1]\n\n"]
    assert draft.finish("") == "stop"
    assert {"engine", "model", "parameters", "prompt_sha256"} <= set(dir(draft))


def test_the_methodology_gives_weight_and_pool_of_every_layer() -> None:
    rows = re.findall(
        r"^\| (\w+) \| ([\d.]+) \| (\d+) \|",
        (DOCS / "methodology.md").read_text(encoding="utf-8"),
        re.MULTILINE,
    )
    layers = active_profile().layers

    assert {name: (float(weight), int(pool)) for name, weight, pool in rows} == {
        name: (getattr(layers, name).weight, getattr(layers, name).pool) for name in LAYERS
    }


def test_the_methodology_says_how_many_passages_the_keyword_layer_reads_whole() -> None:
    text = (DOCS / "methodology.md").read_text(encoding="utf-8")

    assert f"Up to {READ_ALL_UP_TO:,} eligible passages are all read" in text
