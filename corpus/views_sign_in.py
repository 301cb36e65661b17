"""Signing in and out, with a password or through the provider. The rules are elsewhere."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import structlog
from django.contrib import messages
from django.contrib.auth import login
from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.models import User
from django.contrib.auth.views import LoginView, LogoutView
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme, urlencode
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from corpus import session_store
from corpus.accounts import backends, pending, provider
from corpus.accounts.claims import TooManyGroups, Vouched
from corpus.accounts.identities import ProviderSession
from corpus.accounts.pending import Pending
from corpus.actions import identities
from corpus.actions.identities import NotAdmitted
from corpus.gateways.oidc import Provider
from corpus.gateways.oidc_types import ProviderError, Tokens

logger = structlog.get_logger(__name__)

_LONGEST_CODE = 8_000


class SignIn(LoginView):
    """The sign-in page: a form, and a way to the provider where there is one."""

    redirect_authenticated_user = True

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Add the way to the provider, and why the visitor has to sign in again."""
        context = super().get_context_data(**kwargs)
        target = self.get_redirect_url()
        way = f"{reverse('sign_in_provider')}?{urlencode({'next': target})}" if target else ""
        return context | {
            "provider_name": provider.name(),
            "provider_way": way or reverse("sign_in_provider"),
            "ended": _ended(self.request.GET.get("ended", "")),
        }

    def form_valid(self, form: AuthenticationForm) -> HttpResponse:
        """Sign in and let the browser be known for this person."""
        response = super().form_valid(form)
        backends.remember_device(response, self.request, form.cleaned_data["username"])
        return response

    def form_invalid(self, form: AuthenticationForm) -> HttpResponse:
        """Say what was wrong, or when to try again: in the same words whether or not there is an account."""
        until = backends.paused_until(self.request)
        if until is None:
            return super().form_invalid(form)
        seconds = max(1, round((until - timezone.now()).total_seconds()))
        context = {"until": until, "minutes": -(-seconds // 60), "provider_name": provider.name()}
        response = render(self.request, "registration/locked.html", context, status=429)
        response["Retry-After"] = str(seconds)
        return response


class SignOut(LogoutView):
    """Ends the session, and says that the provider's own goes on."""

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Sign out here."""
        key = request.session.get(session_store.PROVIDER)
        response = super().post(request, *args, **kwargs)
        # Whoever sits down next at this browser finds nothing of what was shown.
        response["Clear-Site-Data"] = '"cache", "storage"'
        if key is None:
            return response
        ProviderSession.objects.filter(pk=UUID(key)).delete()
        response = redirect("signed_out")
        response["Clear-Site-Data"] = '"cache", "storage"'
        return response


@require_safe
def begin(request: HttpRequest) -> HttpResponse:
    """Send the browser to the provider. A link, since forms may lead to this site only."""
    here = _provider()
    # Another site may link here, but not sign its visitor in.
    if request.headers.get("Sec-Fetch-Site", "none") == "cross-site":
        return redirect("login")
    connects = _who_connects(request)
    if request.user.is_authenticated and connects is None:
        return redirect(_target(request))
    state, attempt = pending.begin(request.session, target=_target(request), connects=connects)
    try:
        address = here.authorization_address(
            redirect=_back(request), state=state, nonce=attempt.nonce, verifier=attempt.verifier
        )
    except ProviderError as error:
        return _provider_failed(request, error)
    return HttpResponseRedirect(address)


@require_safe
def finish(request: HttpRequest) -> HttpResponse:
    """Take the browser back from the provider, with its word or without."""
    here = _provider()
    try:
        attempt, code = _reply(request, here)
        vouching = here.redeem(
            code=code, redirect=_back(request), verifier=attempt.verifier, nonce=attempt.nonce
        )
        vouched = provider.person_of(vouching, here)
        if attempt.connects is not None:
            return _connected(request, attempt, vouched)
        return _signed_in(request, attempt, vouched, vouching.tokens)
    except ProviderError as error:
        return _provider_failed(request, error)
    except TooManyGroups:
        words = _("The provider names more groups than are read. Have it send only those of this site.")
        return _refused(request, "too_many_groups", words)
    except NotAdmitted as refusal:
        return _refused(request, refusal.code, str(refusal))


def _reply(request: HttpRequest, here: Provider) -> tuple[Pending, str]:
    """Return the attempt that was replied to, and the code for it."""
    attempt = pending.take(request.session, request.GET.get("state", "")[:200])
    if attempt is None:
        raise NotAdmitted(
            "not_begun_here",
            _("This sign-in was not begun in this browser, was used before or took too long. Begin again."),
        )
    if request.GET.get("iss", here.issuer) != here.issuer:
        raise NotAdmitted("other_issuer", _("Another provider replied than the one that was asked."))
    code = request.GET.get("code", "")
    if "error" in request.GET or not 0 < len(code) <= _LONGEST_CODE:
        raise NotAdmitted("no_code", _("The provider did not sign you in. Begin again, or ask there."))
    return attempt, code


@require_safe
def signed_out(request: HttpRequest) -> HttpResponse:
    """Say what is over and what is not."""
    return render(request, "registration/signed_out.html", {"provider_name": provider.name()})


@require_safe
def leave_provider(request: HttpRequest) -> HttpResponse:
    """Send the browser to where the provider's own session ends."""
    here = _provider()
    try:
        address = here.end_session_address(back=request.build_absolute_uri(reverse("login")))
    except ProviderError as error:
        return _provider_failed(request, error)
    if not address:
        words = _(
            "This provider has no page for signing out. Close the browser, or sign out on its own site."
        )
        return _refused(request, "no_sign_out", words, status=404)
    return HttpResponseRedirect(address)


def _signed_in(request: HttpRequest, attempt: Pending, vouched: Vouched, tokens: Tokens) -> HttpResponse:
    identity = identities.admit(vouched)
    login(request, identity.user, backend=backends.BY_PROVIDER)
    request.session[session_store.PROVIDER] = str(provider.begin(identity=identity, tokens=tokens))
    return HttpResponseRedirect(attempt.target)


def _connected(request: HttpRequest, attempt: Pending, vouched: Vouched) -> HttpResponse:
    user = request.user
    if not isinstance(user, User) or user.pk != attempt.connects:
        raise NotAdmitted("other_account", _("Somebody else is signed in here now. Begin again."))
    identities.connect(vouched, by=user)
    request.session.pop(session_store.MAY_CONNECT, None)
    messages.success(request, _("From now on you can sign in with %s as well.") % provider.name())
    return redirect("account")


def _who_connects(request: HttpRequest) -> int | None:
    """Return the account that is to be connected: its owner has just given its password for that."""
    user = request.user
    until = request.session.get(session_store.MAY_CONNECT, 0) if user.is_authenticated else 0
    return user.pk if until > timezone.now().timestamp() else None


def _provider() -> Provider:
    found = provider.current()
    if found is None:
        raise Http404
    return found


def _back(request: HttpRequest) -> str:
    return request.build_absolute_uri(reverse("sign_in_finish"))


def _target(request: HttpRequest) -> str:
    wanted = request.GET.get("next", "")
    is_ours = url_has_allowed_host_and_scheme(
        wanted, allowed_hosts={request.get_host()}, require_https=request.is_secure()
    )
    return wanted if is_ours and len(wanted) <= 2_000 else reverse("ask")


def _provider_failed(request: HttpRequest, error: ProviderError) -> HttpResponse:
    logger.warning("sign_in.provider_failed", code=error.code, detail=error.detail)
    if error.passes:
        words = (
            _("%s cannot be asked at the moment. Try again in a minute; nothing is lost.") % provider.name()
        )
        return _page(request, words, error.code, status=503)
    words = _("What %s replied does not prove who you are, so you are not signed in. Begin again.")
    return _page(request, words % provider.name(), error.code, status=403)


def _refused(request: HttpRequest, code: str, words: str, *, status: int = 403) -> HttpResponse:
    logger.warning("sign_in.refused", code=code)
    return _page(request, words, code, status=status)


def _page(request: HttpRequest, words: str, code: str, *, status: int) -> HttpResponse:
    context = {"words": words, "code": code, "reference": getattr(request, "request_id", "")}
    response = render(request, "registration/provider_refused.html", context, status=status)
    if status == 503:
        response["Retry-After"] = "60"
    return response


def _ended(code: str) -> str:
    """Return why a session is over, in words; only for the code that is ours."""
    if code != "provider":
        return ""
    who = provider.name() or _("The provider")
    return _("%s no longer vouches for your session. Sign in again.") % who
