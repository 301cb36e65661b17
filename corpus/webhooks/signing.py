"""The signature by which a receiver knows that a message is ours, and new. Pure: receivers use it too."""

from __future__ import annotations

import hashlib
import hmac
import re
import time

HEADER = "Sci-Rag-Signature"
# How far the clocks of both sides may stand apart, and how long a message that was overheard is of use.
WINDOW_SECONDS = 300

_SIGNATURE = re.compile(r"t=([0-9]{1,12}),v1=([0-9a-f]{64})")


class BadSignature(ValueError):
    """The message is not from whoever holds the secret, or it was sent too long ago."""


def sign(*, secret: str, body: bytes, at: int) -> str:
    """Return the value of the header for `body` sent at the Unix time `at`."""
    return f"t={at},v1={_digest(secret, body, at)}"


def verify(*, secret: str, body: bytes, header: str, now: float | None = None) -> None:
    """Raise `BadSignature` unless `header` signs exactly the bytes of `body`, a moment ago.

    Within the window a message can still be replayed: a receiver remembers the ids of deliveries that long.
    """
    found = _SIGNATURE.fullmatch(header.strip())
    if found is None:
        raise BadSignature("The signature is not of the form t=...,v1=...")
    at = int(found[1])
    if not hmac.compare_digest(_digest(secret, body, at), found[2]):
        raise BadSignature("The signature does not belong to this message and secret.")
    if abs((time.time() if now is None else now) - at) > WINDOW_SECONDS:
        raise BadSignature(f"The message was signed more than {WINDOW_SECONDS} seconds away from now.")


def _digest(secret: str, body: bytes, at: int) -> str:
    return hmac.new(secret.encode(), f"{at}.".encode() + body, hashlib.sha256).hexdigest()
