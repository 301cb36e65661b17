"""What every request of somebody who is signed in goes through: does the provider still vouch for them?"""

from __future__ import annotations

import time
from uuid import UUID

from django.conf import settings
from django.contrib.auth import logout
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.deprecation import MiddlewareMixin
from django.utils.translation import gettext as _

from corpus import session_store
from corpus.accounts import provider
from corpus.accounts.provider import CannotAsk, SessionOver


class SignedInMiddleware(MiddlewareMixin):
    """Ends or holds sessions that their provider does not vouch for, and notes that the others are in use."""

    def process_request(self, request: HttpRequest) -> HttpResponse | None:
        """Return nothing where the request may go on."""
        # Who has no session costs no query.
        if settings.SESSION_COOKIE_NAME not in request.COOKIES:
            return None
        session = request.session
        if session.get("_auth_user_id") is None:
            return None
        key = session.get(session_store.PROVIDER)
        # Whoever wants to leave may, whatever the provider does.
        if key is not None and request.path != reverse("logout"):
            try:
                provider.require_standing(UUID(key))
            except SessionOver:
                return _over(request)
            except CannotAsk:
                return _held(request)
        now = int(time.time())
        if not 0 <= now - session.get(session_store.SEEN, 0) < session_store.NOTED:
            session[session_store.SEEN] = now
        return None


def _over(request: HttpRequest) -> HttpResponse:
    logout(request)
    where = f"{reverse('login')}?ended=provider"
    if request.headers.get("HX-Request"):
        return HttpResponse(status=401, headers={"HX-Redirect": where})
    return HttpResponseRedirect(where)


def _held(request: HttpRequest) -> HttpResponse:
    context = {
        "status": 503,
        "title": _("%s cannot be asked at the moment") % provider.name(),
        "explanation": _(
            "Every few minutes this site asks there whether you may still see what you see. Until there is "
            "an answer it shows nothing. You stay signed in: try again in a minute."
        ),
    }
    response = render(request, "errors/error.html", context, status=503)
    response["Retry-After"] = "30"
    return response
