"""Who reaches the pages of campaigns. Whoever may not gets what a missing one gives."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, cast

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest
from django.http.response import HttpResponseBase

from corpus.campaigns import queries
from corpus.signed_in import person

P = ParamSpec("P")
View = Callable[Concatenate[HttpRequest, P], HttpResponseBase]


def campaign_page(permission: str = queries.VIEW) -> Callable[[View[P]], View[P]]:
    """Show the view to those who may see campaigns and hold `permission`; to others it is not there."""

    def decorate(view: View[P]) -> View[P]:
        @wraps(view)
        def guarded(request: HttpRequest, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
            user = person(request)
            if not (queries.may_look(user) and user.has_perm(permission)):
                raise Http404
            return view(request, *args, **kwargs)

        return login_required(cast("View[P]", guarded))

    return decorate
