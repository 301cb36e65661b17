"""Keeping in the database what only this site may read: a copy of the database alone tells nothing of it."""

from __future__ import annotations

import base64

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings
from django.utils.crypto import salted_hmac


class Unreadable(ValueError):
    """It was sealed with another key, or is damaged."""


def seal(text: str) -> bytes:
    """Return `text`, encrypted with a key that follows from the site's."""
    return _of_the_site().encrypt(text.encode())


def unseal(sealed: bytes) -> str:
    """Return what was sealed, with the site's key or one it had before; raise `Unreadable`."""
    try:
        return _of_the_site().decrypt(bytes(sealed)).decode()
    except InvalidToken:
        raise Unreadable from None


def _of_the_site() -> MultiFernet:
    return MultiFernet([_fernet(key) for key in (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)])


def _fernet(site_key: str) -> Fernet:
    key = salted_hmac("corpus.accounts.sealing", "tokens", secret=site_key, algorithm="sha256").digest()
    return Fernet(base64.urlsafe_b64encode(key))
