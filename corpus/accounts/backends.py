"""How somebody becomes signed in: with a password, tried as often as is allowed, or by a provider's word."""

from __future__ import annotations

import secrets
from datetime import datetime
from typing import Any

import structlog
from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.models import AnonymousUser, Group, Permission, User
from django.core.exceptions import PermissionDenied
from django.core.signing import BadSignature
from django.db.models import Q
from django.http import HttpRequest, HttpResponse

from corpus import cookies
from corpus.accounts import attempts
from corpus.accounts.attempts import Paused
from corpus.audit.recording import Kind, record

logger = structlog.get_logger(__name__)

BY_PASSWORD = "corpus.accounts.backends.PasswordBackend"  # noqa: S105 - a path
BY_PROVIDER = "corpus.accounts.backends.ProviderBackend"
DEVICE_COOKIE = "known-device"
_DEVICE_LIFE = 180 * 24 * 3600
_SALT = "corpus.accounts.device"


class _PermissionsAtOnce(ModelBackend):
    """Django's backend, but that a person's own permissions and their groups' are one statement, not two."""

    def get_all_permissions(self, user_obj: User | AnonymousUser, obj: Any = None) -> set[str]:
        """Return what the account may do, looked up once for each instance, as Django does."""
        if user_obj.is_superuser or not user_obj.is_active or user_obj.is_anonymous or obj is not None:
            return super().get_all_permissions(user_obj, obj)
        # Where Django keeps them as well.
        kept = user_obj.__dict__
        if "_perm_cache" not in kept:
            own = User.user_permissions.through.objects.filter(user=user_obj)
            groups = Group.permissions.through.objects.filter(group__user=user_obj)
            held = Permission.objects.filter(
                Q(pk__in=own.values("permission")) | Q(pk__in=groups.values("permission"))
            )
            names = held.order_by().values_list("content_type__app_label", "codename")
            kept["_perm_cache"] = {f"{label}.{name}" for label, name in names}
        found: set[str] = kept["_perm_cache"]
        return found


class PasswordBackend(_PermissionsAtOnce):
    """Django's comparison of passwords, behind a count that is exact.

    The attempt is counted before anything is compared, so however many come at once, no more than allowed
    reach the comparison. A name that nobody has is counted alike and compared for as long.
    """

    def authenticate(
        self,
        request: HttpRequest | None,
        username: str | None = None,
        password: str | None = None,
        **kwargs: Any,
    ) -> User | None:
        """Return the account, None for a wrong password; raise PermissionDenied during a pause."""
        if username is None or password is None:
            return None
        try:
            attempt = attempts.begin(
                name=username, address=_address(request), device=_known_device(request, username)
            )
        except Paused as pause:
            _remember(request, pause.until)
            record(Kind.SIGN_IN_FAILED, by=None, about={"why": "paused"}, request=request, once="paused")
            logger.warning("sign_in.paused")
            raise PermissionDenied from None
        user = super().authenticate(request, username=username, password=password)
        if user is None:
            _remember(request, attempt.paused_until)
            # Never the name: people type passwords there. The account, where there is one.
            account = User.objects.filter(username=username).values_list("pk", flat=True).first()
            about = {"why": "password", "account": account}
            record(Kind.SIGN_IN_FAILED, by=None, about=about, request=request)
            logger.info("sign_in.failed")
            return None
        attempts.succeeded(attempt)
        return user


class ProviderBackend(_PermissionsAtOnce):
    """Accounts whom the provider vouched for; it compares nothing itself."""

    def authenticate(self, request: HttpRequest | None, *args: Any, **kwargs: Any) -> None:
        """Know nobody by what they type."""


def paused_until(request: HttpRequest) -> datetime | None:
    """Return until when signing in is paused, as this request found out."""
    until: datetime | None = getattr(request, "_sign_in_paused_until", None)
    return until


def remember_device(response: HttpResponse, request: HttpRequest, username: str) -> None:
    """Let the browser say later that this person has signed in with it before."""
    response.set_signed_cookie(
        cookies.name_of(DEVICE_COOKIE),
        f"{attempts.name_key(username)}.{secrets.token_urlsafe(12)}",
        salt=_SALT,
        max_age=_DEVICE_LIFE,
        httponly=True,
        samesite="Lax",
        secure=request.is_secure() or cookies.is_secure(),
    )


def _known_device(request: HttpRequest | None, username: str) -> str:
    name = cookies.name_of(DEVICE_COOKIE)
    if request is None or name not in request.COOKIES:
        return ""
    try:
        value = request.get_signed_cookie(name, salt=_SALT, max_age=_DEVICE_LIFE)
    except BadSignature:
        return ""
    named, _dot, device = str(value).partition(".")
    return device if named == attempts.name_key(username) else ""


def _address(request: HttpRequest | None) -> str:
    return "" if request is None else str(request.META.get("REMOTE_ADDR", ""))


def _remember(request: HttpRequest | None, until: datetime | None) -> None:
    if request is not None and until is not None:
        request._sign_in_paused_until = until  # type: ignore[attr-defined]
