"""What a body that is fetched has to be: bounded, with its signature, at a bearable pace. No network."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import BinaryIO

_SIGNATURE_WINDOW = 1_024
# From when on a file has to come faster than so many bytes a second.
_PATIENCE_SECONDS, _SLOWEST = 20.0, 1_000


class BadBody(Exception):
    """A body that is not what it has to be. `code` is one of those of `OutboundError`."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a success has to be. With a `target` its body goes there; `signature` is near its beginning."""

    accept: Collection[str]
    most_bytes: int
    target: BinaryIO | None = None
    signature: bytes = b""

    def beginning(self, pieces: Iterable[bytes]) -> bytes:
        """Return as much as may be held."""
        body = bytearray()
        for piece in pieces:
            body += piece
            if len(body) > self.most_bytes:
                break
        return bytes(body[: self.most_bytes])

    def saved(self, pieces: Iterable[bytes]) -> bytes:
        """Return the whole body, or nothing when it went to the target; raise `BadBody`."""
        body, head, size, started = bytearray(), b"", 0, time.monotonic()
        for piece in pieces:
            size += len(piece)
            if size > self.most_bytes:
                raise BadBody("too_large")
            if len(head) < _SIGNATURE_WINDOW:
                head = (head + piece)[:_SIGNATURE_WINDOW]
                self._require_signature(head, is_whole=False)
            if self.target is None:
                body += piece
                continue
            _require_pace(size, time.monotonic() - started)
            self._write(self.target, piece)
        self._require_signature(head, is_whole=True)
        return bytes(body)

    def _require_signature(self, head: bytes, *, is_whole: bool) -> None:
        if self.signature not in head and (is_whole or len(head) == _SIGNATURE_WINDOW):
            raise BadBody("wrong_signature")

    def _write(self, target: BinaryIO, piece: bytes) -> None:
        try:
            target.write(piece)
        except OSError:
            # The disk's failure and not the host's.
            raise BadBody("not_stored") from None


def _require_pace(size: int, seconds: float) -> None:
    if seconds > _PATIENCE_SECONDS and size < seconds * _SLOWEST:
        raise BadBody("timeout")
