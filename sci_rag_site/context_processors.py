"""What every template knows."""

from __future__ import annotations

from django.contrib import admin
from django.http import HttpRequest
from django.utils.functional import SimpleLazyObject

from answers import alerts
from sci_rag_site.themes import theme_of


def site(request: HttpRequest) -> dict[str, object]:
    """Return the reader's colour theme and, looked up only when asked, what the header tells them."""
    return {
        "theme": theme_of(request),
        "unread_notices": SimpleLazyObject(lambda: _unread(request)),
        "admin_is_open": SimpleLazyObject(lambda: admin.site.has_permission(request)),
    }


def _unread(request: HttpRequest) -> int:
    user = request.user
    return alerts.unread(user).count() if user.is_authenticated else 0
