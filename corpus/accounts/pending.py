"""Attempts to sign in at the provider that this browser has begun and not ended."""

from __future__ import annotations

import secrets
import time
from dataclasses import asdict, dataclass, field

from django.contrib.sessions.backends.base import SessionBase

_KEY = "sign_ins"
# As many tabs as somebody may have open; what comes on top displaces the oldest.
_MOST = 5
SECONDS = 15 * 60


@dataclass(frozen=True, slots=True)
class Pending:
    """One attempt: what its reply has to prove, and where it goes on. `connects` is the id of an account."""

    nonce: str = field(repr=False)
    verifier: str = field(repr=False)
    target: str
    begun: int
    connects: int | None = None


def begin(session: SessionBase, *, target: str, connects: int | None = None) -> tuple[str, Pending]:
    """Keep a new attempt in the session; return the state that its reply will name."""
    state = _secret()
    attempt = Pending(_secret(), _secret(), target, int(time.time()), connects)
    latest = sorted(session.get(_KEY, {}).items(), key=lambda entry: entry[1]["begun"])[-(_MOST - 1) :]
    session[_KEY] = dict(latest) | {state: asdict(attempt)}
    return state, attempt


def take(session: SessionBase, state: str) -> Pending | None:
    """Return the attempt that a reply belongs to, once; None for what was not begun here or took too long."""
    attempts = dict(session.get(_KEY, {}))
    found = attempts.pop(state, None)
    if found is None:
        return None
    session[_KEY] = attempts
    attempt = Pending(**found)
    return attempt if 0 <= time.time() - attempt.begun < SECONDS else None


def _secret() -> str:
    return secrets.token_urlsafe(48)
