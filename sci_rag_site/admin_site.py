"""The admin site: who may enter it, its content security policy and its front page."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pghistory
from csp.constants import SELF, UNSAFE_EVAL, UNSAFE_INLINE
from csp.decorators import csp_update
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied, SuspiciousOperation
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.decorators import method_decorator
from django.utils.translation import gettext_lazy as _
from django.views.decorators.cache import never_cache

from answers.waiting import waiting as waiting_answers
from corpus.roles import STAFF_ROLES
from corpus.waiting import waiting
from retrieval.waiting import waiting as waiting_merges

if TYPE_CHECKING:
    from django.contrib.admin import AdminSite
    from django.http import HttpResponseBase
    from django.template.response import TemplateResponse

    View = Callable[..., HttpResponseBase]
else:
    from unfold.sites import UnfoldAdminSite as AdminSite

# Unfold's Alpine.js evaluates expressions and sets styles; no other page of the site may.
POLICY = {
    "script-src": [UNSAFE_EVAL],
    "style-src": [UNSAFE_INLINE],
    "img-src": ["data:"],
    "font-src": [SELF],
}


class SciRagAdminSite(AdminSite):
    """Django's admin as the librarian's home."""

    site_title = _("sci-rag")
    site_header = _("sci-rag")
    index_title = _("What waits for you")
    index_template = "admin/dashboard.html"

    def has_permission(self, request: HttpRequest) -> bool:
        """Let in superusers, staff and the members of the curating roles."""
        user = request.user
        if not user.is_active:
            return False
        return user.is_staff or user.groups.filter(name__in=STAFF_ROLES).exists()

    def admin_view(self, view: Any, cacheable: bool = False) -> Any:  # noqa: FBT001, FBT002
        """Wrap `view` with the check of who may enter, the policy, and a name in the history."""
        guarded = super().admin_view(_recorded(view), cacheable)
        return csp_update(POLICY)(guarded)

    @method_decorator(never_cache)
    def login(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """Send visitors to the one sign-in page, which throttles; refuse who is signed in already."""
        if self.has_permission(request):
            return redirect("admin:index")
        if request.user.is_authenticated:
            raise PermissionDenied
        return redirect_to_login(request.GET.get("next", "") or request.get_full_path())

    def search(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """Find screens by name. A page that does not exist holds nothing; Unfold would fail on it."""
        if request.GET.get("page", "1") != "1":
            return HttpResponse()
        return super().search(request, extra_context)  # type: ignore[misc,no-any-return]

    def index(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> TemplateResponse:
        """Show what waits for the person who is signed in."""
        user = request.user
        waits = [*waiting(user), *waiting_merges(user), *waiting_answers(user)]
        return super().index(request, {"waiting": waits, **(extra_context or {})})


def _recorded(view: View) -> View:
    def recorded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        # PostgreSQL stores no NUL, so it can only be an attempt to make a filter fail.
        if any("\x00" in value for values in request.GET.lists() for value in (values[0], *values[1])):
            raise SuspiciousOperation("NUL in a query string")
        if request.method in ("GET", "HEAD"):
            return view(request, *args, **kwargs)
        with pghistory.context(user=request.user.pk):
            return view(request, *args, **kwargs)

    return recorded
