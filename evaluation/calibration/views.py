"""Labelling judged answers blind, and what the labels come to."""

from __future__ import annotations

import uuid

from django.contrib import messages
from django.contrib.auth.decorators import login_required, permission_required
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from corpus.signed_in import person
from evaluation.actions import calibration as action
from evaluation.actions.calibration import DRAWING, PERMISSION, CalibrationError, NotYours
from evaluation.calibration import files, guidelines, measuring, queries, reading, tables
from evaluation.calibration.forms import DrawForm, GradesForm, SkipForm
from evaluation.calibration.models import CalibrationQueue
from evaluation.calibration.queries import Desk, Entry
from evaluation.judging.rubric import DIMENSIONS
from evaluation.runs.models import EvaluationRun
from evaluation.runs.visibility import known_runs

may_label = permission_required(PERMISSION, raise_exception=True)
may_draw = permission_required(DRAWING, raise_exception=True)
may_read_numbers = permission_required("evaluation.view_evaluationrun", raise_exception=True)


@login_required
@may_read_numbers
@require_safe
def calibrations(request: HttpRequest) -> HttpResponse:
    """List the samples with what one has done of each."""
    user = person(request)
    rows = [(queue, queries.desk(queue, user)) for queue in queries.visible_queues(user)]
    context = {
        "rows": rows,
        "may_label": user.has_perm(PERMISSION),
        "may_draw": user.has_perm(DRAWING),
        "may_see": {queue.pk for queue, desk in rows if _may_see_labels(request, queue, desk)},
    }
    return render(request, "evaluation/calibration_list.html", context)


@login_required
@may_draw
@require_http_methods(["GET", "HEAD", "POST"])
def calibration_new(request: HttpRequest) -> HttpResponse:
    """Draw a sample of a run."""
    user = person(request)
    runs = known_runs(user).filter(kind=EvaluationRun.Kind.ANSWERS, state=EvaluationRun.State.FINISHED)
    form = DrawForm(
        request.POST if request.method == "POST" else None,
        runs=list(runs.order_by("-started_at", "pk")[:100]),
        initial={"run": request.GET.get("run", "")},
    )
    if request.method == "POST" and form.is_valid():
        data = form.cleaned_data
        run = next(each for each in form.runs if str(each.pk) == data["run"])
        try:
            queue = action.draw(run=run, size=data["size"], seed=data["seed"], by=user)
        except CalibrationError as error:
            form.add_error(None, str(error))
        else:
            return HttpResponseRedirect(reverse("calibration", args=[queue.pk]))
    return render(
        request, "evaluation/calibration_new.html", {"form": form}, status=422 if form.errors else 200
    )


@login_required
@may_read_numbers
@require_safe
def calibration(request: HttpRequest, queue_id: uuid.UUID) -> HttpResponse:
    """Show how far one is with a sample; this is where one begins and goes on."""
    queue, desk = _desk(request, queue_id)
    context = {
        "queue": queue,
        "desk": desk,
        "guidelines": guidelines.ALL,
        "may_label": person(request).has_perm(PERMISSION),
        "may_see": _may_see_labels(request, queue, desk),
        "may_finish": _may_finish(request, queue, desk),
    }
    return render(request, "evaluation/calibration_detail.html", context)


@login_required
@may_label
@require_http_methods(["GET", "HEAD", "POST"])
def calibration_item(request: HttpRequest, item_id: uuid.UUID) -> HttpResponse:
    """Grade an item, or change the grades one gave it."""
    queue, desk, entry = _entry(request, item_id)
    if request.method != "POST":
        return _item_page(request, queue, desk, entry, form=GradesForm(initial=_own_grades(entry)))
    form = GradesForm(request.POST)
    if not form.is_valid():
        return _item_page(request, queue, desk, entry, form=form)
    try:
        action.label(item=entry.item, grades=form.grades(), by=person(request))
    except NotYours as error:
        messages.warning(request, str(error))
    return _go_on(request, queue)


@login_required
@may_label
@require_POST
def calibration_skip(request: HttpRequest, item_id: uuid.UUID) -> HttpResponse:
    """Leave an item to others."""
    queue, desk, entry = _entry(request, item_id)
    skip = SkipForm(request.POST)
    if not skip.is_valid():
        return _item_page(request, queue, desk, entry, form=GradesForm(), skip=skip)
    try:
        action.skip(item=entry.item, reason=skip.cleaned_data["reason"], by=person(request))
    except NotYours as error:
        messages.warning(request, str(error))
    except CalibrationError as error:
        skip.add_error("reason", str(error))
        return _item_page(request, queue, desk, entry, form=GradesForm(), skip=skip)
    return _go_on(request, queue)


@login_required
@may_label
@require_POST
def calibration_finish(request: HttpRequest, queue_id: uuid.UUID) -> HttpResponse:
    """Call one's grades final, and see what others gave."""
    queue, _desk_of = _desk(request, queue_id)
    try:
        action.finish(queue=queue, by=person(request))
    except CalibrationError as error:
        messages.warning(request, str(error))
        return HttpResponseRedirect(reverse("calibration", args=[queue_id]))
    return HttpResponseRedirect(reverse("calibration_agreement", args=[queue_id]))


@login_required
@may_read_numbers
@require_safe
def calibration_agreement(request: HttpRequest, queue_id: uuid.UUID) -> HttpResponse:
    """Show how people agree with each other and with the judge, to whoever is not to be blind any more."""
    queue, desk = _desk(request, queue_id)
    if not _knows_run(request, queue):
        raise Http404
    if _is_blind(request, desk):
        return render(request, "evaluation/calibration_wait.html", {"queue": queue, "desk": desk}, status=403)
    found = measuring.calibration(queue)
    context = {"queue": queue, "found": found, "tables": tables.of(found)}
    return render(request, "evaluation/calibration_agreement.html", context)


@login_required
@may_read_numbers
@require_safe
def calibration_labels(request: HttpRequest, queue_id: uuid.UUID) -> HttpResponse:
    """Hand the labels over as the file that can be imported, to whoever is not to be blind any more."""
    queue, desk = _desk(request, queue_id)
    if not _knows_run(request, queue):
        raise Http404
    if _is_blind(request, desk):
        return render(request, "evaluation/calibration_wait.html", {"queue": queue, "desk": desk}, status=403)
    response = HttpResponse(files.written(queue), content_type="application/x-ndjson; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="labels-{queue.pk}.jsonl"'
    return response


def _desk(request: HttpRequest, queue_id: uuid.UUID) -> tuple[CalibrationQueue, Desk]:
    user = person(request)
    queue = queries.visible_queues(user).filter(pk=queue_id).first()
    if queue is None:
        raise Http404
    return queue, queries.desk(queue, user)


def _entry(request: HttpRequest, item_id: uuid.UUID) -> tuple[CalibrationQueue, Desk, Entry]:
    user = person(request)
    item = queries.visible_items(user).select_related("queue__run").filter(pk=item_id).first()
    if item is None:
        raise Http404
    desk = queries.desk(item.queue, user)
    entry = desk.entry(item_id)
    if entry is None:
        raise Http404
    return item.queue, desk, entry


def _knows_run(request: HttpRequest, queue: CalibrationQueue) -> bool:
    return known_runs(person(request)).filter(pk=queue.run_id).exists()


def _is_blind(request: HttpRequest, desk: Desk) -> bool:
    """Say whether somebody may still grade: until then they see neither others' grades nor the judge's."""
    return person(request).has_perm(PERMISSION) and not desk.is_finished


def _may_see_labels(request: HttpRequest, queue: CalibrationQueue, desk: Desk) -> bool:
    return not _is_blind(request, desk) and _knows_run(request, queue)


def _may_finish(request: HttpRequest, queue: CalibrationQueue, desk: Desk) -> bool:
    return _is_blind(request, desk) and not desk.left and _knows_run(request, queue)


def _own_grades(entry: Entry) -> dict[str, int]:
    own = [label for label in entry.labels if label.labeller == entry.person]
    return dict(own[0].grades) if own else {}


def _go_on(request: HttpRequest, queue: CalibrationQueue) -> HttpResponseRedirect:
    following = queries.desk(queue, person(request)).next
    if following is None:
        return HttpResponseRedirect(reverse("calibration", args=[queue.pk]))
    return HttpResponseRedirect(reverse("calibration_item", args=[following.pk]))


def _item_page(
    request: HttpRequest,
    queue: CalibrationQueue,
    desk: Desk,
    entry: Entry,
    *,
    form: GradesForm,
    skip: SkipForm | None = None,
) -> HttpResponse:
    failed = bool(form.errors) or skip is not None
    context = {
        "queue": queue,
        "desk": desk,
        "entry": entry,
        "place": desk.place(entry),
        "shown": reading.shown(entry.item),
        "fields": [(name, guidelines.BY_NAME[name], form[name]) for name in DIMENSIONS],
        "skip": skip or SkipForm(),
        "incomplete": bool(form.errors),
    }
    return render(request, "evaluation/calibration_item.html", context, status=422 if failed else 200)
