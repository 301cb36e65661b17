"""The page of the installation. Whoever may not see it gets what a missing one gives."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from corpus.signed_in import person
from corpus.usage import queries
from sci_rag_site.health import system


@never_cache
@login_required
@require_safe
def page(request: HttpRequest) -> HttpResponse:
    """Show it to whoever may see what models were used for: it is about everything as well."""
    if not queries.may_look(person(request)):
        raise Http404
    return render(request, "site/system.html", {"parts": system.parts()})
