"""The form of server-sent events, and of the pieces of a page they carry."""

from __future__ import annotations

import re

from django.utils.html import format_html
from django.utils.safestring import SafeString

# What the format takes for the end of a line; `str.splitlines` knows more.
_LINE_END = re.compile(r"\r\n|\r|\n")
KEEP_ALIVE = ": nothing new\n\n"


def message(html: str) -> str:
    """Return `html` as one server-sent event."""
    return "".join(f"data: {line}\n" for line in _LINE_END.split(html)) + "\n"


def partial(target: str, html: str, swap: str = "innerHTML") -> SafeString:
    """Address `html` to one place of the page; text that is not marked safe is escaped."""
    return format_html('<hx-partial hx-target="{}" hx-swap="{}">{}</hx-partial>', target, swap, html)


def named(event: str) -> str:
    """Return an event that only says its name."""
    return f"event: {event}\ndata: \n\n"
