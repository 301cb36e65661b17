"""Which parsers read which media type. Their libraries are loaded only when a file needs them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from corpus.parsing import media_types
from corpus.parsing.blocks import ParsedDocument, ParseFailure
from corpus.parsing.limits import ParseLimits

Parser = Callable[[Path, ParseLimits], ParsedDocument]

_MEGABYTE = 1_000_000


@dataclass(frozen=True, slots=True)
class Reader:
    """One parser for one media type: where it is, what it needs, and how its process is kept.

    `needs` is an extra, `models` whether models have to be there too. Processes of the same `pool` are kept
    warm and shared; a reader without one gets a fresh process for each file. `memory_bytes` is what its
    libraries take before they have read anything.
    """

    module: str
    function: str = "parse"
    needs: str = ""
    models: bool = False
    pool: str = ""
    memory_bytes: int = 0


def _docling(module: str, function: str) -> Reader:
    return Reader(
        f"corpus.parsing.{module}", function, "docling", pool="docling", memory_bytes=512 * _MEGABYTE
    )


_TEXT = Reader("corpus.parsing.text", pool="text")
# The first parser of a type is the one that is used unless another is asked for.
_READERS: dict[str, dict[str, Reader]] = {
    media_types.PDF: {
        "pdf-layout": Reader("corpus.parsing.pdf"),
        "pypdf": Reader("corpus.parsing.pdf_fallback"),
        "docling": Reader(
            "corpus.parsing.docling_pdf", needs="docling", models=True, memory_bytes=8_000 * _MEGABYTE
        ),
    },
    media_types.MARKDOWN: {
        "markdown-it": Reader("corpus.parsing.markdown", pool="text"),
        "text-segmenter": _TEXT,
    },
    media_types.HTML: {"lxml-html": Reader("corpus.parsing.html", pool="text")},
    media_types.JATS: {"lxml-jats": Reader("corpus.parsing.jats", pool="text")},
    media_types.TEXT: {"text-segmenter": _TEXT},
    media_types.LATEX: {"docling": _docling("docling_parser", "parse_latex"), "text-segmenter": _TEXT},
    media_types.DOCX: {"docling": _docling("office", "parse_docx")},
    media_types.PPTX: {"docling": _docling("office", "parse_pptx")},
    media_types.XLSX: {"docling": _docling("office", "parse_xlsx")},
}
NAMES = tuple(sorted({name for readers in _READERS.values() for name in readers}))


def reader(media_type: str, *, parser: str = "", models: str = "") -> Reader:
    """Return the reader of `media_type`: the one called `parser`, or the usual one.

    `models` is the folder of Docling's models. Raises ParseFailure: parser_unsuitable when that parser does
    not read such files, parser_missing when what it needs is not there.
    """
    readers = _READERS[media_type]
    found = readers.get(parser or next(iter(readers)))
    what = media_types.name_of(media_type)
    if found is None:
        raise ParseFailure(
            "parser_unsuitable", f"The parser {parser[:40]!r} does not read {what}; {_listed(readers)} does."
        )
    lacking = _lacking(found, models)
    if lacking:
        asked = f"{what} with {parser}" if parser else what
        raise ParseFailure("parser_missing", f"Reading {asked} needs {lacking}")
    return found


def _lacking(reader: Reader, models: str) -> str:
    """Say what has to be installed or set before the reader can work; nothing when all is there."""
    if reader.needs and find_spec(reader.needs) is None:
        return (
            f"the extra '{reader.needs}', which is not installed here: pip install 'sci-rag[{reader.needs}]'."
        )
    if reader.models and not models:
        return "its models: set DOCLING_ARTIFACTS_PATH to the folder that holds them."
    if reader.models and find_spec("torch") is None:
        return "torch, which the extra leaves out: pip install torch."
    return ""


def load(media_type: str, *, parser: str = "") -> Parser:
    """Return the parser of `media_type`. It reads in the calling process: only the child may use it."""
    chosen = _READERS[media_type][parser or next(iter(_READERS[media_type]))]
    function: Parser = getattr(import_module(chosen.module), chosen.function)
    return function


def of(media_type: str) -> tuple[str, ...]:
    """Return the names of the parsers that read `media_type`, the usual one first; none for other types."""
    return tuple(_READERS.get(media_type, ()))


def reading(parser: str) -> tuple[str, ...]:
    """Return the media types that the parser called `parser` reads."""
    return tuple(media_type for media_type, readers in _READERS.items() if parser in readers)


def _listed(readers: dict[str, Reader]) -> str:
    return " or ".join(readers)
