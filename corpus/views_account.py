"""One's own account: what one may see, where one is signed in, one's password, and the provider."""

from __future__ import annotations

import time
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.contrib.auth import authenticate
from django.contrib.auth.decorators import login_required
from django.contrib.auth.mixins import LoginRequiredMixin
from django.contrib.auth.views import PasswordChangeView
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse_lazy
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_POST, require_safe

from corpus import session_store
from corpus.accounts import access, backends, pending, provider, sessions
from corpus.signed_in import person


@login_required
@require_safe
def account(request: HttpRequest) -> HttpResponse:
    """Show one's account."""
    return _page(request)


@login_required
@require_POST
def end_session(request: HttpRequest) -> HttpResponse:
    """End one of one's sessions, or all but this one."""
    user, here = person(request), request.session.session_key
    if request.POST.get("session") == "others":
        count = sessions.end_all(person=user, but=here)
    else:
        count = sessions.end(person=user, numbers=[_number(request.POST.get("session", ""))])
    words = ngettext("%(n)d session has ended.", "%(n)d sessions have ended.", count) % {"n": count}
    messages.success(request, words)
    return redirect("account")


@sensitive_post_parameters("password")
@login_required
@require_POST
def connect(request: HttpRequest) -> HttpResponse:
    """Let whoever knows the account's password connect it with the provider, for some minutes."""
    user = person(request)
    if not provider.name() or not user.has_usable_password():
        raise Http404
    password = request.POST.get("password", "")
    # Counted like every other attempt: a session left open is no way to guess at leisure.
    if authenticate(request, username=user.get_username(), password=password) != user:
        until = backends.paused_until(request)
        words = _("That is not your password.")
        if until is not None:
            words = _("Too many attempts. Try again after %s UTC.") % f"{until:%H:%M}"
        return _page(request, trouble=words, status=422 if until is None else 429)
    request.session[session_store.MAY_CONNECT] = int(time.time()) + pending.SECONDS
    return redirect("account")


class ChangePassword(LoginRequiredMixin, PasswordChangeView):
    """A new password. Every other session of the account ends with the old one."""

    template_name = "registration/change_password.html"
    success_url = reverse_lazy("account")

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        """Keep out who has no password here."""
        if request.user.is_authenticated and not person(request).has_usable_password():
            raise Http404
        return super().dispatch(request, *args, **kwargs)

    def form_valid(self, form: Any) -> HttpResponse:
        """Change it, and say what else that did."""
        response = super().form_valid(form)
        messages.success(self.request, _("Your password is changed. All your other sessions have ended."))
        return response


def _page(request: HttpRequest, *, trouble: str = "", status: int = 200) -> HttpResponse:
    user = person(request)
    may_connect = request.session.get(session_store.MAY_CONNECT, 0) > time.time()
    context = {
        "rights": access.of(user),
        "sessions": [(row, row.pk == request.session.session_key) for row in sessions.of(user)[:100]],
        "provider_name": provider.name(),
        "is_connected": user.identities.exists(),
        "has_password": user.has_usable_password(),
        "may_connect": may_connect,
        "trouble": trouble,
    }
    return render(request, "registration/account.html", context, status=status)


def _number(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        raise Http404 from None
