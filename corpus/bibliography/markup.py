"""Values of libraries as plain text: without the tags and entities that reference managers leave. Pure."""

from __future__ import annotations

import html
import re

from corpus.normalise import one_line

_TAG = re.compile(r"</?(?:i|b|u|sub|sup|sc|em|strong|span|br|p|tt|jats:\w{1,20})(?:\s[^<>]{0,200})?/?>", re.I)
_ENTITY = re.compile(r"&(?:[A-Za-z]{2,8}|#\d{1,7}|#x[0-9A-Fa-f]{1,6});")


def plain(text: str) -> str:
    """Return `text` on one line, formatting tags removed, entities resolved once."""
    if "<" in text:
        text = _TAG.sub("", text)
    if "&" in text:
        text = _ENTITY.sub(lambda match: html.unescape(match[0]), text)
    return one_line(text)
