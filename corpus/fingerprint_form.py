"""How a fingerprint is written, so that one says under which rules it was made. Pure."""

from __future__ import annotations

from typing import Final

# Version 1 hashed documents by the words that were read from them. Version 2 hashes what they were cut into,
# and which document took the place of which.
VERSION: Final = 2
LENGTH: Final = 64
_MARK: Final = "-"


def marked(sha256: str) -> str:
    """Return a hash as a fingerprint of the present version: as long as it was, 248 bits of it."""
    return f"{VERSION}{_MARK}{sha256}"[:LENGTH]


def version_of(fingerprint: str) -> int:
    """Return the version a fingerprint was made under; 0 for none."""
    version, mark, _ = fingerprint.partition(_MARK)
    if mark and version.isascii() and version.isdigit():
        return int(version)
    return 1 if fingerprint else 0
