"""An answer's Markdown as safe HTML. The one place of the product that marks rendered text as safe.

Model output is untrusted: raw HTML stays text, there are no images and no links but our own citation
chips, and what Markdown made is sanitised once more. Quotations that stand word for word in a source are
shown character for character, so that no asterisk of theirs turns into emphasis.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Protocol

import nh3
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _
from markdown_it import MarkdownIt

from answers import citations

if TYPE_CHECKING:
    from markdown_it.token import Token

_TAGS = {
    "a", "blockquote", "br", "code", "em", "h3", "h4", "h5", "h6", "hr", "li", "ol", "p", "pre", "span",
    "strong", "table", "tbody", "td", "th", "thead", "tr", "ul",
}  # fmt: skip
_ATTRIBUTES = {
    "a": {"class", "href", "interestfor", "aria-label"},
    "span": {"class", "title"},
    "ol": {"start"},
}
_OWN_LINK = re.compile(r"#source-\d{1,3}")
# The card that opens beside a chip on hover and focus, where browsers know how.
_OWN_CARD = re.compile(r"source-\d{1,3}-card")
_OWN_CLASSES = {"cite", "cite-unknown"}
# Private-use characters stand for citations while Markdown is parsed; any in the text itself go first.
_LEFT, _RIGHT = "\ue000", "\ue001"
_PLACE = re.compile(f"{_LEFT}(\\d+){_RIGHT}")
_MARKDOWN_SIGNS = re.compile(r"([\\`*_{}\[\]()#+\-.!|<>~&$^:])")
_HEADINGS = {"h1": "h3", "h2": "h4", "h3": "h5", "h4": "h6", "h5": "h6"}
_DEEPEST_NESTING = 20


class Citable(Protocol):
    """A numbered source, as far as rendering needs it."""

    @property
    def number(self) -> int: ...

    @property
    def title(self) -> str: ...

    @property
    def body(self) -> str: ...


def render(text: str, sources: Sequence[Citable]) -> SafeString:
    """Return `text` as HTML with a chip for each citation of `sources`, which count from 1 in order."""
    text = text.replace(_LEFT, "").replace(_RIGHT, "").replace("\0", "")
    bodies = [source.body for source in sources]
    found = citations.find(text, bodies)
    quoted = citations.quotations(text, bodies)
    prepared = _prepared(text, found, quoted)
    tokens = _markdown().parse(prepared)
    for token in tokens:
        _settle(token, text, found)
    html = _markdown().renderer.render(tokens, _markdown().options, {})
    html = _PLACE.sub(lambda match: _chip(text, found[int(match[1])], sources), html)
    return mark_safe(_sanitised(html))  # noqa: S308 sanitised in the line itself


@cache
def _markdown() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "linkify": False, "maxNesting": _DEEPEST_NESTING})
    parser.enable("table")
    parser.disable(["image", "link", "autolink", "reference", "html_inline", "html_block"])
    return parser


def _prepared(text: str, found: Sequence[citations.Citation], quoted: Sequence[citations.Quotation]) -> str:
    """Put placeholders for citations, and escape what Markdown would read in verbatim quotations."""
    pieces, position = [], 0
    spans = [(c.start, c.end, index) for index, c in enumerate(found)]
    spans += [(q.start, q.end, -1) for q in quoted]
    for start, end, index in sorted(spans):
        pieces.append(text[position:start])
        quotation = text[start:end]
        pieces.append(_MARKDOWN_SIGNS.sub(r"\\\1", quotation) if index < 0 else f"{_LEFT}{index}{_RIGHT}")
        position = end
    return "".join([*pieces, text[position:]])


def _settle(token: Token, text: str, found: Sequence[citations.Citation]) -> None:
    """Lower headings, and give back to code the characters a placeholder may have taken from it."""
    if token.type in {"heading_open", "heading_close"}:
        token.tag = _HEADINGS.get(token.tag, "h6")
    if token.type in {"code_inline", "code_block", "fence"}:
        token.info = ""
        token.content = _PLACE.sub(
            lambda match: text[found[int(match[1])].start : found[int(match[1])].end], token.content
        )
    for child in token.children or ():
        _settle(child, text, found)


def _chip(text: str, citation: citations.Citation, sources: Sequence[Citable]) -> SafeString:
    if not citation.numbers:
        return _unknown(text[citation.start + 1 : citation.end - 1])
    chips = [
        format_html(
            '<a class="cite" href="#source-{}" interestfor="source-{}-card" aria-label="{}">{}</a>',
            number,
            number,
            _("Source %(number)s: %(title)s") % {"number": number, "title": sources[number - 1].title},
            number,
        )
        for number in citation.numbers
    ]
    chips += [_unknown(str(number)) for number in citation.unknown]
    return format_html_join("", "{}", ((chip,) for chip in chips))


def _unknown(numbers: str) -> SafeString:
    return format_html(
        '<span class="cite-unknown" title="{}">[{}?]</span>',
        _("No source has this number."),
        numbers.strip(),
    )


def _sanitised(html: str) -> str:
    return nh3.clean(
        html,
        tags=_TAGS,
        attributes=_ATTRIBUTES,
        attribute_filter=_allowed,
        url_schemes=set(),
        link_rel=None,
        strip_comments=True,
    )


def _allowed(tag: str, attribute: str, value: str) -> str | None:
    if attribute == "href":
        return value if _OWN_LINK.fullmatch(value) else None
    if attribute == "interestfor":
        return value if _OWN_CARD.fullmatch(value) else None
    if attribute == "class":
        return value if value in _OWN_CLASSES else None
    if attribute == "start":
        return value if value.isdigit() and len(value) < 6 else None
    return value
