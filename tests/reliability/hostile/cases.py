"""What a hostile input is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

Make = Callable[[Path], Path]


@dataclass(frozen=True, slots=True)
class Case:
    """One hostile input: `make` writes it into an empty folder and returns what to take in.

    `refused` is the reason it must be refused for, or empty where being read is right too; then what is
    read must be bounded like anything else.
    """

    name: str
    make: Make
    refused: str = ""


def file(name: str, content: bytes | str, *, refused: str = "", called: str = "") -> Case:
    """Return the case of a single file."""
    data = content.encode() if isinstance(content, str) else content

    def make(folder: Path) -> Path:
        path = folder / name
        path.write_bytes(data)
        return path

    return Case(called or name, make, refused)
