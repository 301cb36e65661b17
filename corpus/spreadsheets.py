"""Cells that a spreadsheet opens without doing anything. Pure."""

from __future__ import annotations

# A cell that begins like this is run as a formula, white space before it or not.
_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


def neutral(cell: str) -> str:
    """Return `cell` with an apostrophe in front where a spreadsheet would run it.

    >>> neutral("=1+1"), neutral(" -2"), neutral("2-1")
    ("'=1+1", "' -2", '2-1')
    """
    cell = cell.replace("\0", "")
    risky = cell.startswith(_STARTS) or cell.lstrip().startswith(_STARTS)
    return f"'{cell}" if risky else cell
