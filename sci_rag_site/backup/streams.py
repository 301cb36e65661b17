"""What parts of a backup are read from and written to."""

from __future__ import annotations

from typing import Protocol


class Readable(Protocol):
    """Gives bytes, none at its end."""

    def read(self, size: int = ..., /) -> bytes:
        """Return at most `size` bytes."""


class Writable(Protocol):
    """Takes bytes."""

    def write(self, data: bytes, /) -> object:
        """Take `data`, all of it."""
