"""Who is signed in, for views that nobody else reaches."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, cast

from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest
from django.http.response import HttpResponseBase

P = ParamSpec("P")
View = Callable[Concatenate[HttpRequest, P], HttpResponseBase]


def person(request: HttpRequest) -> User:
    """Return the account behind a request. Only for views behind a sign-in."""
    assert isinstance(request.user, User)  # noqa: S101 - their decorators let nobody else in
    return request.user


def only_for(permission: str) -> Callable[[View[P]], View[P]]:
    """Show the view to those who hold `permission`; to others it is not there."""

    def decorate(view: View[P]) -> View[P]:
        @wraps(view)
        def guarded(request: HttpRequest, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
            if not person(request).has_perm(permission):
                raise Http404
            return view(request, *args, **kwargs)

        return login_required(cast("View[P]", guarded))

    return decorate
