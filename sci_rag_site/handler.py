"""Django behind ASGI, a request in one thread from its first middleware to its view."""

from __future__ import annotations

import django
from asgiref.sync import sync_to_async
from django.core.handlers.asgi import ASGIHandler
from django.core.handlers.base import BaseHandler
from django.http import HttpRequest
from django.http.response import HttpResponseBase


class OneThreadHandler(ASGIHandler):
    """Runs middleware and views as a synchronous server would, since all of them are synchronous.

    As it comes, Django goes to a thread and back for each half of each middleware, which takes longer than
    most of our pages. Streams are sent from the event loop all the same.
    """

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
