"""Asking, the stream of an answer and its permanent page."""

from __future__ import annotations

import uuid

from django.contrib.auth.decorators import login_required, permission_required
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, StreamingHttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from answers import admission, examples, pages, progress, scoping
from answers.exports.forms import FORMS
from answers.forms import AskForm, ScopeForm
from answers.models import EXTRACTIVE
from answers.notebook import saving
from answers.notebook.models import Observation
from answers.streaming import in_a_thread
from answers.turns import ConversationGone, Turn
from corpus import connections
from corpus.scope import RetrievalScope
from corpus.signed_in import person
from retrieval.profiles import AUTO, DEEP, INTERACTIVE

DEFAULT_SCOPE = RetrievalScope(exclude_retracted=True)
may_ask = permission_required("answers.add_answer", raise_exception=True)


@login_required
@may_ask
@require_http_methods(["GET", "HEAD", "POST"])
def ask(request: HttpRequest) -> HttpResponse:
    """Show the question box; answer a posted question and go to the answer's own page."""
    if request.method != "POST":
        return _ask_page(request, ScopeForm(request.GET), question=_question_again(request))
    typed = request.POST.get("question", "")
    if request.POST.get("do") == "scope":
        return _ask_page(request, ScopeForm(request.POST), question=typed)
    form = _ask_form(request)
    order = _order(request, form)
    if order is None:
        return _ask_page(request, form, question=typed, status=422)
    try:
        stored = progress.answered(order)
    except ConversationGone:
        form.add_error(
            "question", _("The conversation this belongs to was deleted. Ask it as a new question.")
        )
        return _ask_page(request, form, question=typed, status=422)
    except admission.Full:
        return _come_back(_ask_page(request, form, question=typed, status=503))
    return HttpResponseRedirect(reverse("answer", args=[stored.id]))


@login_required
@may_ask
@require_safe
def scope_line(request: HttpRequest) -> HttpResponse:
    """Show what a scope covers, and put the scope into the address of the page."""
    form = ScopeForm(request.GET)
    requested = form.requested() if form.is_valid() else DEFAULT_SCOPE
    context = {"form": form, "scope": scoping.describe(person(request), requested)}
    status = 200 if form.is_valid() else 422
    response = render(request, "answers/ask.html#scope-line", context, status=status)
    if form.is_valid():
        query = form.query()
        response["HX-Replace-Url"] = reverse("ask") + (f"?{query}" if query else "")
    return response


@require_POST
def answer_stream(request: HttpRequest) -> HttpResponse | StreamingHttpResponse:
    """Answer a question as server-sent events, each a piece of the page."""
    if not request.user.is_authenticated:
        return render(request, "answers/stream.html#signed-out", status=401)
    if not request.user.has_perm("answers.add_answer"):
        return render(request, "answers/stream.html#not-allowed", status=403)
    form = _ask_form(request)
    order = _order(request, form)
    if order is None:
        return render(request, "answers/stream.html#refused", {"form": form}, status=422)
    if admission.is_full():
        return _come_back(render(request, "answers/stream.html#busy", status=503))
    # The request lasts as long as its stream, which has connections of its own.
    connections.release()
    response = StreamingHttpResponse(
        in_a_thread(lambda: progress.messages(order)), content_type="text/event-stream"
    )
    response["X-Accel-Buffering"] = "no"
    return response


@login_required
@require_safe
def answer(request: HttpRequest, answer_id: uuid.UUID) -> HttpResponse:
    """Show a stored answer as far as its reader may see it today."""
    page = pages.answer_page(person(request), answer_id)
    if page is None:
        raise Http404
    works = saving.works(page.shown)
    context = {
        "page": page,
        "forms": FORMS.values(),
        "works": works,
        "ticked": saving.ticked(works),
        "note_kinds": Observation.Kind.choices,
    }
    return render(request, "answers/answer_detail.html", context)


def _ask_page(request: HttpRequest, form: ScopeForm, *, question: str, status: int = 200) -> HttpResponse:
    scope_errors = any(name != "question" for name in form.errors)
    requested = DEFAULT_SCOPE if scope_errors else form.requested()
    scope = scoping.describe(person(request), requested)
    context = {
        "form": form,
        "question": question,
        "profiles": _profiles(request),
        "follows": pages.own_answer(person(request), _sent(request, "follows")),
        "requested": requested,
        "scope": scope,
        "scope_errors": scope_errors,
        "is_busy": status == 503,
        "license_choices": scope.license_choices(requested),
        "examples": examples.questions(person(request)) if scope.corpus_documents else [],
    }
    return render(request, "answers/ask.html", context, status=422 if scope_errors else status)


def _come_back(response: HttpResponse) -> HttpResponse:
    response["Retry-After"] = str(admission.RETRY_AFTER_SECONDS)
    return response


def _order(request: HttpRequest, form: AskForm) -> progress.Order | None:
    """Return what is asked; None when the form does not say.

    `instead_of` asks a question of one's own again, as it was, of the engine that needs no model. `again`
    asks a follow-up of one's own again, searched with other words. `follows` leans on a turn of one's own.
    """
    user = person(request)
    earlier = pages.own_answer(user, request.POST.get("instead_of", ""))
    if earlier is not None:
        requested = pages.requested_scope(earlier)
        turn = Turn(instead_of=earlier)
        return progress.Order(
            earlier.question, requested, user, profile=earlier.profile, engine=EXTRACTIVE, turn=turn
        )
    if not form.is_valid():
        return None
    question, searched = form.cleaned_data["question"], form.cleaned_data["searched"]
    profile = form.cleaned_data["profile"]
    again = pages.own_answer(user, request.POST.get("again", ""))
    if again is not None:
        turn = Turn(follows=again.follows or again, searched=searched)
        return progress.Order(again.question, form.requested(), user, profile, turn=turn)
    turn = Turn(follows=pages.own_answer(user, request.POST.get("follows", "")))
    return progress.Order(question, form.requested(), user, profile, turn=turn)


def _ask_form(request: HttpRequest) -> AskForm:
    data = request.POST.copy()
    if example := request.POST.get("example"):
        data["question"] = example
    return AskForm(data)


def _profiles(request: HttpRequest) -> list[dict[str, object]]:
    """Return the ways to search with their words; the one in effect is the one that was sent."""
    sent = _sent(request, "profile")
    names = {INTERACTIVE: _("Quick"), DEEP: _("Deep"), AUTO: _("By the question")}
    chosen = sent if sent in names else INTERACTIVE
    return [{"value": name, "label": label, "chosen": name == chosen} for name, label in names.items()]


def _sent(request: HttpRequest, name: str) -> str:
    return str(request.POST.get(name) or request.GET.get(name, ""))


def _question_again(request: HttpRequest) -> str:
    earlier = pages.own_answer(person(request), request.GET.get("from", ""))
    return earlier.question if earlier else ""
