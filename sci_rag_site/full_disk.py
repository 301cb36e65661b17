"""What a page says when the disk is full: nothing was kept, and what to do."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.utils.deprecation import MiddlewareMixin

from corpus.storage import NoRoom
from sci_rag_site import views


class FullDiskMiddleware(MiddlewareMixin):
    """Answer with 507 where a file found no room, whichever page it was sent to."""

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        return views.no_room(request) if isinstance(exception, NoRoom) else None
