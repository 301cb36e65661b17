"""Hidden words of HTML and JATS: kept from readers by their style, in the part that is read.

Menus, scripts and dialogues are hidden on every page and are no part of the text: they are passed over.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from lxml import etree

from corpus.parsing import hidden_styles
from corpus.parsing.hidden import Hidden, How
from corpus.parsing.hidden_styles import Ground
from corpus.parsing.html_furniture import DROPPED, main_part
from corpus.parsing.markup import Element, local_name

_NO_SHEET: dict[str, dict[str, str]] = {}
# What machines read in a page's stead is no part of it.
_PASSED = DROPPED - {"form", "header"} | {"math", "semantics", "annotation"}


def in_html(path: Path) -> Iterator[Hidden]:
    """Yield the hidden words of a page."""
    from corpus.parsing import html

    text, _warnings = html.decoded(path.read_bytes())
    root = html.tree(text)
    sheet = hidden_styles.rules(style.text or "" for style in root.iter("style"))
    body = root.find("body")
    yield from _in(root if body is None else main_part(body), sheet)


def in_jats(path: Path) -> Iterator[Hidden]:
    """Yield the words of an article that its own styles hide."""
    from corpus.parsing import jats
    from corpus.parsing.limits import DEFAULT_LIMITS

    article, _warnings = jats.article_of(path.read_bytes(), DEFAULT_LIMITS)
    yield from _in(article, _NO_SHEET)


def _in(start: Element, sheet: dict[str, dict[str, str]]) -> Iterator[Hidden]:
    walker = etree.iterwalk(start, events=("start", "end"))
    ground = Ground()
    for above in reversed(list(start.iterancestors())):
        ground = hidden_styles.upon(ground, _declared(above, local_name(above), sheet))
    grounds = [ground]
    for event, element in walker:
        if event == "end":
            grounds.pop()
            continue
        name = local_name(element)
        said = _declared(element, name, sheet)
        grounds.append(hidden_styles.upon(grounds[-1], said))
        hidden = How.NOT_DISPLAYED if element.get("hidden") is not None else None
        hidden = hidden or hidden_styles.how(said, grounds[-1])
        if name in _PASSED:
            walker.skip_subtree()
        elif hidden is not None:
            yield Hidden(hidden, _words(element))
            walker.skip_subtree()


def _declared(element: Element, name: str, sheet: dict[str, dict[str, str]]) -> dict[str, str]:
    said = {}
    if sheet:
        classes = (element.get("class") or "").lower().split()[:20]
        said = hidden_styles.of_element(name, (element.get("id") or "").lower(), classes, sheet)
    if name == "font" and element.get("color"):
        said["color"] = element.get("color").lower()
    if style := element.get("style"):
        said |= hidden_styles.declarations(style)
    return said


def _words(element: Element) -> str:
    parts: list[str] = []
    walker = etree.iterwalk(element, events=("start", "end"))
    for event, node in walker:
        if event == "end":
            parts.append("" if node is element else node.tail or "")
        elif local_name(node) in _PASSED:
            walker.skip_subtree()
        else:
            parts.append(node.text or "")
    return " ".join(parts)
