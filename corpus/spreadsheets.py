"""Cells that a spreadsheet opens without doing anything. Pure."""

from __future__ import annotations

import unicodedata

# A cell whose first visible character is one of these, in whatever width, is run as a formula.
_STARTS = frozenset("=+-@")
# White space that some programs take for the start of one.
_BREAKS = ("\t", "\r", "\n")
_UNSEEN = frozenset({"Cc", "Cf", "Cn", "Co", "Cs", "Mn", "Me", "Zs", "Zl", "Zp"})
# Letters and a pattern that are drawn as nothing.
_BLANK = frozenset("\u115f\u1160\u3164\uffa0\u2800")


def neutral(cell: str) -> str:
    """Return `cell` with an apostrophe in front where a spreadsheet would run it.

    White space, controls and characters that are not drawn do not hide a formula behind them.

    >>> neutral("=1+1"), neutral(" -2"), neutral("2-1")
    ("'=1+1", "' -2", '2-1')
    """
    cell = cell.replace("\0", "")
    first = next((char for char in cell if _is_drawn(char)), "")
    risky = cell.startswith(_BREAKS) or unicodedata.normalize("NFKC", first) in _STARTS
    return f"'{cell}" if risky else cell


def _is_drawn(char: str) -> bool:
    return unicodedata.category(char) not in _UNSEEN and char not in _BLANK
