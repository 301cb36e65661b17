"""`/metrics`, for whoever has the token; for everybody else there is no such page."""

from __future__ import annotations

import hmac

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from corpus.metrics import catalogue
from corpus.metrics.store import total
from sci_rag_site.metrics.exposition import CONTENT_TYPE, exposition
from sci_rag_site.metrics.gauges import read


@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """Send the numbers of all processes that share this site's folder."""
    if not _may_read(request):
        raise Http404
    text = exposition(total(catalogue.folder(), catalogue.joined), read())
    return HttpResponse(text, content_type=CONTENT_TYPE)


def _may_read(request: HttpRequest) -> bool:
    token: str = settings.SCI_RAG_METRICS_TOKEN
    scheme, _, given = request.headers.get("Authorization", "").partition(" ")
    return bool(token) and scheme == "Bearer" and hmac.compare_digest(given.encode(), token.encode())
