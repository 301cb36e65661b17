"""The page of messages, and marking them as read."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from answers import alerts, notice_pages
from answers.actions.alerts import mark_read
from corpus.signed_in import person

PAGE_SIZE = 20


@login_required
@require_safe
def notices(request: HttpRequest) -> HttpResponse:
    """List the reader's messages, newest first."""
    user = person(request)
    page = Paginator(alerts.to(user), PAGE_SIZE).get_page(request.GET.get("page"))
    context = {
        "page": page,
        "notices": notice_pages.shown(list(page.object_list), user),
        "unread": alerts.unread(user).count(),
    }
    return render(request, "answers/notices.html", context)


@login_required
@require_POST
def notices_read(request: HttpRequest) -> HttpResponse:
    """Mark one of the reader's messages as read, or all; what is not theirs stays as it is."""
    wanted = request.POST.get("notice", "")
    if request.POST.get("all"):
        mark_read(by=person(request))
    elif wanted.isascii() and wanted.isdigit() and len(wanted) <= 18:
        mark_read(by=person(request), ids=[int(wanted)])
    return redirect("notices")
