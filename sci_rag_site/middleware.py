"""Headers that every response carries."""

from __future__ import annotations

import uuid
from pathlib import Path
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.utils.cache import patch_vary_headers
from django.utils.deprecation import MiddlewareMixin
from structlog.contextvars import bind_contextvars, clear_contextvars
from whitenoise.middleware import WhiteNoiseMiddleware

# Everything a page could ask a browser for and this site never needs.
PERMISSIONS_POLICY = ", ".join(
    f"{feature}=()"
    for feature in (
        "accelerometer", "autoplay", "browsing-topics", "camera", "display-capture",
        "encrypted-media", "fullscreen", "geolocation", "gyroscope", "hid", "identity-credentials-get",
        "idle-detection", "magnetometer", "microphone", "midi", "payment", "picture-in-picture",
        "publickey-credentials-get", "screen-wake-lock", "serial", "usb", "xr-spatial-tracking",
    )
)  # fmt: skip


class RequestIdMiddleware(MiddlewareMixin):
    """Give each request an id of our own, in the logs and in `X-Request-ID`.

    An id sent by the client is not taken over: it would let anybody write into the logs.
    """

    def process_request(self, request: HttpRequest) -> None:
        request.request_id = uuid.uuid4().hex  # type: ignore[attr-defined]
        clear_contextvars()
        bind_contextvars(request_id=request.request_id)  # type: ignore[attr-defined]

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        response["X-Request-ID"] = getattr(request, "request_id", "") or uuid.uuid4().hex
        return response


class PrivatePagesMiddleware(MiddlewareMixin):
    """Keep every page out of caches: what it shows depends on who asks, and rights change by the minute."""

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        response.headers.setdefault("Cache-Control", "private, no-store")
        response.headers.setdefault("Permissions-Policy", PERMISSIONS_POLICY)
        response.headers.setdefault("Cross-Origin-Resource-Policy", "same-origin")
        patch_vary_headers(response, ("Cookie", "HX-Request"))
        return response


class StaticFilesMiddleware(WhiteNoiseMiddleware):  # type: ignore[misc]
    """Serve the site's own small static files whole: an ASGI server cannot stream a plain file."""

    def add_files(self, root: str, prefix: str | None = None) -> None:
        """Serve what is in a folder. Before files were collected there is none, and no fault in that."""
        if Path(root).is_dir():
            super().add_files(root, prefix)

    @staticmethod
    def serve(static_file: Any, request: HttpRequest) -> HttpResponse:
        streamed = WhiteNoiseMiddleware.serve(static_file, request)
        response = HttpResponse(b"".join(streamed.streaming_content), status=streamed.status_code)
        response.headers = streamed.headers
        streamed.close()
        return response
