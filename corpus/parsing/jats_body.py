"""The sections of a JATS article as blocks."""

from __future__ import annotations

from collections.abc import Iterator

from corpus.normalise import clean, one_line
from corpus.parsing.blocks import Block, BlockKind
from corpus.parsing.markup import Element, grid, local_name, mixed_text, running_text

_SECTIONS = frozenset({"sec", "ack", "app", "notes", "glossary", "boxed-text", "bio"})
_FORMULAS = frozenset({"disp-formula", "disp-formula-group"})
_FIGURES = frozenset({"fig", "media", "supplementary-material", "graphic-wrap", "chem-struct-wrap", "scheme"})
_BLOCKS_IN_PARAGRAPHS = (
    _SECTIONS
    | _FORMULAS
    | _FIGURES
    | {
        "list",
        "def-list",
        "disp-quote",
        "table-wrap",
        "table-wrap-group",
        "fig-group",
        "preformat",
        "code",
        "p",
    }
)
_SILENT = frozenset(
    """ref-list label title object-id graphic inline-graphic sub-article response permissions sec-meta
    alternatives journal-meta article-meta related-article related-object index-term attrib""".split()
)
# Notes under a line, and what says the same in another way.
_NOT_RUNNING = frozenset(
    {"fn", "object-id", "graphic", "inline-graphic", "alt-text", "long-desc", "index-term", "annotation"}
)
_CELL_BREAKS = frozenset({"break", "p", "list-item", "disp-formula"})
_DEEPEST_HEADING = 6


def blocks(article: Element) -> Iterator[Block]:
    """Yield abstract, body, floating figures and tables, and back matter without the reference list."""
    for abstract in article.iterfind("{*}front/{*}article-meta/{*}abstract"):
        yield from _abstract(abstract)
    yield from _keywords(article)
    for part in ("body", "floats-group", "floats-wrap", "back"):
        for element in article.iterfind(f"{{*}}{part}"):
            yield from _children(element, level=1)


def simplify(article: Element) -> None:
    """Leave one reading of everything that is marked up several times.

    A formula keeps its TeX, or its characters; a raised citation number is set in brackets, so that it
    does not grow together with the word before it.
    """
    for formula in _inside(article, "inline-formula", "disp-formula"):
        label, tail = formula.find("{*}label"), formula.tail
        text = _formula(formula)
        formula.clear()
        formula.tail = tail
        formula.text = text if label is None else f"{text} {_words(label)}"
    for raised_text in _inside(article, "sup"):
        if any(xref.get("ref-type") == "bibr" for xref in raised_text.iter("{*}xref")):
            tail, text = raised_text.tail, _words(raised_text)
            raised_text.clear()
            raised_text.tag, raised_text.tail, raised_text.text = "span", tail, f" [{text}]"
    for xref in _inside(article, "xref"):
        if (
            xref.get("ref-type") == "bibr"
            and len(xref) == 1
            and local_name(xref[0]) == "sup"
            and not xref.text
        ):
            tail, text = xref.tail, _words(xref)
            xref.clear()
            xref.tail, xref.text = tail, f" [{text}]"


def left_out(article: Element) -> str:
    """Return the names of the attached texts that are not part of the article, such as decision letters."""
    attached = [*article.iterfind("{*}sub-article"), *article.iterfind("{*}response")]
    return ", ".join(item.get("article-type") or local_name(item) for item in attached)


def _abstract(abstract: Element) -> Iterator[Block]:
    title = abstract.find("{*}title")
    kind = abstract.get("abstract-type") or ""
    if kind in ("graphical", "toc", "teaser", "web-summary"):
        return
    yield Block(BlockKind.HEADING, _words(title) if title is not None else "Abstract", level=1)
    yield from _children(abstract, level=2)


def _keywords(article: Element) -> Iterator[Block]:
    for group in article.iterfind("{*}front/{*}article-meta/{*}kwd-group"):
        words = [text for item in group.iter("{*}kwd") if (text := _words(item))]
        if words:
            yield Block(BlockKind.PARAGRAPH, f"Keywords: {', '.join(words)}")


def _children(element: Element, *, level: int) -> Iterator[Block]:
    for child in element:
        yield from _blocks(child, level=level)


def _blocks(element: Element, *, level: int) -> Iterator[Block]:
    name = local_name(element)
    if name in _SILENT or not name:
        return
    if name in _SECTIONS or name == "app-group":
        yield from _section(element, level=level)
    elif name == "p":
        yield from _paragraph(element, level=level)
    elif name in ("table-wrap", "table"):
        yield from _table(element)
    elif name in _FIGURES:
        yield from _single(BlockKind.CAPTION, _caption(element))
    elif name in _FORMULAS:
        yield from _single(BlockKind.EQUATION, _words(element))
    else:
        yield from _other(element, name, level=level)


def _other(element: Element, name: str, *, level: int) -> Iterator[Block]:
    if name == "list":
        for item in element.iterfind("{*}list-item"):
            yield from _list_item(item, level=level)
    elif name == "def-item":
        yield from _single(BlockKind.LIST_ITEM, running_text(element, breaks=frozenset({"def", "term", "p"})))
    elif name in ("preformat", "code"):
        yield from _single(BlockKind.CODE, clean("".join(element.itertext())).strip("\n"))
    elif name == "fn":
        yield from _single(BlockKind.FOOTNOTE, running_text(element, breaks=frozenset({"p", "label"})))
    elif len(element) and not (element.text or "").strip():
        yield from _section(element, level=level)
    else:
        yield from _single(BlockKind.PARAGRAPH, _words(element))


def _section(element: Element, *, level: int) -> Iterator[Block]:
    title = _caption_title(element)
    if not title and local_name(element) == "ack":
        title = "Acknowledgements"
    if title:
        yield Block(BlockKind.HEADING, title, level=min(level, _DEEPEST_HEADING))
    yield from _children(element, level=level + 1 if title else level)


def _paragraph(element: Element, *, level: int) -> Iterator[Block]:
    """Yield a paragraph, cut where a list, formula, table or figure stands inside it."""
    if not any(local_name(child) in _BLOCKS_IN_PARAGRAPHS for child in element):
        yield from _single(BlockKind.PARAGRAPH, _words(element))
        return
    words = [element.text or ""]
    for child in element:
        if local_name(child) in _BLOCKS_IN_PARAGRAPHS:
            yield from _single(BlockKind.PARAGRAPH, one_line("".join(words)))
            yield from _blocks(child, level=level)
            words = [child.tail or ""]
        else:
            words += [mixed_text(child, skipped=_NOT_RUNNING, after="".join(words[-1:])), child.tail or ""]
    yield from _single(BlockKind.PARAGRAPH, one_line("".join(words)))


def _list_item(item: Element, *, level: int) -> Iterator[Block]:
    label = item.find("{*}label")
    prefix = f"{_words(label)} " if label is not None else ""
    for child in item:
        for block in _blocks(child, level=level):
            is_text = block.kind is BlockKind.PARAGRAPH
            yield Block(BlockKind.LIST_ITEM, prefix + block.text) if is_text else block
            prefix = ""


def _table(element: Element) -> Iterator[Block]:
    """Yield each table of a wrapper with its caption, then the notes below it."""
    caption = _caption(element)
    tables = [element] if local_name(element) == "table" else list(element.iter("{*}table"))
    if not tables:
        yield from _single(BlockKind.CAPTION, caption)
    for table in tables:
        rows, header_rows = _rows(table)
        if rows:
            yield Block(BlockKind.TABLE, caption, rows=rows, header_rows=header_rows)
    for foot in element.iter("{*}table-wrap-foot"):
        yield from _single(BlockKind.FOOTNOTE, running_text(foot, breaks=frozenset({"p", "fn", "label"})))


def _rows(table: Element) -> tuple[tuple[tuple[str, ...], ...], int]:
    rows = [*table.iterfind("{*}thead/{*}tr"), *table.iterfind("{*}tbody/{*}tr"), *table.iterfind("{*}tr")]
    rows += table.iterfind("{*}tfoot/{*}tr")
    filled = grid(
        (
            (_cell(cell), _span(cell, "colspan"), _span(cell, "rowspan"))
            for cell in row
            if local_name(cell) in ("td", "th")
        )
        for row in rows
    )
    return filled, min(len(table.findall("{*}thead/{*}tr")), len(filled))


def _cell(cell: Element) -> str:
    return running_text(cell, breaks=_CELL_BREAKS, skipped=_NOT_RUNNING)


def _span(cell: Element, name: str) -> int:
    value = str(cell.get(name, "1")).strip()
    return int(value) if value.isascii() and value.isdigit() and len(value) < 5 else 1


def _formula(element: Element) -> str:
    """Return a formula's TeX where it has one, else its characters."""
    tex = next(element.iter("{*}tex-math"), None)
    if tex is None:
        return running_text(element, skipped=_NOT_RUNNING | {"label"})
    source = "".join(tex.itertext())
    _, begin, body = source.partition("\\begin{document}")
    body = body.partition("\\end{document}")[0] if begin else source
    return clean(body).strip().strip("$").strip()


def _caption(element: Element) -> str:
    """Return label and caption of a figure or table ("Table 3. Yields by feedstock. ...")."""
    label = element.find("{*}label")
    caption = element.find("{*}caption")
    words = (
        ""
        if caption is None
        else running_text(caption, breaks=frozenset({"title", "p"}), skipped=_NOT_RUNNING)
    )
    return " ".join(part for part in ("" if label is None else _words(label), words) if part)


def _caption_title(element: Element) -> str:
    label, title = element.find("{*}label"), element.find("{*}title")
    title = element.find("{*}caption/{*}title") if title is None else title
    parts = ("" if label is None else _words(label), "" if title is None else _words(title))
    return " ".join(part for part in parts if part)


def _words(element: Element) -> str:
    return running_text(element, skipped=_NOT_RUNNING)


def _single(kind: BlockKind, text: str) -> Iterator[Block]:
    if text.strip():
        yield Block(kind, text)


def _inside(article: Element, *names: str) -> Iterator[Element]:
    return (element for name in names for element in list(article.iter(f"{{*}}{name}")))
