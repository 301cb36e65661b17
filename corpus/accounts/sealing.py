"""Keeping in the database what only this site may read: a copy of the database alone tells nothing of it."""

from __future__ import annotations

import base64

from cryptography.fernet import Fernet, InvalidToken
from django.utils.crypto import salted_hmac


class Unreadable(ValueError):
    """It was sealed with another key, or is damaged."""


def seal(text: str) -> bytes:
    """Return `text`, encrypted with a key that follows from the site's."""
    return _fernet().encrypt(text.encode())


def unseal(sealed: bytes) -> str:
    """Return what was sealed; raise `Unreadable`."""
    try:
        return _fernet().decrypt(bytes(sealed)).decode()
    except InvalidToken:
        raise Unreadable from None


def _fernet() -> Fernet:
    key = salted_hmac("corpus.accounts.sealing", "tokens", algorithm="sha256").digest()
    return Fernet(base64.urlsafe_b64encode(key))
