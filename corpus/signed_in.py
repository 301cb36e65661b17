"""Who is signed in, for views that nobody else reaches."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.http import HttpRequest


def person(request: HttpRequest) -> User:
    """Return the account behind a request. Only for views behind a sign-in."""
    assert isinstance(request.user, User)  # noqa: S101 - their decorators let nobody else in
    return request.user
