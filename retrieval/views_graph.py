"""The pages of the knowledge graph. What no passage under the reader's ceiling mentions is not there."""

from __future__ import annotations

import uuid
from typing import Any
from urllib.parse import urlencode

from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from corpus import browsing, ceilings
from corpus.scope import RetrievalScope
from retrieval.forms import EntityFilterForm
from retrieval.graph import edges, faces, listing, neighbourhood, pages, wording
from retrieval.graph.faces import Face
from retrieval.graph.listing import Listing, Wanted

EDGES_PER_PAGE = 25
PASSAGES_PER_PAGE = 25
FIRST_PASSAGES = 3
# Further than anybody turns pages, and still a number the database takes.
_MOST_PAGES = 100_000


@login_required
@require_safe
def entities(request: HttpRequest) -> HttpResponse:
    """List and search what passages the reader may see mention; counts are of these passages only."""
    scope = _scope(request)
    form = EntityFilterForm(request.GET)
    is_valid = form.is_valid()
    wanted = form.wanted() if is_valid else Wanted()
    types = listing.types(scope)
    number = _page_number(request)
    found = listing.listing(wanted, scope, page=number) if is_valid else Listing((), 0)
    if number > 1 and not found.entities:
        number, found = 1, listing.listing(wanted, scope, page=1)
    document = browsing.readable_document(scope, wanted.document) if wanted.document else None
    context = {
        "form": form,
        "entries": found.entities,
        "page": Paginator(range(found.total), listing.PAGE_SIZE).get_page(number),
        "types": [(name, wording.label(name), count) for name, count in types],
        "total": sum(count for _, count in types),
        "document": document,
        "filter_query": _without_page(request),
        "is_filtered": not is_valid or wanted != Wanted(order=wanted.order),
    }
    fragment = "#results" if getattr(request, "htmx", False) else ""
    return render(request, "graph/entity_list.html" + fragment, context, status=200 if is_valid else 422)


@login_required
@require_safe
def entity(request: HttpRequest, entity_id: uuid.UUID) -> HttpResponse:
    """Show an entity: its names, what passages say it is, its neighbours, and where it is mentioned."""
    scope = _scope(request)
    face = _found(entity_id, scope)
    if face.id != entity_id:
        return HttpResponseRedirect(reverse("entity", args=[face.id]))
    lines = edges.lines(face, scope)
    page = Paginator(lines, EDGES_PER_PAGE).get_page(request.GET.get("page"))
    context = {
        **_about(face, scope),
        "descriptions": pages.descriptions(face, scope),
        "page": page,
        "groups": wording.grouped(edges.read(list(page.object_list), face, scope)),
        "drawn": neighbourhood.drawn(face, lines, scope),
        "mentions": pages.mentioned_in(pages.passages(face, scope)[:FIRST_PASSAGES], face, scope),
    }
    return render(request, "graph/entity_detail.html", context)


@login_required
@require_safe
def entity_passages(request: HttpRequest, entity_id: uuid.UUID) -> HttpResponse:
    """List the passages that mention an entity, each with the sentence that does."""
    scope = _scope(request)
    face = _found(entity_id, scope)
    page = Paginator(pages.passages(face, scope), PASSAGES_PER_PAGE).get_page(request.GET.get("page"))
    context = {
        **_about(face, scope),
        "page": page,
        "mentions": pages.mentioned_in(page.object_list, face, scope),
    }
    return render(request, "graph/entity_passages.html", context)


@login_required
@require_safe
def entity_evidence(request: HttpRequest, entity_id: uuid.UUID) -> HttpResponse:
    """List what passages say holds between an entity and others, or the one that `with` names."""
    scope = _scope(request)
    face = _found(entity_id, scope)
    given = request.GET.get("with", "")
    other = _found(_as_id(given), scope) if given else None
    page = Paginator(edges.evidence(face, scope, other=other), PASSAGES_PER_PAGE).get_page(
        request.GET.get("page")
    )
    context = {
        **_about(face, scope),
        "other": other,
        "page": page,
        "groups": wording.grouped(edges.each(page.object_list, scope)),
        "filter_query": _without_page(request),
    }
    return render(request, "graph/entity_evidence.html", context)


def _about(face: Face, scope: RetrievalScope) -> dict[str, Any]:
    mentions, documents = faces.counts([face.family], scope)[face.family]
    return {
        "face": face,
        "type": wording.label(face.type),
        "type_description": wording.type_description(face.type),
        "mention_count": mentions,
        "document_count": documents,
    }


def _found(entity_id: uuid.UUID, scope: RetrievalScope) -> Face:
    found = faces.find(entity_id, scope)
    if found is None:
        raise Http404
    return found


def _as_id(text: str) -> uuid.UUID:
    try:
        return uuid.UUID(text)
    except ValueError:
        raise Http404 from None


def _scope(request: HttpRequest) -> RetrievalScope:
    return ceilings.effective_scope(request.user, RetrievalScope())


def _page_number(request: HttpRequest) -> int:
    given = request.GET.get("page", "")
    number = int(given) if given.isascii() and given.isdigit() and len(given) <= 9 else 1
    return number if 1 <= number <= _MOST_PAGES else 1


def _without_page(request: HttpRequest) -> str:
    return urlencode([(key, value) for key, value in request.GET.items() if key != "page" and value])
