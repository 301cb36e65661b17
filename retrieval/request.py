"""What may be asked: how long a question may be, and how many passages it may get. Pure."""

from __future__ import annotations

from corpus.normalise import visible

MAX_QUESTION = 2_000
MAX_LIMIT = 50


class InvalidRequest(ValueError):
    """A question or a limit that nobody can be given an answer to. The message is for the asker."""


def checked_question(text: str) -> str:
    """Return the question as it is stored and searched with, without what no text column or provider takes.

    Raises `InvalidRequest` when nothing is left of it or it is longer than `MAX_QUESTION`.
    """
    question = visible("\n".join(text.splitlines())).strip()
    if not question:
        raise InvalidRequest("Ask a question.")
    if len(question) > MAX_QUESTION:
        raise InvalidRequest(f"A question may have {MAX_QUESTION} characters; this one has {len(question)}.")
    return question


def checked_limit(limit: int) -> int:
    """Return the number of passages asked for; raise `InvalidRequest` outside 1 to `MAX_LIMIT`."""
    if not 1 <= limit <= MAX_LIMIT:
        raise InvalidRequest(f"The limit is {limit}; it must be from 1 to {MAX_LIMIT}.")
    return limit
