"""What of an HTML page is furniture: navigation, forms, hidden text, and which part is the main one."""

from __future__ import annotations

import re
from dataclasses import dataclass

from lxml import etree

from corpus.parsing.markup import Element

DROPPED = frozenset(
    """script style noscript template nav footer aside form button select option input textarea iframe
    object svg canvas audio video head dialog menu""".split()
)
_DROPPED_NAMES = frozenset(
    """nav navbar navigation breadcrumb breadcrumbs sidebar footer masthead menu site-header site-footer
    skip-link cookie-banner advertisement""".split()
)
_DROPPED_IDS = _DROPPED_NAMES | {"header", "banner"}
_DROPPED_ROLES = frozenset({"navigation", "banner", "contentinfo", "search", "complementary", "dialog"})
_HIDDEN_STYLE = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Furniture:
    """The rules for one page. A page that is one form keeps its forms; one that declares no main part is
    rid of lists that are nearly all links."""

    keeps_forms: bool
    drops_link_lists: bool

    def covers(self, element: Element, name: str) -> bool:
        """Whether an element and all in it are left out."""
        if name in DROPPED and not (name == "form" and self.keeps_forms):
            return True
        if _is_marked(element, name) or (
            name in ("ul", "ol") and self.drops_link_lists and _is_link_list(element)
        ):
            return True
        if name == "header":
            return next(element.iterancestors("article", "main"), None) is None
        style = element.get("style")
        return style is not None and _HIDDEN_STYLE.search(style) is not None


def main_part(body: Element) -> Element:
    """Return the one element that is declared the main part, when it holds most of the words."""
    candidates = [*body.iter("main"), *body.iter("article"), *body.xpath('.//*[@role="main"]')]
    if not candidates:
        return body
    largest = max(candidates, key=_text_length)
    return largest if _text_length(largest) * 2 >= _text_length(body) else body


def _text_length(element: Element) -> int:
    return sum(len(text.strip()) for text in element.itertext(etree.Element))


def _is_marked(element: Element, name: str) -> bool:
    """Whether role, id or class of an element say that it is not part of the text."""
    if element.get("role") in _DROPPED_ROLES or element.get("hidden") is not None:
        return True
    if name in ("html", "body", "main", "article"):
        return False
    classes = (element.get("class") or "").lower().split()
    return (element.get("id") or "").lower() in _DROPPED_IDS or not _DROPPED_NAMES.isdisjoint(classes)


def _is_link_list(element: Element) -> bool:
    """Whether a list is nearly all links: the navigation of a page that does not mark its own."""
    links = sum(_text_length(link) for link in element.iter("a"))
    items = sum(1 for _ in element.iter("li"))
    total = _text_length(element)
    return items > 1 and links >= 0.8 * total and total < 80 * items
