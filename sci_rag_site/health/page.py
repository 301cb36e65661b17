"""The doctor's page. Whoever may not see it gets what a missing one gives."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from corpus import ceilings
from corpus.scope import EVERYTHING
from corpus.signed_in import person
from sci_rag_site.health import doctor
from sci_rag_site.health.findings import report


@never_cache
@login_required
@require_safe
def page(request: HttpRequest) -> HttpResponse:
    """Examine the installation and show what there is to say. No model is called."""
    user = person(request)
    # It speaks of everything, so a ceiling must cover everything.
    if not user.has_perm("corpus.view_backuprun") or ceilings.of(user) != EVERYTHING:
        raise Http404
    found = list(doctor.examine(probe=False))
    order = {"fail": 0, "warn": 1, "ok": 2}
    context = {
        "findings": sorted(found, key=lambda item: order[item.status]),
        "counts": report(found)["counts"],
    }
    return render(request, "site/doctor.html", context)
