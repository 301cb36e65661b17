"""Pictures of pages of the originals."""

from __future__ import annotations

import uuid

import structlog
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from corpus import browsing, ceilings, fixity, page_images, page_views
from corpus.parsing.blocks import ParseFailure
from corpus.scope import RetrievalScope

logger = structlog.get_logger(__name__)


@login_required
@require_safe
def page_image(request: HttpRequest, document_id: uuid.UUID, number: int) -> HttpResponse:
    """Send a page of the document as a picture, `width` pixels wide.

    The reader's ceiling is checked before anything else, kept picture or not. What they may not see, and
    pages and widths that do not exist, are the same 404.
    """
    scope = ceilings.effective_scope(request.user, RetrievalScope())
    document = browsing.readable_document(scope, document_id)
    if document is None:
        document = browsing.scanned_document(ceilings.of(request.user), document_id)
    widths = {str(width): width for width in page_images.WIDTHS}
    width = widths.get(request.GET.get("width", str(page_images.DEFAULT_WIDTH)))
    if document is None or width is None or not page_views.has_pages(document):
        raise Http404
    if not 1 <= number <= (document.page_count or 0):
        raise Http404
    try:
        picture = page_images.page_image(file_sha256=document.file_sha256, page=number, width=width)
    except page_images.Busy:
        return _words(_("Too many pages are being drawn. Try again in a moment."), status=503, retry="5")
    except page_images.OriginalMissing:
        fixity.note(document=document.pk, found=fixity.Fixity.ORIGINAL_MISSING)
        return _words(_("The original file is missing."), status=409)
    except page_images.OriginalChanged:
        fixity.note(document=document.pk, found=fixity.Fixity.ORIGINAL_CHANGED)
        return _words(_("The original file is not the one that was taken in."), status=409)
    except ParseFailure as failure:
        logger.warning("page_image.failed", document=str(document.pk), page=number, code=failure.code)
        return _words(_("This page cannot be drawn."), status=422)
    response = HttpResponse(picture, content_type=page_images.MEDIA_TYPE)
    response.headers["Cache-Control"] = "private, no-store"
    response.headers["X-Content-Type-Options"] = "nosniff"
    response.headers["Content-Security-Policy"] = "sandbox; default-src 'none'"
    return response


def _words(text: str, *, status: int, retry: str = "") -> HttpResponse:
    response = HttpResponse(f"{text}\n", content_type="text/plain; charset=utf-8", status=status)
    if retry:
        response.headers["Retry-After"] = retry
    return response
