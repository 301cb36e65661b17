"""What a ZIP archive says of its list of parts, read without reading the list. Pure but for the file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

END = b"PK\x05\x06"
_END_BYTES = 22
_WIDE_LOCATOR = b"PK\x06\x07"
_LONGEST_COMMENT = 1 << 16


@dataclass(frozen=True, slots=True)
class Directory:
    """How many parts are said to be there, and how many bytes their list takes.

    `is_wide` says that a 64-bit record holds the real numbers.
    """

    parts: int
    size: int
    is_wide: bool


def directory_of(archive: Path) -> Directory | None:
    """Return what the end of `archive` says; None when it has no end."""
    with archive.open("rb") as file:
        size = file.seek(0, 2)
        file.seek(max(0, size - _LONGEST_COMMENT - _END_BYTES))
        tail = file.read()
    place = tail.rfind(END)
    end = tail[place : place + _END_BYTES]
    if place < 0 or len(end) < _END_BYTES:
        return None
    return Directory(
        parts=int.from_bytes(end[10:12], "little"),
        size=int.from_bytes(end[12:16], "little"),
        is_wide=tail[max(0, place - 20) : place].startswith(_WIDE_LOCATOR),
    )
