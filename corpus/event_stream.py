"""The form of server-sent events."""

from __future__ import annotations

import re

# What the format takes for the end of a line; `str.splitlines` knows more.
_LINE_END = re.compile(r"\r\n|\r|\n")
KEEP_ALIVE = ": nothing new\n\n"


def message(html: str) -> str:
    """Return `html` as one server-sent event."""
    return "".join(f"data: {line}\n" for line in _LINE_END.split(html)) + "\n"


def named(event: str) -> str:
    """Return an event that only says its name."""
    return f"event: {event}\ndata: \n\n"
