"""The secret of a key: made here, shown once, kept as a keyed hash.

A slow hash protects words that people choose, because those can be guessed. Nobody guesses 256 random
bits, so a quick one keeps them as well, and a request pays a microsecond instead of a tenth of a second. It
is keyed with what follows from the site's `SECRET_KEY`: by a copy of the database alone, nobody can tell
whether some words are those of a key.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from collections.abc import Iterable
from typing import TypeVar

from django.conf import settings
from django.utils.crypto import salted_hmac

MARK = "sr"
PREFIX_LENGTH = 8
SITE_KEY_NAME_LENGTH = 12
_RANDOM_BYTES = 32
_SHAPE = re.compile(rf"{MARK}_([a-z2-7]{{{PREFIX_LENGTH}}})_[A-Za-z0-9_-]{{43}}", re.ASCII)
# Wherever one might stand in a text: the prefix stays, which names the key and opens nothing.
_ANYWHERE = re.compile(rf"\b({MARK}_[a-z2-7]{{{PREFIX_LENGTH}}}_)[A-Za-z0-9_-]{{20,}}", re.ASCII)
_LETTERS = "abcdefghijklmnopqrstuvwxyz234567"
_HASHES, _NAMES = "corpus.keys.secret", "corpus.keys.name"

T = TypeVar("T")


class Secret:
    """The words of a key, which no log, traceback or page shows unless `reveal` is called."""

    __slots__ = ("_words",)

    def __init__(self, words: str) -> None:
        self._words = words

    def reveal(self) -> str:
        """Return the secret itself. For the one moment at which somebody is told."""
        return self._words

    def __repr__(self) -> str:
        return "Secret(hidden)"

    __str__ = __repr__

    def __reduce__(self) -> str:
        raise TypeError("A secret is not kept.")


def new_secret(prefix: str | None = None) -> Secret:
    """Make a secret. Its prefix, by which it is found and named, is no part of its strength."""
    prefix = prefix or "".join(secrets.choice(_LETTERS) for _ in range(PREFIX_LENGTH))
    return Secret(f"{MARK}_{prefix}_{secrets.token_urlsafe(_RANDOM_BYTES)}")


def prefix_of(words: str) -> str | None:
    """Return the prefix of what might be a secret; None when it cannot be one."""
    shaped = _SHAPE.fullmatch(words)
    return shaped[1] if shaped else None


def hidden(text: str) -> str:
    """Return `text` with every secret in it cut off after its prefix."""
    return _ANYWHERE.sub(r"\1hidden", text)


def hash_of(words: str) -> str:
    """Return what is kept of a secret."""
    return _keyed(words, settings.SECRET_KEY)


def site_key_name() -> str:
    """Return the name of the site's key of today: it stands beside what is hashed with it."""
    return _name(settings.SECRET_KEY)


def known_site_keys() -> frozenset[str]:
    """Return the names of the site's keys whose hashes are still known: today's, and the fallbacks."""
    return frozenset(_name(key) for key in (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS))


def the_one(words: str, kept: Iterable[tuple[str, T]]) -> T | None:
    """Return what is kept under a hash of `words`. Takes as long whichever of them it is, if any.

    Known are the hash of today, those under the keys that the site had before, and the plain one of
    versions that did not key it: whoever is let in by one of these is hashed anew.
    """
    found: T | None = None
    before = [_keyed(words, key) for key in settings.SECRET_KEY_FALLBACKS]
    given = [hash_of(words), *before, plain_hash_of(words)]
    for kept_hash, value in kept:
        for one in given:
            if hmac.compare_digest(one, kept_hash):
                found = value
    return found


def plain_hash_of(words: str) -> str:
    """Return what versions before the keyed hash kept."""
    return hashlib.sha256(words.encode()).hexdigest()


def _keyed(words: str, key: str) -> str:
    return salted_hmac(_HASHES, words, secret=key, algorithm="sha256").hexdigest()


def _name(key: str) -> str:
    return salted_hmac(_NAMES, "", secret=key, algorithm="sha256").hexdigest()[:SITE_KEY_NAME_LENGTH]
