"""The pages of evaluation runs: start one, follow it, read its numbers, compare two."""

from __future__ import annotations

import uuid
from functools import partial

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, StreamingHttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from corpus import ceilings, connections, event_stream
from corpus.scope import scope
from corpus.signed_in import only_for, person
from evaluation.actions import runs as action
from evaluation.forms import RunForm
from evaluation.ground_truth import queries
from evaluation.judging.results import failed_replies
from evaluation.reports import drawing, writing
from evaluation.reports.comparison import Incomparable, compare
from evaluation.reports.markdown import measures, moves
from evaluation.reports.report import NoReport, Report, has_report, report_of
from evaluation.run_access import ADD, VIEW, StillBlind, found_run
from evaluation.runs import background, pages
from evaluation.runs.models import EvaluationRun
from evaluation.runs.planning import CannotEvaluate, Plan
from evaluation.runs.visibility import known_runs

PER_PAGE = 25
_TYPES = {"json": "application/json", "md": "text/markdown", "html": "text/html"}


@only_for(VIEW)
@require_safe
def evaluations(request: HttpRequest) -> HttpResponse:
    """List the runs one may know of, the newest first."""
    user = person(request)
    rows = known_runs(user).order_by("-started_at", "pk")
    page = Paginator(rows, PER_PAGE).get_page(request.GET.get("page"))
    return render(request, "evaluation/run_list.html", {"page": page, "may_run": user.has_perm(ADD)})


@only_for(ADD)
@require_http_methods(["GET", "HEAD", "POST"])
def evaluation_start(request: HttpRequest) -> HttpResponse:
    """Choose what to measure and hand it to the worker."""
    user = person(request)
    sets = list(queries.sets_to_ask(user).order_by("name", "pk"))
    data = request.POST if request.method == "POST" else None
    form = RunForm(data, sets=sets, initial={"question_set": request.GET.get("question_set", "")})
    if request.method == "POST" and form.is_valid():
        wanted = scope(exclude_retracted=not form.cleaned_data["include_retracted"])
        plan = Plan(
            question_set=form.question_set(),
            scope=ceilings.effective_scope(user, wanted),
            configurations=form.configurations(),
            split=form.cleaned_data["split"],
        )
        try:
            run = background.enqueue(plan, by=user)
            return HttpResponseRedirect(reverse("evaluation", args=[run.pk]))
        except CannotEvaluate as error:
            form.add_error(None, str(error))
    return render(request, "evaluation/run_start.html", {"form": form}, status=422 if form.errors else 200)


@only_for(VIEW)
@require_safe
def evaluation(request: HttpRequest, evaluation_id: uuid.UUID) -> HttpResponse:
    """Show how far a run is, and its numbers once it has some."""
    try:
        run = found_run(request, evaluation_id)
    except StillBlind as blind:
        return render(request, "evaluation/calibration_wait.html", {"queue": blind.queue}, status=403)
    context = _context(run, request)
    if has_report(run):
        report = report_of(run)
        first = report["numbers"]["configurations"][0]["name"]
        others = known_runs(person(request)).filter(kind=run.kind, state=EvaluationRun.State.FINISHED)
        context |= writing.shown(report) | {
            "has_deltas": drawing.has_deltas(report),
            "first": first,
            "asked": pages.asked(run),
            "others": others.exclude(pk=run.pk).order_by("-started_at", "pk")[:100],
        }
    return render(request, "evaluation/run_detail.html", context)


@only_for(VIEW)
@require_safe
def evaluation_events(request: HttpRequest, evaluation_id: uuid.UUID) -> StreamingHttpResponse:
    """Send the progress of a run as it changes, until the run ends."""
    found_run(request, evaluation_id)
    return event_stream.following(partial(_parts, request, evaluation_id))


@only_for(ADD)
@require_POST
def evaluation_cancel(request: HttpRequest, evaluation_id: uuid.UUID) -> HttpResponse:
    """Stop a run after the question at hand."""
    if action.cancel(run=found_run(request, evaluation_id), by=person(request)):
        messages.success(request, _("Cancelled. A run that was cancelled has no numbers."))
    return HttpResponseRedirect(reverse("evaluation", args=[evaluation_id]))


@only_for(VIEW)
@require_safe
def evaluation_plot(request: HttpRequest, evaluation_id: uuid.UUID, plot: str) -> HttpResponse:
    """Hand a plot of a run over."""
    report = _report(found_run(request, evaluation_id))
    if plot not in drawing.PLOTS:
        raise Http404
    return HttpResponse(drawing.PLOTS[plot](report), content_type="image/svg+xml")


@only_for(VIEW)
@require_safe
def evaluation_report(request: HttpRequest, evaluation_id: uuid.UUID, form: str) -> HttpResponse:
    """Hand the report of a run over as a file, the same that the command writes."""
    report = _report(found_run(request, evaluation_id))
    if form not in _TYPES:
        raise Http404
    response = HttpResponse(writing.forms(report)[form], content_type=f"{_TYPES[form]}; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="report-{str(evaluation_id)[:8]}.{form}"'
    return response


@only_for(VIEW)
@require_safe
def evaluation_question(request: HttpRequest, evaluation_id: uuid.UUID, number: int) -> HttpResponse:
    """Show what each layer found for one question, by the configuration that is asked for."""
    run = found_run(request, evaluation_id)
    asked = run.questions.filter(number=number).first()
    if asked is None or run.kind != EvaluationRun.Kind.RETRIEVAL:
        raise Http404
    names = list(
        run.configurations.filter(refusal="").order_by("number", "pk").values_list("name", flat=True)
    )
    chosen = request.GET.get("by", "") if request.GET.get("by") in names else names[0]
    context = {
        "run": run,
        "asked": asked,
        "names": names,
        "chosen": chosen,
        "looked": pages.looked(asked, chosen, by=person(request)),
    }
    return render(request, "evaluation/run_question.html", context)


@only_for(VIEW)
@require_safe
def evaluation_compare(request: HttpRequest) -> HttpResponse:
    """Show two runs side by side, or why their numbers say nothing about each other."""
    before, after = (_named(request, name) for name in ("before", "after"))
    context: dict[str, object] = {"before": before, "after": after}
    allows = request.GET.get("corpus") == "any"
    try:
        found = compare(_report(before), _report(after), allows_other_corpus=allows)
        context |= {"comparison": found, "rows": measures(found), "moves": moves(found)}
    except Incomparable as error:
        context["incomparable"] = error
        context["only_the_corpus"] = [one.what for one in error.differs] == ["corpus"]
    return render(request, "evaluation/run_compare.html", context)


def _named(request: HttpRequest, name: str) -> EvaluationRun:
    try:
        return found_run(request, uuid.UUID(request.GET.get(name, "")))
    except ValueError:
        raise Http404 from None


def _report(run: EvaluationRun) -> Report:
    try:
        return report_of(run)
    except NoReport:
        raise Http404 from None


def _context(run: EvaluationRun, request: HttpRequest) -> dict[str, object]:
    user = person(request)
    may_add = user.has_perm(ADD)
    failed = failed_replies(run) if may_add and run.finished_at else 0
    return {
        "run": run,
        "progress": pages.progress(run),
        "may_steer": may_add and run.is_for_workers,
        "failed_replies": failed,
        "may_retry": failed > 0,
    }


def _parts(request: HttpRequest, evaluation_id: uuid.UUID) -> tuple[dict[str, str], bool]:
    """Return the part of the page that moves, and whether the run has ended or may not be seen any more."""
    try:
        run = known_runs(person(request)).filter(pk=evaluation_id).first()
        if run is None:
            return {}, True
        html = render_to_string("evaluation/run_detail.html#run-progress", _context(run, request), request)
        parts: dict[str, str] = {"run-progress": event_stream.partial("#run-progress", html, "innerMorph")}
        return parts, run.state != EvaluationRun.State.RUNNING
    finally:
        connections.release()
