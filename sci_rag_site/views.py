"""Pages that belong to no app: the theme switch, health and what is shown when something goes wrong."""

from __future__ import annotations

import sys

from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from corpus.audit import recording
from sci_rag_site.health.readiness import readiness
from sci_rag_site.themes import parse_theme, remember


@require_POST
def set_theme(request: HttpRequest) -> HttpResponse:
    """Remember the theme and go back to where the reader was."""
    target = request.POST.get("next", "")
    if not url_has_allowed_host_and_scheme(
        target, allowed_hosts={request.get_host()}, require_https=request.is_secure()
    ):
        target = reverse("ask")
    response: HttpResponse = (
        HttpResponse(status=204) if request.headers.get("HX-Request") else HttpResponseRedirect(target)
    )
    remember(response, parse_theme(request.POST.get("theme", "")), secure=request.is_secure())
    return response


@require_GET
def healthz(request: HttpRequest) -> JsonResponse:
    """Say that the process answers."""
    return JsonResponse({"status": "ok"})


@require_GET
def readyz(request: HttpRequest) -> JsonResponse:
    """Say whether the site can work, and with 503 what keeps it from that. No names of hosts or people."""
    failing, seen = readiness()
    status = "unavailable" if failing else "ok"
    return JsonResponse({"status": status, "failing": failing, **seen}, status=503 if failing else 200)


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Say that the request made no sense, or held more than is read."""
    if isinstance(exception, RequestDataTooBig):
        return _error(
            request,
            status=413,
            title=_("That is more than this site takes"),
            explanation=_("A form holds more text than is read here. Send less, or send it as a file."),
        )
    return _error(
        request,
        status=400,
        title=_("That request could not be understood"),
        explanation=_("Part of the address or of the form was damaged. Go back and try again."),
    )


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Say that the signed-in person may not do this."""
    recording.denied(request, "permission")
    return _error(
        request,
        status=403,
        title=_("Your account may not do this"),
        explanation=_("Ask the librarian or an administrator if you need it for your work."),
    )


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Say that there is nothing here: the same words, byte for byte, whether it is absent or not yours.

    Nor does the record tell the two apart: who is signed in and asks for many such things is on it.
    """
    if request.resolver_match is not None and request.user.is_authenticated:
        recording.denied(request, "not_found")
    return _error(
        request,
        status=404,
        title=_("There is nothing to show here"),
        explanation=_(
            "The address may be mistyped, the document may have been removed, or your account may not see it."
        ),
    )


def server_error(request: HttpRequest) -> HttpResponse:
    """Say that the fault is ours, without a query: the database may be what failed."""
    return _error(
        request,
        status=500,
        title=_("Something went wrong on our side"),
        explanation=_(
            "Nothing you stored is lost. Try again; if it happens again, tell the administrator "
            "and quote the request number."
        ),
        reference=getattr(request, "request_id", ""),
    )


def no_room(request: HttpRequest) -> HttpResponse:
    """Say that the disk is full: what was sent was not kept, and everything else goes on."""
    return _error(
        request,
        status=507,
        title=_("There is no room left on the site’s disk"),
        explanation=_(
            "Nothing of what you sent was kept, and nothing that is stored is lost. Tell the "
            "administrator, and send it again when there is room."
        ),
        reference=getattr(request, "request_id", ""),
    )


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """Say why a form was refused and what to do."""
    recording.denied(request, "csrf")
    return _error(
        request,
        status=403,
        title=_("The form had expired"),
        explanation=_(
            "For your safety a form is only accepted from the page you opened in this session. "
            "Go back, reload the page and send it again. Cookies must be allowed for this site."
        ),
    )


def _error(
    request: HttpRequest, *, status: int, title: str, explanation: str, reference: str = ""
) -> HttpResponse:
    if request.path.startswith("/api/"):
        return _api_error(status)
    context = {"title": title, "explanation": explanation, "status": status, "reference": reference}
    return render(request, "errors/error.html", context, status=status)


def _api_error(status: int) -> HttpResponse:
    """Answer a program as the API does: what reaches this never reached a view."""
    from corpus.api import problems

    if status == 500:
        kind = sys.exc_info()[0]
        named = f"The error is of the type {kind.__name__}." if kind else ""
        return problems.response(problems.Problem(problems.Code.INTERNAL_ERROR, named))
    of_status = {404: problems.Code.NOT_FOUND, 413: problems.Code.REQUEST_TOO_LARGE}
    return problems.response(problems.Problem(of_status.get(status, problems.Code.MALFORMED_REQUEST)))
