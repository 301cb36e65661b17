"""The document pages. What the reader's ceiling does not allow is not there: the same 404 as no such id."""

from __future__ import annotations

import uuid
from urllib.parse import urlencode

from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from corpus import browsing, ceilings, citation_graph, page_views, sentence_marks
from corpus.forms import DocumentFilterForm
from corpus.models import Chunk, Document
from corpus.parsing.media_types import PPTX
from corpus.scope import RetrievalScope

PAGE_SIZE = 25


@login_required
@require_safe
def documents(request: HttpRequest) -> HttpResponse:
    """List and search the documents the reader may see; counts are of these only."""
    visible = Document.objects.within(_ceiling(request))
    form = DocumentFilterForm(request.GET)
    found = browsing.matching(visible, form.cleaned_data) if form.is_valid() else visible.none()
    page = Paginator(found.select_related("source").order_by("title", "id"), PAGE_SIZE).get_page(
        request.GET.get("page")
    )
    context = {
        "form": form,
        "page": page,
        "total": visible.count(),
        "licenses": browsing.license_facets(visible),
        "buckets": browsing.bucket_facets(visible),
        "filter_query": _without_page(request),
        "is_filtered": any(value not in (None, "") for value in getattr(form, "cleaned_data", {}).values()),
    }
    fragment = "#results" if getattr(request, "htmx", False) else ""
    status = 200 if form.is_valid() else 422
    return render(request, "corpus/document_list.html" + fragment, context, status=status)


@login_required
@require_safe
def document(request: HttpRequest, document_id: uuid.UUID) -> HttpResponse:
    """Show one document: what it is, what may be done with it, what happened to it, what it says."""
    ceiling = _ceiling(request)
    found = browsing.readable_document(ceiling, document_id)
    scanned = None if found else browsing.scanned_document(ceilings.of(request.user), document_id)
    found = found or scanned
    if found is None:
        raise Http404
    context = {
        "is_scan": scanned is not None,
        "has_slides": found.media_type == PPTX,
        "page_view": scanned
        and page_views.of_document(scanned, page=_number(request, "page"), width=_number(request, "width")),
        "document": found,
        "badges": browsing.badges(found),
        "sections": browsing.sections(found),
        "references": citation_graph.references(found, ceiling),
        "cited_by": citation_graph.cited_by(found, ceiling),
        "events": found.source.events.order_by("happened_on", "id") if found.source else [],
        "checks": found.source.checks.order_by("provider", "id") if found.source else [],
        "versions": _versions(found, ceiling),
    }
    return render(request, "corpus/document_detail.html", context)


@login_required
@require_safe
def passage(request: HttpRequest, passage_id: uuid.UUID) -> HttpResponse:
    """Show a passage marked in the section it stands in, and on the page of the original where there is one.

    `page` and `width` choose the picture, `cited` names sentences to mark and `at` words whose sentences are;
    what of them makes no sense is left out.
    """
    found = browsing.readable_passage(_ceiling(request), passage_id)
    if found is None:
        raise Http404
    context = {
        "passage": found,
        "pointers": citation_graph.pointers(found, _ceiling(request)),
        "document": found.document,
        "badges": browsing.badges(found.document),
        "sections": browsing.surroundings(found),
        "neighbours": _neighbours(found),
        "cited": sentence_marks.read(request.GET.get("cited", ""), found.body)
        or sentence_marks.around(request.GET.get("at", ""), found.body),
        "page_view": page_views.of_passage(
            found, found.document, page=_number(request, "page"), width=_number(request, "width")
        ),
    }
    return render(request, "corpus/passage_detail.html", context)


def _number(request: HttpRequest, name: str) -> int | None:
    given = request.GET.get(name, "")
    return int(given) if given.isascii() and given.isdigit() and len(given) <= 6 else None


def _ceiling(request: HttpRequest) -> RetrievalScope:
    return ceilings.effective_scope(request.user, RetrievalScope())


def _without_page(request: HttpRequest) -> str:
    return urlencode([(key, value) for key, value in request.GET.items() if key != "page" and value])


def _versions(document: Document, ceiling: RetrievalScope) -> dict[str, list[Document]]:
    """Return the versions before and after this one that the reader may see."""
    visible = Document.objects.within(ceiling)
    newer = visible.filter(id=document.superseded_by_id) if document.superseded_by_id else visible.none()
    older = visible.filter(superseded_by=document)
    return {"newer": list(newer), "older": list(older.order_by("-year", "id"))}


def _neighbours(passage: Chunk) -> dict[str, Chunk | None]:
    beside = passage.document.chunks.defer("search_vector")
    return {
        "previous": beside.filter(ordinal__lt=passage.ordinal).order_by("-ordinal", "id").first(),
        "next": beside.filter(ordinal__gt=passage.ordinal).order_by("ordinal", "id").first(),
    }
