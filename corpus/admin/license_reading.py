"""What a document's own words say about its rights, beside the class that a person gave it."""

from __future__ import annotations

from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from corpus.actions import license_suggestions
from corpus.admin_base import badge, license_badge
from corpus.curation import ReviewItem
from corpus.models import Document

LIMIT = 1_000


def shown(document: Document) -> SafeString:
    """Show the class the document's words establish, why, and where a suggestion of it waits."""
    found = license_suggestions.reading_of([document.license_source, document.rights_statement])
    if found is None:
        return format_html('<span class="quiet">{}</span>', _("They establish nothing."))
    reading, _quoted = found
    mark = badge(_("Quote verbatim"), "caution") if reading.no_derivatives else SafeString("")
    described = format_html("{} {} {}", license_badge(reading.license_class), mark, reading.reason)
    waiting = document.review_items.filter(
        kind=ReviewItem.Kind.LOOSER_LICENSE, state=ReviewItem.State.OPEN
    ).first()
    if waiting is None:
        return described
    address = reverse("admin:corpus_reviewitem_decide", args=[waiting.pk])
    return format_html('{} <a href="{}">{}</a>', described, address, _("Decide…"))


def suggest(request: HttpRequest, documents: QuerySet[Document]) -> None:
    """Open a suggestion for each of `documents` whose words establish a class nobody has decided on."""
    rows = list(documents.order_by("pk")[: LIMIT + 1])
    if len(rows) > LIMIT:
        messages.error(request, _("Choose at most %d documents at a time.") % LIMIT)
        return
    opened = sum(license_suggestions.suggest(document) is not None for document in rows)
    messages.success(request, ngettext("%d suggestion opened.", "%d suggestions opened.", opened) % opened)
