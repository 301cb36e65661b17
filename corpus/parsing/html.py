"""HTML: the words of a page without the furniture around them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from lxml import etree, html

from corpus.identifiers import normalise_doi
from corpus.normalise import clean, one_line
from corpus.parsing.blocks import Block, BlockKind, ParsedDocument, ParseFailure
from corpus.parsing.decoding import decode
from corpus.parsing.html_furniture import Furniture, main_part
from corpus.parsing.limits import ParseLimits
from corpus.parsing.markup import Element, grid, local_name, raised, running_text
from corpus.parsing.media_types import HTML
from corpus.parsing.metadata import as_year, find_license
from corpus.parsing.references import split_reference_list

PARSER = "lxml-html 1"
_DEEPEST = 250
_DECLARED_ENCODING = re.compile(rb"""<meta[^>]{0,200}charset\s*=\s*["']?([\w.:-]{1,40})""", re.IGNORECASE)
_XML_DECLARATION = re.compile(r"\s*<\?xml[^>]{0,200}\?>")

_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_KINDS = {
    "li": BlockKind.LIST_ITEM,
    "pre": BlockKind.CODE,
    "figcaption": BlockKind.CAPTION,
    "caption": BlockKind.CAPTION,
}
_FLOW = frozenset(
    """address article blockquote body center dd details div dl dt fieldset figure hr html main ol p section
    summary table tbody td tfoot th thead tr ul""".split()
)
_CELL_BREAKS = _FLOW | {"br", "li", "table"}


def parse(path: Path, limits: ParseLimits) -> ParsedDocument:
    """Read an HTML page; `citation_*` and Dublin Core tags give the metadata."""
    text, warnings = decoded(path.read_bytes())
    if len(text) > limits.max_characters:
        raise ParseFailure("too_large", f"The page has more than {limits.max_characters:,} characters.")
    root = tree(text)
    blocks = _blocks(root)
    if not blocks:
        raise ParseFailure("no_text", "The page contains no text.")
    kept, references = split_reference_list(blocks)
    facts = _Facts.of(root)
    return ParsedDocument(
        blocks=kept,
        parser=PARSER,
        media_type=HTML,
        title=facts.first("citation_title", "dc.title") or _page_title(root, blocks),
        authors=facts.all("citation_author", "dc.creator", "dc.contributor", "author"),
        year=as_year(facts.first("citation_publication_date", "citation_date", "citation_year", "dc.date")),
        doi=normalise_doi(facts.first("citation_doi", "dc.identifier")) or "",
        journal=facts.first("citation_journal_title", "prism.publicationname"),
        language=(root.get("lang") or facts.first("citation_language", "dc.language"))[:20],
        license_statement=_license(root, facts) or find_license(block.text for block in kept),
        references=references,
        warnings=warnings,
        quality={"characters": sum(len(block.text) for block in blocks)},
    )


def decoded(data: bytes) -> tuple[str, tuple[str, ...]]:
    """Return a page as text, with what to say about how it was read."""
    declared = _DECLARED_ENCODING.search(data[:4_096])
    if declared is not None:
        try:
            return data.decode(declared[1].decode("ascii")), ()
        except (LookupError, UnicodeDecodeError):
            pass
    text, encoding = decode(data)
    return text, () if encoding == "utf-8" else (f"The page is not UTF-8; it was read as {encoding}.",)


def tree(text: str) -> Element:
    """Return the root of a page."""
    text = _XML_DECLARATION.sub("", clean(text), count=1)
    if not text.strip():
        raise ParseFailure("no_text", "The page contains no text.")
    parser = html.HTMLParser(remove_comments=True, remove_pis=True, huge_tree=False)
    try:
        root = html.document_fromstring(text, parser=parser)
    except (etree.ParserError, etree.XMLSyntaxError) as error:
        raise ParseFailure("damaged", "The page cannot be read as HTML.") from error
    if any("depth" in entry.message.lower() for entry in parser.error_log):
        raise ParseFailure("nested_too_deep", f"The page is nested more than {_DEEPEST} levels deep.")
    return root


def _blocks(root: Element) -> list[Block]:
    """Return the blocks of the main part, or of everything where nothing is left without forms."""
    body = root.find("body")
    start = root if body is None else main_part(body)
    for keeps_forms in (False, True):
        furniture = Furniture(keeps_forms=keeps_forms, drops_link_lists=start is body)
        blocks = [block for block in _Walk(furniture).blocks(start) if block.text or block.rows]
        if blocks:
            return blocks
    return []


@dataclass
class _Walk:
    """One pass over the tree without recursion; words gather until a block begins or ends."""

    furniture: Furniture
    _words: list[str] = field(default_factory=list)
    _kinds: list[tuple[BlockKind, int]] = field(default_factory=lambda: [(BlockKind.PARAGRAPH, 0)])

    def blocks(self, start: Element) -> Iterator[Block]:
        """Yield the blocks below `start` in document order."""
        walker = etree.iterwalk(start, events=("start", "end"))
        for event, element in walker:
            name = local_name(element)
            if event == "start":
                yield from self._open(walker, element, name)
            else:
                yield from self._close(element, name, is_start=element is start)
        yield from self._flush()

    def _open(self, walker: Element, element: Element, name: str) -> Iterator[Block]:
        if self.furniture.covers(element, name):
            walker.skip_subtree()
            return
        if name == "table" and not _is_layout(element):
            yield from self._flush()
            yield _table(element)
            walker.skip_subtree()
            return
        if name in _FLOW or name in _HEADINGS or name in _KINDS:
            yield from self._flush()
            self._kinds.append(self._kind(name))
        elif name == "br":
            self._words.append("\n" if self._kinds[-1][0] is BlockKind.CODE else " ")
        elif name == "img" and element.get("alt"):
            self._words.append(f" {element.get('alt')} ")
        text = element.text or ""
        self._words.append(raised(text, after="".join(self._words[-1:])) if name == "sup" else text)

    def _close(self, element: Element, name: str, *, is_start: bool) -> Iterator[Block]:
        opened = name in _FLOW or name in _HEADINGS or name in _KINDS
        if opened and not self._was_skipped(element, name):
            yield from self._flush()
            self._kinds.pop()
        if element.tail and not is_start:
            self._words.append(element.tail)

    def _was_skipped(self, element: Element, name: str) -> bool:
        return self.furniture.covers(element, name) or (name == "table" and not _is_layout(element))

    def _kind(self, name: str) -> tuple[BlockKind, int]:
        if name in _HEADINGS:
            return BlockKind.HEADING, _HEADINGS[name]
        if name in _KINDS:
            return _KINDS[name], 0
        kind, level = self._kinds[-1]
        return (kind, level) if kind in (BlockKind.LIST_ITEM, BlockKind.CAPTION) else (BlockKind.PARAGRAPH, 0)

    def _flush(self) -> Iterator[Block]:
        words, (kind, level) = "".join(self._words), self._kinds[-1]
        self._words.clear()
        text = words.strip("\n") if kind is BlockKind.CODE else one_line(words)
        if text.strip():
            yield Block(kind, text, level=level)


def _is_layout(table: Element) -> bool:
    """Whether a table arranges the page rather than data."""
    if table.get("role") == "presentation" or next(table.iterdescendants("table"), None) is not None:
        return True
    if next(table.iterdescendants("th"), None) is not None:
        return False
    return (
        next(table.iterdescendants("h1", "h2", "h3", "p", "ul"), None) is not None
        and len(table.findall(".//tr")) < 3
    )


def _table(table: Element) -> Block:
    rows = list(table.iterdescendants("tr"))
    cells = [[cell for cell in row if local_name(cell) in ("td", "th")] for row in rows]
    header_rows = 0
    for row, row_cells in zip(rows, cells, strict=True):
        is_header = local_name(row.getparent()) == "thead" or all(
            local_name(cell) == "th" for cell in row_cells
        )
        if not row_cells or not is_header:
            break
        header_rows += 1
    spans = (
        [
            (running_text(cell, breaks=_CELL_BREAKS), _span(cell, "colspan"), _span(cell, "rowspan"))
            for cell in row_cells
        ]
        for row_cells in cells
    )
    caption = table.find(".//caption")
    filled = grid(spans)
    return Block(
        BlockKind.TABLE,
        "" if caption is None else running_text(caption, breaks=_CELL_BREAKS),
        rows=filled,
        header_rows=min(header_rows, len(filled)),
    )


def _span(cell: Element, name: str) -> int:
    value = cell.get(name, "1").strip()
    return int(value) if value.isascii() and value.isdigit() and len(value) < 5 else 1


class _Facts:
    """The `<meta>` tags of a page by lower-case name, in order."""

    def __init__(self, values: dict[str, list[str]]) -> None:
        self._values = values

    @classmethod
    def of(cls, root: Element) -> _Facts:
        values: dict[str, list[str]] = {}
        for tag in root.iter("meta"):
            name = (tag.get("name") or tag.get("property") or "").lower()
            content = one_line(tag.get("content") or "")
            if name and content:
                values.setdefault(name, []).append(content)
        return cls(values)

    def first(self, *names: str) -> str:
        return next((self._values[name][0] for name in names if name in self._values), "")

    def all(self, *names: str) -> tuple[str, ...]:
        return next((tuple(self._values[name]) for name in names if name in self._values), ())


def _page_title(root: Element, blocks: list[Block]) -> str:
    heading = next(
        (block.text for block in blocks if block.kind is BlockKind.HEADING and block.level == 1), ""
    )
    title = root.find(".//title")
    return heading or ("" if title is None else one_line(title.text_content()))


def _license(root: Element, facts: _Facts) -> str:
    link = next(
        (tag.get("href") for tag in root.iter("a", "link") if "license" in (tag.get("rel") or "").split()), ""
    )
    return one_line(
        f"{link or ''} {facts.first('dc.rights', 'citation_license', 'dcterms.license', 'prism.copyright')}"
    )
