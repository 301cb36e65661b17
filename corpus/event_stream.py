"""The form of server-sent events, and of the pieces of a page they carry."""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections.abc import AsyncIterator, Callable, Mapping

from asgiref.sync import sync_to_async
from django.http import StreamingHttpResponse
from django.utils.html import format_html
from django.utils.safestring import SafeString

# What the format takes for the end of a line; `str.splitlines` knows more.
_LINE_END = re.compile(r"\r\n|\r|\n")
KEEP_ALIVE = ": nothing new\n\n"
TICK_SECONDS = 1.0
# The browser connects again; until then a viewer who lost the right to look has looked long enough.
STREAM_SECONDS = 600.0
# The parts of a page, each addressed to its place, and whether nothing more is to come.
Look = Callable[[], tuple[Mapping[str, str], bool]]


def message(html: str) -> str:
    """Return `html` as one server-sent event."""
    return "".join(f"data: {line}\n" for line in _LINE_END.split(html)) + "\n"


def partial(target: str, html: str, swap: str = "innerHTML") -> SafeString:
    """Address `html` to one place of the page; text that is not marked safe is escaped."""
    return format_html('<hx-partial hx-target="{}" hx-swap="{}">{}</hx-partial>', target, swap, html)


def named(event: str) -> str:
    """Return an event that only says its name."""
    return f"event: {event}\ndata: \n\n"


def following(look: Look) -> StreamingHttpResponse:
    """Return the response that sends what `follow` yields, past proxies that would hold it back."""
    response = StreamingHttpResponse(follow(look), content_type="text/event-stream")
    response["X-Accel-Buffering"] = "no"
    return response


async def follow(look: Look) -> AsyncIterator[str]:
    """Send the parts of a page again as they change, until `look` says that it has ended."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + STREAM_SECONDS
    seen: dict[str, str] = {}
    while loop.time() < deadline:
        parts, has_ended = await sync_to_async(look)()
        changed = [html for target, html in parts.items() if _is_news(seen, target, html)]
        # Something every time: a reader that went away is noticed only by writing to it.
        yield message("".join(changed)) if changed else KEEP_ALIVE
        if has_ended:
            yield named("ended")
            return
        await asyncio.sleep(TICK_SECONDS)


def _is_news(seen: dict[str, str], target: str, html: str) -> bool:
    digest = hashlib.sha256(html.encode()).hexdigest()
    is_news = seen.get(target) != digest
    seen[target] = digest
    return is_news
