"""Replies of a model in a file, under the hash of what was asked: a run that can be repeated exactly."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, Final

from corpus import whole_files

_FORMAT: Final = 1
_MOST_BYTES = 500_000_000
_ADDRESS = re.compile(r"[0-9a-f]{64}")


class InvalidReplay(ValueError):
    """A file that holds no replies, or cannot be read or written. The message names it."""


class Replay:
    """Replies by address. New ones are written at the end, when there is a model to ask."""

    def __init__(self, path: Path, replies: dict[str, str]) -> None:
        self._path = path
        self._replies = replies
        self._has_new = False

    @classmethod
    def open(cls, path: Path, *, may_be_missing: bool) -> Replay:
        """Return the replies of a file; raise `InvalidReplay`. One that may be missing is empty then."""
        if may_be_missing and not path.exists():
            return cls(path, {})
        try:
            if path.stat().st_size > _MOST_BYTES:
                raise InvalidReplay(f"The replay file {path} is larger than {_MOST_BYTES // 1_000_000} MB.")
            value = json.loads(path.read_text(encoding="utf-8"))
        except OSError as error:
            raise InvalidReplay(f"The replay file {path} cannot be read: {error.strerror}.") from None
        except (ValueError, RecursionError):
            raise InvalidReplay(f"The replay file {path} is not JSON.") from None
        return cls(path, _checked(path, value))

    def get(self, address: str) -> str | None:
        """Return the reply kept under an address, or None."""
        return self._replies.get(address)

    def put(self, address: str, reply: str) -> None:
        """Keep a reply."""
        self._replies[address] = reply
        self._has_new = True

    def save(self) -> None:
        """Write the file when there are new replies: whole, or not at all. Raises `InvalidReplay`."""
        if not self._has_new:
            return
        value = {"format": _FORMAT, "replies": dict(sorted(self._replies.items()))}
        try:
            with whole_files.written(self._path) as file:
                file.write(json.dumps(value, indent=1).encode())
        except OSError as error:
            raise InvalidReplay(
                f"The replay file {self._path} cannot be written: {error.strerror}."
            ) from None
        self._has_new = False


def _checked(path: Path, value: Any) -> dict[str, str]:
    replies = value.get("replies") if isinstance(value, dict) and value.get("format") == _FORMAT else None
    if not isinstance(replies, dict) or not all(
        _ADDRESS.fullmatch(address) and isinstance(reply, str) for address, reply in replies.items()
    ):
        raise InvalidReplay(
            f"The replay file {path} is not one of format {_FORMAT}: hashes with replies under 'replies'."
        )
    return replies
