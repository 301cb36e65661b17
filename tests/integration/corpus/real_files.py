"""Real PDFs read once for all tests of a run."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from corpus.parsing.blocks import ParsedDocument
from corpus.parsing.registry import parse


@cache
def parsed(path: Path) -> ParsedDocument:
    """Return what the file contains, read through the one door to parsing."""
    return parse(path)
