"""Who gets to the pages of evaluation. To others they are not there."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, cast

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest
from django.http.response import HttpResponseBase

from corpus.signed_in import person

P = ParamSpec("P")
View = Callable[Concatenate[HttpRequest, P], HttpResponseBase]


def for_holders_of(permission: str) -> Callable[[View[P]], View[P]]:
    """Show the view to those who hold `permission`, and a missing page to everybody else."""

    def decorate(view: View[P]) -> View[P]:
        @wraps(view)
        def guarded(request: HttpRequest, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
            if not person(request).has_perm(permission):
                raise Http404
            return view(request, *args, **kwargs)

        return login_required(cast("View[P]", guarded))

    return decorate
