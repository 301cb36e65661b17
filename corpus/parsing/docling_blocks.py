"""Docling's documents as our blocks: a walk in reading order, hidden layers and furniture left out."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from docling_core.types.doc import (
    CodeItem,
    ContentLayer,
    DocItemLabel,
    DoclingDocument,
    FormulaItem,
    GroupItem,
    GroupLabel,
    ListItem,
    PictureItem,
    SectionHeaderItem,
    TableItem,
    TextItem,
    TitleItem,
)

from corpus.bibliography.latex import to_text
from corpus.normalise import clean, one_line
from corpus.parsing.blocks import Block, BlockKind, Box, ParseFailure
from corpus.parsing.markup import grid

_MOST_CELLS = 200_000
_MOST_NODES = 1_000_000
_TABLE_CAPTION = re.compile(
    r"(?:(?:supplementary|extended data|appendix)\s+)?tab(?:le|\.)\s*[\divxS]", re.IGNORECASE
)
# Formulas that lose their meaning when they are written on one line without braces.
_STRUCTURED = re.compile(r"\\(?:[dt]?frac|sqrt|binom|over|begin|left|overset|underset|sum|int|prod)\b")
_NO_SPACE_BEFORE = re.compile(r"\s+([,.;:)\]?!])")
_TEXT_KINDS = {
    DocItemLabel.CAPTION: BlockKind.CAPTION,
    DocItemLabel.FOOTNOTE: BlockKind.FOOTNOTE,
    DocItemLabel.FORMULA: BlockKind.EQUATION,
    DocItemLabel.CODE: BlockKind.CODE,
}
_FURNITURE = frozenset({DocItemLabel.PAGE_HEADER, DocItemLabel.PAGE_FOOTER, DocItemLabel.EMPTY_VALUE})
_METADATA = "metadata"


@dataclass(slots=True)
class Content:
    """What a document holds: its blocks, and what stands in front of them."""

    blocks: list[Block] = field(default_factory=list)
    title: str = ""
    authors: list[str] = field(default_factory=list)
    pictures: int = 0
    hidden: int = 0


def read(
    document: DoclingDocument, *, has_pages: bool = False, has_boxes: bool = False, keeps_notes: bool = False
) -> Content:
    """Return the content of `document`; pages, places on them and notes of speakers only where asked for."""
    walk = _Walk(document, has_pages=has_pages, has_boxes=has_boxes, keeps_notes=keeps_notes)
    walk.run()
    walk.content.blocks = [block for block in walk.content.blocks if block.text.strip() or block.rows]
    return walk.content


@dataclass
class _Walk:
    """One pass over the tree, without recursion."""

    document: DoclingDocument
    has_pages: bool
    has_boxes: bool
    keeps_notes: bool
    content: Content = field(default_factory=Content)
    _captions: set[str] = field(default_factory=set)
    _nodes: int = 0
    _below_title: int = 0
    _notes_on: int | None = None

    def run(self) -> None:
        for table in self.document.tables:
            self._captions.update(ref.cref for ref in table.captions)
        waiting: list[Any] = list(reversed(self.document.body.children))
        while waiting:
            node = waiting.pop().resolve(self.document)
            self._nodes += 1
            if self._nodes > _MOST_NODES:
                raise ParseFailure("too_large", f"The document has more than {_MOST_NODES:,} parts.")
            if self._take(node):
                waiting.extend(reversed(node.children))

    def _take(self, node: Any) -> bool:
        """Add what `node` says; return whether what is below it has still to be read."""
        if not self._is_seen(node):
            return False
        if isinstance(node, TableItem):
            self._add_table(node)
            return False
        if isinstance(node, PictureItem):
            self.content.pictures += 1
            return True
        if isinstance(node, GroupItem):
            return self._open_group(node)
        if isinstance(node, TextItem):
            return self._add_text(node)
        return True

    def _is_seen(self, node: Any) -> bool:
        layer = node.content_layer
        if layer is ContentLayer.BODY or getattr(node, "label", None) is DocItemLabel.FOOTNOTE:
            return True
        if layer is ContentLayer.INVISIBLE:
            self.content.hidden += 1
        return layer is ContentLayer.NOTES and self.keeps_notes

    def _open_group(self, group: GroupItem) -> bool:
        if group.label is GroupLabel.INLINE:
            self._add(BlockKind.PARAGRAPH, _inline(group, self.document), group)
            return False
        if group.label is GroupLabel.SHEET:
            self._add(BlockKind.HEADING, group.name, group, level=1)
        elif group.name == _METADATA:
            self._read_metadata(group)
            return False
        return group.label is not GroupLabel.COMMENT_SECTION

    def _read_metadata(self, group: GroupItem) -> None:
        """Read what a LaTeX preamble says: the title, and a group of names."""
        for ref in group.children:
            node: Any = ref.resolve(self.document)
            if isinstance(node, TitleItem):
                self._add_title(node)
            elif isinstance(node, GroupItem):
                names = (_words(child.resolve(self.document), self.document) for child in node.children)
                self.content.authors += [name for name in map(one_line, names) if name]

    def _add_title(self, node: TitleItem) -> None:
        inline = _inline_child(node, self.document)
        text = one_line(node.text if inline is None else _inline(inline, self.document))
        self.content.title = self.content.title or text
        # Every slide has a title of its own; any other document has one above its headings.
        self._below_title = 0 if self.keeps_notes else 1
        self._add(BlockKind.HEADING, text, node, level=1)

    def _add_text(self, node: TextItem) -> bool:
        if node.label in _FURNITURE or node.self_ref in self._captions:
            return False
        if node.content_layer is ContentLayer.NOTES:
            self._begin_notes(node)
        if isinstance(node, TitleItem):
            self._add_title(node)
            return True
        inline = _inline_child(node, self.document)
        text = node.text if inline is None else _inline(inline, self.document)
        self._add_by_kind(node, text)
        return inline is None

    def _add_by_kind(self, node: TextItem, text: str) -> None:
        if isinstance(node, SectionHeaderItem):
            self._add(BlockKind.HEADING, text, node, level=node.level + self._below_title)
        elif isinstance(node, ListItem):
            marker = node.marker.strip() if node.enumerated else ""
            self._add(BlockKind.LIST_ITEM, f"{marker} {text}".strip() if text.strip() else "", node)
        elif isinstance(node, CodeItem | FormulaItem):
            self._add(_TEXT_KINDS[node.label], text, node)
        else:
            kind = _TEXT_KINDS.get(node.label, BlockKind.PARAGRAPH)
            is_caption = kind is BlockKind.PARAGRAPH and len(text) < 1_000 and _TABLE_CAPTION.match(text)
            self._add(BlockKind.CAPTION if is_caption else kind, text, node)

    def _begin_notes(self, node: TextItem) -> None:
        page = _page(node)
        if page != self._notes_on:
            self._notes_on = page
            self._add(BlockKind.HEADING, "Notes", node, level=2)

    def _add(self, kind: BlockKind, text: str, node: Any, *, level: int = 0) -> None:
        text = clean(text)
        text = text.strip("\n") if kind is BlockKind.CODE else one_line(text)
        self.content.blocks.append(Block(kind, text, level=level, **self._place(node)))

    def _place(self, node: Any) -> dict[str, Any]:
        boxes = tuple(_boxes(node, self.document)) if self.has_boxes else ()
        return {"page": _page(node) if self.has_pages else None, "boxes": boxes}

    def _add_table(self, table: TableItem) -> None:
        caption = one_line(" ".join(ref.resolve(self.document).text for ref in table.captions))
        rows, header_rows = _rows(table, self.document)
        place = self._place(table)
        if len(rows) == 1 and sum(bool(cell) for cell in rows[0]) == 1:
            # One cell is no table: a remark beside the figures, or a frame around a paragraph.
            self.content.blocks.append(Block(BlockKind.PARAGRAPH, "".join(rows[0]), **place))
        elif rows:
            self.content.blocks.append(
                Block(BlockKind.TABLE, clean(caption), rows=rows, header_rows=header_rows, **place)
            )


def _page(node: Any) -> int | None:
    places = getattr(node, "prov", None)
    return int(places[0].page_no) if places else None


def _boxes(node: Any, document: DoclingDocument) -> Iterator[Box]:
    """Yield where the node stands, relative to its pages."""
    for place in getattr(node, "prov", ()):
        page = document.pages.get(place.page_no)
        if page is None or not page.size.width or not page.size.height:
            continue
        found = place.bbox.to_top_left_origin(page.size.height)
        across = (_within(edge / page.size.width) for edge in (found.l, found.r))
        down = (_within(edge / page.size.height) for edge in (found.t, found.b))
        (left, right), (top, bottom) = across, down
        yield Box(int(place.page_no), left, top, right, bottom)


def _within(share: float) -> float:
    return min(max(share, 0.0), 1.0)


def _rows(table: TableItem, document: DoclingDocument) -> tuple[tuple[tuple[str, ...], ...], int]:
    """Return the rows with every spanning cell where it stands, and how many of them are headers."""
    data = table.data
    if data.num_rows * max(data.num_cols, 1) > _MOST_CELLS:
        raise ParseFailure("too_large", f"A table has more than {_MOST_CELLS:,} cells.")
    lines: list[list[tuple[str, int, int]]] = [[] for _ in range(data.num_rows)]
    is_header = [False] * data.num_rows
    for cell in sorted(data.table_cells, key=lambda cell: cell.start_col_offset_idx):
        row = cell.start_row_offset_idx
        if row < data.num_rows:
            lines[row].append((one_line(clean(_cell_text(cell, document))), cell.col_span, cell.row_span))
            is_header[row] = is_header[row] or cell.column_header
    rows = grid(lines)
    header_rows = next((number for number, found in enumerate(is_header) if not found), len(is_header))
    header_rows = min(header_rows, len(rows))
    return rows, 0 if header_rows == len(rows) and len(rows) > 1 else header_rows


def _cell_text(cell: Any, document: DoclingDocument) -> str:
    ref = getattr(cell, "ref", None)
    return str(cell.text) if ref is None else _words(ref.resolve(document), document)


def _words(start: Any, document: DoclingDocument) -> str:
    """Return the words of everything below and at `start`, in order."""
    found: list[str] = []
    waiting = [start]
    while waiting:
        node = waiting.pop()
        if isinstance(node, str):
            found.append(node)
        elif isinstance(node, TableItem):
            refs = [getattr(cell, "ref", None) for cell in node.data.table_cells]
            cells = zip(refs, node.data.table_cells, strict=True)
            waiting += reversed([cell.text if ref is None else ref.resolve(document) for ref, cell in cells])
        else:
            found.append(_formula(node.text) if isinstance(node, FormulaItem) else getattr(node, "text", ""))
            waiting += [child.resolve(document) for child in reversed(node.children)]
    return " ".join(word for word in found if word)


def _inline_child(node: TextItem, document: DoclingDocument) -> GroupItem | None:
    """Return the group of runs that an otherwise empty text stands for."""
    if node.text.strip() or not node.children:
        return None
    first = node.children[0].resolve(document)
    return first if isinstance(first, GroupItem) and first.label is GroupLabel.INLINE else None


def _inline(group: GroupItem, document: DoclingDocument) -> str:
    """Return runs of text and formulas as one line, a space between those that bring none."""
    nodes: Sequence[Any] = [ref.resolve(document) for ref in group.children]
    parts = list(_runs(nodes))
    line = ""
    for text, is_formula in parts:
        if line and text and not is_formula and line[-1:].isalnum() and text[:1].isalnum():
            line += " "
        line += text
    return _NO_SPACE_BEFORE.sub(r"\1", one_line(line))


def _runs(nodes: Sequence[Any]) -> Iterator[tuple[str, bool]]:
    for node in nodes:
        text = getattr(node, "text", "")
        yield (_formula(text), True) if isinstance(node, FormulaItem) else (text, False)


def _formula(latex: str) -> str:
    """Return a formula inside a line in Unicode where it stays readable, else as LaTeX between dollars."""
    return f"${latex}$" if _STRUCTURED.search(latex) else to_text(f"${latex}$")
