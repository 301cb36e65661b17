"""What every template knows."""

from __future__ import annotations

from django.contrib import admin
from django.http import HttpRequest
from django.utils.functional import SimpleLazyObject

from sci_rag_site.themes import theme_of


def site(request: HttpRequest) -> dict[str, object]:
    """Return the reader's colour theme and, looked up only when asked, whether the admin is open to them."""
    return {
        "theme": theme_of(request),
        "admin_is_open": SimpleLazyObject(lambda: admin.site.has_permission(request)),
    }
