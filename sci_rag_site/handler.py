"""Django behind ASGI, a request in one thread from its first middleware to its view."""

from __future__ import annotations

import codecs
from collections.abc import Mapping
from typing import Any

import django
from asgiref.sync import sync_to_async
from django.core.handlers.asgi import ASGIHandler, ASGIRequest
from django.core.handlers.base import BaseHandler
from django.http import HttpRequest
from django.http.response import HttpResponseBase

from corpus.upload_handlers import none_left_open


class SentRequest(ASGIRequest):
    """A request whose form may be of any set of characters, and damaged anywhere.

    A set in which no text can be read is not taken, and of a damaged form no file is left open.
    Python has codecs that are no encodings of text, and some that refuse to replace what they cannot read;
    Django takes each of them at its word and fails on the first form.
    """

    def _set_content_type_params(self, meta: Mapping[str, Any]) -> None:
        try:
            super()._set_content_type_params(meta)  # type: ignore[misc]
        except ValueError:
            # A parameter that is damaged, or a name with a zero byte.
            kind = str(meta.get("CONTENT_TYPE", "")).partition(";")[0]
            self.content_type, self.content_params = kind.strip().lower(), {}
        if not _reads_text(self.encoding):
            # As of a request that names none, which the stubs do not know.
            self.encoding = None  # type: ignore[assignment]

    def parse_file_upload(self, META: Mapping[str, Any], post_data: Any) -> Any:  # noqa: N803 - Django's name
        with none_left_open(self):
            return super().parse_file_upload(META, post_data)


def _reads_text(charset: str | None) -> bool:
    if charset is None:
        return True
    try:
        return isinstance(b"a=\xc3\xa9\xff".decode(codecs.lookup(charset).name, "replace"), str)
    except (LookupError, ValueError):
        return False


class OneThreadHandler(ASGIHandler):
    """Runs middleware and views as a synchronous server would, since all of them are synchronous.

    As it comes, Django goes to a thread and back for each half of each middleware, which takes longer than
    most of our pages. Streams are sent from the event loop all the same.
    """

    request_class = SentRequest

    def __init__(self) -> None:
        BaseHandler.__init__(self)
        self.load_middleware(is_async=False)

    async def get_response_async(self, request: HttpRequest) -> HttpResponseBase:
        """Return the response."""
        response: HttpResponseBase = await sync_to_async(self.get_response, thread_sensitive=True)(request)
        return response


def application() -> OneThreadHandler:
    """Set Django up and return it as an ASGI application."""
    django.setup(set_prefix=False)
    return OneThreadHandler()
