"""The pages of question sets: read, write, sign, retire. Questions one may not know of are not there."""

from __future__ import annotations

import uuid
from pathlib import PurePath

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from corpus import ceilings
from corpus.scope import RetrievalScope
from corpus.signed_in import only_for, person
from evaluation.actions import questions as action
from evaluation.actions.questions import EvidenceNotFound, NameTaken, QuestionError, Writing
from evaluation.forms import QuestionForm, SetForm
from evaluation.ground_truth import queries
from evaluation.ground_truth.models import Question, QuestionSet
from evaluation.questions import Form, write_questions

VIEW, ADD, CHANGE = "evaluation.view_question", "evaluation.add_question", "evaluation.change_question"
SIGN = "evaluation.sign_question"
PER_PAGE = 50
_STATES = {"draft": {"signed_at__isnull": True}, "signed": {"signed_at__isnull": False}}


@only_for(VIEW)
@require_http_methods(["GET", "HEAD", "POST"])
def question_sets(request: HttpRequest) -> HttpResponse:
    """List the sets, and make one."""
    user = person(request)
    may_add = user.has_perm("evaluation.add_questionset")
    form = SetForm(request.POST if request.method == "POST" else None)
    if request.method == "POST":
        if not may_add:
            raise Http404
        if form.is_valid():
            try:
                made = action.add_set(**form.cleaned_data, by=user)
                return HttpResponseRedirect(reverse("questions", args=[made.name]))
            except NameTaken as error:
                form.add_error("name", str(error))
    sets = queries.known_sets(user).order_by("name", "pk")
    context = {"sets": sets, "form": form, "may_add": may_add}
    return render(request, "evaluation/set_list.html", context, status=422 if form.errors else 200)


@only_for(VIEW)
@require_safe
def questions(request: HttpRequest, set_name: str) -> HttpResponse:
    """List the questions of a set, drafts and signed ones told apart."""
    found = found_set(request, set_name)
    rows = _known(request).filter(question_set=found, retired_at__isnull=request.GET.get("show") != "retired")
    state = request.GET.get("show", "")
    rows = rows.filter(**_STATES.get(state, {}))
    page = Paginator(rows.order_by("key", "pk"), PER_PAGE).get_page(request.GET.get("page"))
    context = {
        "set": found,
        "page": page,
        "show": state,
        "query": f"show={state}" if state else "",
        "may_add": person(request).has_perm(ADD),
        "may_run": person(request).has_perm("evaluation.add_evaluationrun"),
    }
    return render(request, "evaluation/question_list.html", context)


@only_for(VIEW)
@require_safe
def questions_export(request: HttpRequest, set_name: str, form: str) -> HttpResponse:
    """Hand the questions one may know of over as a file that can be imported."""
    if form not in set(Form):
        raise Http404
    found = found_set(request, set_name)
    rows = queries.asked(found).filter(pk__in=_known(request).values("pk"))
    text = write_questions(map(queries.seed_of, rows), form=Form(form))
    response = HttpResponse(text, content_type="text/plain; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{PurePath(found.name).name}.{form}"'
    return response


@only_for(VIEW)
@require_safe
def question(request: HttpRequest, question_id: uuid.UUID) -> HttpResponse:
    """Show a question with its evidence, and what was done to it."""
    return _page(request, _found(request, question_id))


@only_for(ADD)
@require_http_methods(["GET", "HEAD", "POST"])
def question_new(request: HttpRequest, set_name: str) -> HttpResponse:
    """Write a question into a set."""
    found = found_set(request, set_name)
    form = QuestionForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        seed = form.seed(author=person(request).get_username())
        if seed is not None:
            try:
                added = action.add(
                    question_set=found, seed=seed, writing=writing(request), by=person(request)
                )
                messages.success(request, _("Written. It is a draft until an expert signs it."))
                return HttpResponseRedirect(reverse("question", args=[added.pk]))
            except QuestionError as error:
                explain(form, error)
    return _form(request, form, found, None)


@only_for(CHANGE)
@require_http_methods(["GET", "HEAD", "POST"])
def question_edit(request: HttpRequest, question_id: uuid.UUID) -> HttpResponse:
    """Change a question; a signature it has is withdrawn."""
    found = _found(request, question_id)
    if request.method != "POST":
        form = QuestionForm(initial=_initial(found))
        return _form(request, form, found.question_set, found)
    form = QuestionForm(request.POST)
    if form.is_valid() and (seed := form.seed(author=found.author)) is not None:
        try:
            action.change(
                question=found, seed=seed, seen_sha256=form.cleaned_data["seen"],
                writing=writing(request), by=person(request),
            )  # fmt: skip
            messages.success(request, _("Saved."))
            return HttpResponseRedirect(reverse("question", args=[found.pk]))
        except QuestionError as error:
            explain(form, error)
    return _form(request, form, found.question_set, found)


@only_for(SIGN)
@require_POST
def question_sign(request: HttpRequest, question_id: uuid.UUID) -> HttpResponse:
    """Sign the content that was shown."""
    found = _found(request, question_id)
    try:
        action.sign(question=found, seen_sha256=request.POST.get("seen", ""), by=person(request))
    except QuestionError as error:
        return _page(request, found, problem=str(error))
    messages.success(request, _("Signed. A change makes it a draft again."))
    return HttpResponseRedirect(reverse("question", args=[found.pk]))


@only_for(SIGN)
@require_POST
def question_unsign(request: HttpRequest, question_id: uuid.UUID) -> HttpResponse:
    """Make a signed question a draft again."""
    found = _found(request, question_id)
    action.unsign(question=found, by=person(request))
    messages.success(request, _("It is a draft again."))
    return HttpResponseRedirect(reverse("question", args=[found.pk]))


@only_for(CHANGE)
@require_POST
def question_retire(request: HttpRequest, question_id: uuid.UUID) -> HttpResponse:
    """Leave a question out of what is asked, or take it up again."""
    found = _found(request, question_id)
    try:
        if found.retired_at is None:
            action.retire(question=found, by=person(request))
            messages.success(request, _("Retired: it is not asked any more. You can take it up again."))
        else:
            action.restore(question=found, by=person(request))
            messages.success(request, _("It is asked again."))
    except QuestionError as error:
        return _page(request, found, problem=str(error))
    return HttpResponseRedirect(reverse("question", args=[found.pk]))


def _page(request: HttpRequest, found: Question, *, problem: str = "") -> HttpResponse:
    user = person(request)
    context = {
        "question": found,
        "evidence": found.evidence.order_by("number", "pk").select_related("document"),
        "events": found.events.order_by("-at", "-id")[:50],
        "problem": problem,
        "may_change": user.has_perm(CHANGE),
        "may_sign": user.has_perm(SIGN),
    }
    return render(request, "evaluation/question_detail.html", context, status=409 if problem else 200)


def _form(
    request: HttpRequest, form: QuestionForm, found_set: QuestionSet, found: Question | None
) -> HttpResponse:
    context = {"form": form, "set": found_set, "question": found}
    return render(request, "evaluation/question_form.html", context, status=422 if form.errors else 200)


def explain(form: QuestionForm, error: QuestionError) -> None:
    """Put a refusal where it can be mended."""
    field = "key" if isinstance(error, NameTaken) else None
    if isinstance(error, EvidenceNotFound):
        said = _("No document that you may see holds %(what)s.")
        for what in error.missing:
            form.add_error(None, said % {"what": what})
    else:
        form.add_error(field, str(error))


def _initial(found: Question) -> dict[str, object]:
    rows = sorted(found.evidence.all(), key=lambda row: row.number)
    if not found.unanswerable and not any(row.phrase or row.doi or row.title for row in rows):
        # Its evidence went with a document: the rest is there to be given other evidence.
        return {
            name: getattr(found, name) for name in ("key", "question", "reference_answer", "kind", "split")
        } | {"tags": ", ".join(found.tags), "seen": found.content_sha256}
    return QuestionForm.initial_of(queries.seed_of(found), found.content_sha256)


def writing(request: HttpRequest) -> Writing:
    """Return under what the asker writes: what they may see."""
    return Writing(ceilings.effective_scope(person(request), RetrievalScope()))


def _known(request: HttpRequest) -> QuerySet[Question]:
    return queries.known_questions(person(request))


def found_set(request: HttpRequest, name: str) -> QuestionSet:
    """Return a set that the asker may know of. Raises `Http404`."""
    found = queries.known_sets(person(request)).filter(name=name).first()
    if found is None:
        raise Http404
    return found


def _found(request: HttpRequest, question_id: uuid.UUID) -> Question:
    found = (
        queries.with_evidence(_known(request)).filter(pk=question_id).select_related("question_set").first()
    )
    if found is None:
        raise Http404
    return found
