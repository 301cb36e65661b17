"""A stream sealed with a passphrase: what is read is what was written, whole and in order, or an error.

AES-256-GCM over blocks of a megabyte. The nonce of a block holds its number and whether it is the last, so
that none can be left out, moved or cut off. The key is the passphrase's by scrypt.
"""

from __future__ import annotations

import io
import os
from typing import Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

from sci_rag_site.backup.errors import Damaged, Truncated, WrongPassphrase
from sci_rag_site.backup.streams import Readable, Writable

MAGIC: Final = b"sci-rag-backup sealed 1\n"
BLOCK: Final = 1 << 20
_TAG: Final = 16
_SALT: Final = 16
_PREFIX: Final = 7
_HEADER: Final = len(MAGIC) + _SALT + _PREFIX
# 128 MB and a third of a second for each try at the passphrase.
_COST: Final = 1 << 17
_LARGEST_NUMBER: Final = 2**32 - 1


def _cipher(passphrase: bytes, salt: bytes) -> AESGCM:
    return AESGCM(Scrypt(salt=salt, length=32, n=_COST, r=8, p=1).derive(passphrase))


def _nonce(prefix: bytes, number: int, *, last: bool) -> bytes:
    return prefix + number.to_bytes(4, "big") + (b"\1" if last else b"\0")


class SealedWriter:
    """Write to `target` what is written here, sealed. `finish` ends it; `target` stays open."""

    def __init__(self, target: Writable, passphrase: bytes) -> None:
        salt, self._prefix = os.urandom(_SALT), os.urandom(_PREFIX)
        self._header = MAGIC + salt + self._prefix
        self._cipher = _cipher(passphrase, salt)
        self._target = target
        self._waiting = bytearray()
        self._number = 0
        target.write(self._header)
        # Sealed nothing: by it a wrong passphrase is told from a damaged file.
        target.write(self._sealed(b"", last=False))

    def _sealed(self, block: bytes, *, last: bool) -> bytes:
        if self._number > _LARGEST_NUMBER:
            raise OverflowError("The backup is too large to be sealed.")
        sealed = self._cipher.encrypt(_nonce(self._prefix, self._number, last=last), block, self._header)
        self._number += 1
        return sealed

    def write(self, data: bytes) -> int:
        """Take a piece of the stream."""
        self._waiting += data
        # The last block is written by `finish`, which knows that it is the last.
        while len(self._waiting) > BLOCK:
            self._target.write(self._sealed(bytes(self._waiting[:BLOCK]), last=False))
            del self._waiting[:BLOCK]
        return len(data)

    def finish(self) -> None:
        """Write what is left, marked as the last."""
        self._target.write(self._sealed(bytes(self._waiting), last=True))
        self._waiting.clear()


class SealedReader(io.RawIOBase):
    """Read what was sealed into `source`, which stands behind `MAGIC`."""

    def __init__(self, source: Readable, passphrase: bytes) -> None:
        rest = source.read(_HEADER - len(MAGIC))
        check = source.read(_TAG)
        if len(rest) + len(check) < _HEADER - len(MAGIC) + _TAG:
            raise Truncated("The backup breaks off in its first bytes.")
        salt, self._prefix = rest[:_SALT], rest[_SALT:]
        self._header = MAGIC + rest
        self._cipher = _cipher(passphrase, salt)
        self._source = source
        try:
            self._cipher.decrypt(_nonce(self._prefix, 0, last=False), check, self._header)
        except InvalidTag:
            raise WrongPassphrase("The passphrase does not open this backup.") from None
        self._number = 1
        self._ahead = source.read(BLOCK + _TAG)
        self._open = b""
        self._ended = False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object) -> int:
        view = memoryview(buffer)  # type: ignore[arg-type]
        while not self._open and not self._ended:
            self._next()
        count = min(len(view), len(self._open))
        view[:count] = self._open[:count]
        self._open = self._open[count:]
        return count

    def _next(self) -> None:
        block, self._ahead = self._ahead, self._source.read(BLOCK + _TAG)
        last = not self._ahead
        try:
            self._open = self._cipher.decrypt(
                _nonce(self._prefix, self._number, last=last), block, self._header
            )
        except InvalidTag:
            raise self._broken(block, last=last) from None
        self._number += 1
        self._ended = last

    def _broken(self, block: bytes, *, last: bool) -> Exception:
        """Say whether the file ends too early or was changed."""
        if last:
            if len(block) < BLOCK + _TAG:
                return Truncated("The backup breaks off, or its last part was changed.")
            try:
                self._cipher.decrypt(_nonce(self._prefix, self._number, last=False), block, self._header)
            except InvalidTag:
                pass
            else:
                return Truncated("The backup breaks off.")
        return Damaged("The backup was changed after it was made.")
