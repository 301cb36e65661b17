"""The pages of runs of judged answers: begin one, look at one answer, have failed replies again."""

from __future__ import annotations

import uuid

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from answers.writers import EngineUnavailable
from corpus.prompt_files import InvalidPrompt
from corpus.scope import scope
from corpus.signed_in import only_for, person
from corpus.usage.budget import Cap
from evaluation.actions.runs import CannotRaise
from evaluation.forms import AnswerRunForm, CapForm
from evaluation.ground_truth import queries
from evaluation.judging import background, reading, starting
from evaluation.judging.starting import CannotStart, Wanted
from evaluation.run_access import ADD, VIEW, found_run
from evaluation.runs.models import EvaluationRun
from evaluation.runs.planning import CannotEvaluate


@only_for(ADD)
@require_http_methods(["GET", "HEAD", "POST"])
def evaluation_start_answers(request: HttpRequest) -> HttpResponse:
    """Choose what to answer and how, and hand it to the worker."""
    user = person(request)
    sets = list(queries.sets_to_ask(user).order_by("name", "pk"))
    data = request.POST if request.method == "POST" else None
    estimate = None
    form = AnswerRunForm(data, sets=sets, initial={"question_set": request.GET.get("question_set", "")})
    if request.method == "POST" and form.is_valid():
        wanted = Wanted(
            question_set=form.question_set(),
            requested=scope(exclude_retracted=not form.cleaned_data["include_retracted"]),
            **form.how(),
        )
        try:
            if request.POST.get("estimated") == form.chosen():
                run = background.enqueue(wanted=wanted, by=user)
                return HttpResponseRedirect(reverse("evaluation", args=[run.pk]))
            # Nothing that costs begins before it was said what it comes to.
            estimate = starting.estimated(wanted, by=user)
        except (CannotEvaluate, EngineUnavailable, InvalidPrompt) as error:
            form.add_error(None, str(error))
    context = {"form": form, "estimate": estimate, **form.models()}
    return render(request, "evaluation/run_start_answers.html", context, status=422 if form.errors else 200)


@only_for(ADD)
@require_POST
def evaluation_retry(request: HttpRequest, evaluation_id: uuid.UUID) -> HttpResponse:
    """Ask the judge once more for the replies that failed."""
    try:
        background.ask_again(found_run(request, evaluation_id), by=person(request))
        messages.success(request, _("The worker asks for the failed replies again. Grades stay as they are."))
    except (CannotStart, InvalidPrompt) as error:
        messages.error(request, str(error))
    return HttpResponseRedirect(reverse("evaluation", args=[evaluation_id]))


@only_for(ADD)
@require_POST
def evaluation_continue(request: HttpRequest, evaluation_id: uuid.UUID) -> HttpResponse:
    """Let a run go on that stopped at its cap, under a higher one or none."""
    run, form = found_run(request, evaluation_id), CapForm(request.POST)
    if form.is_valid():
        try:
            background.go_on(run, cap=Cap(form.cleaned_data["max_tokens"]), by=person(request))
            messages.success(request, _("The worker goes on with the run. What it has used counts."))
        except CannotRaise as error:
            messages.error(request, str(error))
    else:
        messages.error(request, _("A cap is a number of tokens from 1 on."))
    return HttpResponseRedirect(reverse("evaluation", args=[evaluation_id]))


@only_for(VIEW)
@require_safe
def evaluation_answer(request: HttpRequest, evaluation_id: uuid.UUID, number: int) -> HttpResponse:
    """Show one answer of a run with its sources and what the judge made of it."""
    run = found_run(request, evaluation_id)
    rows = run.questions.select_related("answer_outcome__answer").filter(number=number)
    asked = rows.first()
    if asked is None or run.kind != EvaluationRun.Kind.ANSWERS:
        raise Http404
    outcome = getattr(asked, "answer_outcome", None)
    context = {"run": run, "asked": asked, "shown": outcome and reading.shown(outcome)}
    return render(request, "evaluation/run_answer.html", context)
