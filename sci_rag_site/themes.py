"""The colour theme: the system's, light or dark, kept in a cookie so that the server renders it."""

from __future__ import annotations

from enum import StrEnum

from django.http import HttpRequest, HttpResponseBase

from corpus import cookies

COOKIE = "theme"
ONE_YEAR = 365 * 24 * 3600


class Theme(StrEnum):
    SYSTEM = "system"
    LIGHT = "light"
    DARK = "dark"


def theme_of(request: HttpRequest) -> Theme:
    """Return the chosen theme; the system's for a cookie that is absent or makes no sense."""
    return parse_theme(request.COOKIES.get(cookies.name_of(COOKIE), ""))


def parse_theme(name: str) -> Theme:
    """Return the theme called `name`, the system's for anything else."""
    try:
        return Theme(name)
    except ValueError:
        return Theme.SYSTEM


def remember(response: HttpResponseBase, theme: Theme, *, secure: bool) -> None:
    """Store the choice with the reader."""
    response.set_cookie(
        cookies.name_of(COOKIE),
        theme.value,
        max_age=ONE_YEAR,
        httponly=True,
        samesite="Lax",
        secure=secure or cookies.is_secure(),
    )
