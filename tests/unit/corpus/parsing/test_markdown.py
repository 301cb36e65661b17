"""Markdown to blocks."""

from pathlib import Path

import pytest

from corpus.parsing.blocks import BlockKind, ParseFailure
from tests.unit.corpus.parsing.reading import of_kind, read, shown

PAPER = """---
title: Steam explosion of straw
authors: [Ada Green, {given: Bo, family: Lind}]
date: 2021-05-03
doi: https://doi.org/10.1000/ABC.9
journal: Journal of Straw
license: CC BY 4.0
---

Steam explosion of straw
========================

Yields rose *sharply* at 190 °C,
see [the data](https://example.org).

Methods
-------

- chopped straw
- steam

| Feedstock | Yield |
| --------- | ----: |
| Straw     | 210   |

```python
print("kept as it is")
```

$$
E = mc^2
$$

## References

1. Smith, J. (2019). Straw. https://doi.org/10.1000/xyz
"""


def test_every_structure_becomes_its_block(tmp_path: Path) -> None:
    document = read(tmp_path / "paper.md", PAPER)

    assert shown(document) == [
        "heading1 Steam explosion of straw",
        "paragraph Yields rose sharply at 190 °C, see the data.",
        "heading2 Methods",
        "list_item chopped straw",
        "list_item steam",
        "table ",
        'code print("kept as it is")',
        "equation E = mc^2",
    ]


def test_front_matter_is_the_metadata(tmp_path: Path) -> None:
    document = read(tmp_path / "paper.md", PAPER)

    assert document.title == "Steam explosion of straw"
    assert document.authors == ("Ada Green", "Bo Lind")
    assert (document.year, document.doi, document.journal) == (2021, "10.1000/abc.9", "Journal of Straw")
    assert document.license_statement == "CC BY 4.0"


def test_pipe_tables_keep_their_rows(tmp_path: Path) -> None:
    table = next(block for block in read(tmp_path / "p.md", PAPER).blocks if block.kind is BlockKind.TABLE)

    assert table.rows == (("Feedstock", "Yield"), ("Straw", "210"))
    assert table.header_rows == 1


def test_references_are_apart(tmp_path: Path) -> None:
    assert [entry.doi for entry in read(tmp_path / "p.md", PAPER).references] == ["10.1000/xyz"]


def test_the_words_of_raw_html_stay(tmp_path: Path) -> None:
    assert of_kind(read(tmp_path / "h.md", "<div>kept <b>words</b></div>"), BlockKind.PARAGRAPH) == [
        "kept words"
    ]


@pytest.mark.parametrize(
    "front", ["a: &a [x]\nb: *a", "[unclosed", "- just\n- a list", "x: !!python/object:os.system {}"]
)
def test_front_matter_that_is_hostile_or_broken_is_ignored_with_a_warning(tmp_path: Path, front: str) -> None:
    document = read(tmp_path / "f.md", f"---\n{front}\n---\n\nA paragraph of text.\n")

    assert document.warnings == ("The front matter could not be read and was ignored.",)
    assert of_kind(document, BlockKind.PARAGRAPH) == ["A paragraph of text."]


@pytest.mark.parametrize(
    "content",
    [">" * 10_000 + " x", "\n".join("  " * depth + "- x" for depth in range(300))],
    ids=["quotes", "lists"],
)
def test_nesting_too_deep_is_named(tmp_path: Path, content: str) -> None:
    with pytest.raises(ParseFailure) as failure:
        read(tmp_path / "d.md", content)

    assert failure.value.code == "nested_too_deep"


def test_ten_thousand_brackets_are_one_paragraph(tmp_path: Path) -> None:
    content = "[" * 10_000 + "]" * 10_000

    assert of_kind(read(tmp_path / "b.md", content), BlockKind.PARAGRAPH) == [content]
