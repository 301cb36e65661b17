"""Records every file that somebody takes away, whichever page hands it over."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponseBase
from django.utils.deprecation import MiddlewareMixin

from corpus.audit.recording import Kind, record


class DownloadsMiddleware(MiddlewareMixin):
    """Looks for what a response says it is: a page that becomes a download needs nothing to be recorded."""

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        """Record a download before it is sent."""
        disposition = str(response.get("Content-Disposition", ""))
        match = request.resolver_match
        # The answer to HEAD hands nothing over.
        is_handed_over = response.status_code == 200 and request.method != "HEAD"
        if is_handed_over and disposition.startswith("attachment") and match is not None:
            about = {"what": str(match.view_name)} | {k: str(v)[:60] for k, v in match.kwargs.items()}
            record(Kind.EXPORTED, by=request.user, about=about, request=request)
        return response
