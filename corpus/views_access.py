"""Why is this not here? What may be said of it, and asking for it.

Who curates is told the rule. For anyone else what is hidden is what does not exist: the same page, from the
same queries.
"""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from corpus import ceilings, explaining
from corpus.access_requests import LONGEST_REASON, LONGEST_WANTED, AccessRequest
from corpus.actions.access_requests import AccessRequestError, TooMany, request_access
from corpus.models import Document
from corpus.rights import LicenseClass
from corpus.scope import EVERYTHING, RetrievalScope
from corpus.signed_in import person

CURATES = "corpus.view_document"
_SHOWN = 20


@login_required
@require_safe
def why(request: HttpRequest) -> HttpResponse:
    """Say why somebody does not find a document, as far as the reader may know."""
    return _page(request, wanted=request.GET.get("q", ""), who=request.GET.get("who", ""))


@login_required
@require_POST
def access_request(request: HttpRequest) -> HttpResponse:
    """Record a wish. What is wished for is not looked up: the answer is the same whatever it is."""
    wanted, reason = request.POST.get("wanted", ""), request.POST.get("reason", "")
    try:
        request_access(wanted=wanted, reason=reason, by=person(request))
    except AccessRequestError as refusal:
        status = 429 if isinstance(refusal, TooMany) else 422
        return _page(request, wanted=wanted, reason=reason, trouble=str(refusal), status=status)
    messages.success(request, _("Your request is with the librarian. The decision will stand below."))
    return redirect("why")


def _page(
    request: HttpRequest,
    *,
    wanted: str,
    who: str = "",
    reason: str = "",
    trouble: str = "",
    status: int = 200,
) -> HttpResponse:
    user = person(request)
    wanted = wanted.replace("\0", "").strip()[:LONGEST_WANTED]
    may_know = user.has_perm(CURATES)
    context = {
        "wanted": wanted,
        "who": who,
        "reason": reason,
        "trouble": trouble,
        "may_know": may_know,
        "longest_wanted": LONGEST_WANTED,
        "longest_reason": LONGEST_REASON,
        "requests": AccessRequest.objects.filter(asked_by=user).order_by("-created_at", "-id")[:_SHOWN],
    }
    if wanted and may_know:
        context |= _for_curators(user, wanted, who)
    elif wanted:
        context["found"] = _for_askers(user, wanted)
    status = 422 if context.get("no_such_account") else status
    return render(request, "corpus/why.html", context, status=status)


def _for_curators(user: User, wanted: str, who: str) -> dict[str, object]:
    ceiling = ceilings.of(user)
    documents = Document.objects.under(ceiling)
    whose = user if not who else User.objects.filter(username=who.replace("\0", "")).first()
    if whose is None:
        return {"no_such_account": True}
    found = explaining.explain(
        wanted,
        documents=documents,
        person=explaining.of(whose),
        # What nobody knows the rights of only shows to who may see the unknown.
        with_files=LicenseClass.UNKNOWN in ceiling.license_classes,
    )
    absent = explaining.not_held(wanted, documents=documents, knows_all=ceiling == EVERYTHING)
    return {"found": found, "not_held": absent, "whose": whose}


def _for_askers(user: User, wanted: str) -> list[explaining.Explained]:
    readable = Document.objects.within(ceilings.effective_scope(user, RetrievalScope()))
    return explaining.explain(wanted, documents=readable, person=explaining.of(user))
