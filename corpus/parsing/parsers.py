"""Which module reads which media type. Their libraries are loaded only when a file needs them."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path

from corpus.parsing import media_types
from corpus.parsing.blocks import ParsedDocument
from corpus.parsing.limits import ParseLimits

Parser = Callable[[Path, ParseLimits], ParsedDocument]

_MODULES = {
    media_types.PDF: "corpus.parsing.pdf",
    media_types.MARKDOWN: "corpus.parsing.markdown",
    media_types.HTML: "corpus.parsing.html",
    media_types.JATS: "corpus.parsing.jats",
    media_types.TEXT: "corpus.parsing.text",
}


def load(media_type: str) -> Parser:
    """Return the parser of `media_type`. It reads in the calling process: only the child may use it."""
    parser: Parser = import_module(_MODULES[media_type]).parse
    return parser
