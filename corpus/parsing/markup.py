"""What HTML and JATS have in common: element names, running text of mixed content, table grids."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

from lxml import etree

from corpus.normalise import one_line
from corpus.parsing.blocks import ParseFailure

Element = Any

_SUPERSCRIPTS = str.maketrans(
    "0123456789+-\u2212\u2013n",
    "\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079\u207a\u207b\u207b\u207b\u207f",
)
_SUPERSCRIPT_SOURCES: Final = frozenset("0123456789+-\u2212\u2013n")
_WIDEST_SPAN = 60
_MOST_CELLS = 200_000


def local_name(element: Element) -> str:
    """Return the element's name without its namespace, in lower case; "" for comments and the like."""
    tag = element.tag
    return tag.rpartition("}")[2].lower() if isinstance(tag, str) else ""


def raised(text: str, *, after: str) -> str:
    """Return superscript `text` as it reads behind `after`: an exponent of a number keeps its place.

    "10" and "-3" give "10⁻³"; behind a word or unit the text stays as it is ("m2").
    """
    stripped = text.strip()
    if after[-1:].isdigit() and stripped and len(stripped) <= 4 and _SUPERSCRIPT_SOURCES.issuperset(stripped):
        return stripped.translate(_SUPERSCRIPTS)
    return text


def grid(rows: Iterable[Iterable[tuple[str, int, int]]]) -> tuple[tuple[str, ...], ...]:
    """Return the rows of a table with every cell where it stands, given (text, columns, rows) spans.

    A spanning cell is repeated in each place it covers, so that every row can be read alone; one that
    covers a whole row stands once.
    """
    filled: list[list[str]] = []
    pending: dict[int, tuple[str, int]] = {}
    cells = 0
    for row in rows:
        line = list(_place(row, pending))
        cells += len(line)
        if cells > _MOST_CELLS:
            raise ParseFailure("too_large", f"A table has more than {_MOST_CELLS:,} cells.")
        filled.append(line)
    width = max((len(line) for line in filled), default=0)
    return tuple(
        tuple(_once(line) + [""] * (width - len(_once(line))))
        for line in filled
        if any(cell for cell in line)
    )


def _place(row: Iterable[tuple[str, int, int]], pending: dict[int, tuple[str, int]]) -> Iterator[str]:
    """Yield the cells of one row, those that reach down from rows above at their place."""
    column = 0

    def from_above() -> Iterator[str]:
        nonlocal column
        while column in pending:
            text, left = pending.pop(column)
            if left > 1:
                carried[column] = (text, left - 1)
            yield text
            column += 1

    carried: dict[int, tuple[str, int]] = {}
    for text, columns, down in row:
        yield from from_above()
        for _ in range(min(max(columns, 1), _WIDEST_SPAN)):
            if down > 1:
                carried[column] = (text, min(down, _WIDEST_SPAN * 10) - 1)
            pending.pop(column, None)
            yield text
            column += 1
    yield from from_above()
    pending.update(carried)


def _once(line: list[str]) -> list[str]:
    return line[:1] if len(line) > 1 and len(set(line)) == 1 and line[0] else line


def running_text(
    element: Element, *, breaks: frozenset[str] = frozenset(), skipped: frozenset[str] = frozenset()
) -> str:
    """Return the words of mixed content on one line, apart where `breaks` elements divide them."""
    return one_line(mixed_text(element, breaks=breaks, skipped=skipped))


def mixed_text(
    element: Element,
    *,
    breaks: frozenset[str] = frozenset(),
    skipped: frozenset[str] = frozenset(),
    after: str = "",
) -> str:
    """Return the words of mixed content with its white space as it is; `after` stands before them."""
    parts: list[str] = []
    walker = etree.iterwalk(element, events=("start", "end"))
    for event, node in walker:
        name = local_name(node)
        if name in breaks:
            parts.append(" ")
        if event == "end":
            parts.append((node.tail or "") if node is not element else "")
        elif name in skipped:
            walker.skip_subtree()
        else:
            text = node.text or ""
            parts.append(raised(text, after="".join(parts[-2:]) or after) if name == "sup" else text)
    return "".join(parts)
