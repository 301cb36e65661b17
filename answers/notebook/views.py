"""The notebook: its list, one note, writing, changing and deleting it."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, ParamSpec

from django.contrib import messages
from django.contrib.auth.decorators import login_required, permission_required
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from answers import reading as answer_reading
from answers.notebook import actions, reading, undoing
from answers.notebook.exports import FORMS
from answers.notebook.forms import NAME_CHOICES, CiteForm, FindForm, ObservationForm
from answers.notebook.models import DeletedNote, Observation, ObservationSource
from corpus.signed_in import person

if TYPE_CHECKING:
    from django.contrib.auth.models import User

P = ParamSpec("P")
PAGE_SIZE = 20
# Whoever may ask may keep notes: naming a work makes a record of it.
may_write = permission_required("answers.add_answer", raise_exception=True)


def gone_is_absent(view: Callable[P, HttpResponse]) -> Callable[P, HttpResponse]:
    """Answer as for a note that is not there when it is deleted at this moment."""

    @wraps(view)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> HttpResponse:
        try:
            return view(*args, **kwargs)
        except actions.NoteGone:
            raise Http404 from None

    return wrapped


@login_required
@require_safe
def notes(request: HttpRequest) -> HttpResponse:
    """List one's own notes and what others share, the last changed first."""
    user = person(request)
    wanted = FindForm(request.GET).wanted()
    rows = reading.found(user, text=wanted["q"], kind=wanted["kind"], whose=wanted["whose"])
    page = Paginator(rows, PAGE_SIZE).get_page(request.GET.get("page"))
    query = urlencode({name: value for name, value in wanted.items() if value})
    context = {
        "page": page,
        "entries": reading.shown(page.object_list, user),
        "wanted": wanted,
        "query": query,
        "kinds": Observation.Kind.choices,
        "has_any": bool(query) or page.paginator.count > 0,
        "forms": FORMS.values(),
        "may_write": user.has_perm("answers.add_answer"),
        "deleted": _deleted(user, request.GET.get("deleted", "")),
    }
    fragment = "#results" if getattr(request, "htmx", False) else ""
    return render(request, "notebook/note_list.html" + fragment, context)


@login_required
@may_write
@require_http_methods(["GET", "HEAD", "POST"])
def note_new(request: HttpRequest) -> HttpResponse:
    """Write a note."""
    form = ObservationForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        kept = actions.add(words=form.words(), by=person(request), named=form.cleaned_data["named"])
        messages.success(request, _("Kept in your notebook."))
        return HttpResponseRedirect(reverse("note", args=[kept.pk]))
    context = {"form": form, "kinds": Observation.Kind.choices, "chosen_kind": _chosen_kind(form)}
    return render(request, "notebook/note_new.html", context, status=422 if form.errors else 200)


@login_required
@require_safe
def note(request: HttpRequest, note_id: uuid.UUID) -> HttpResponse:
    """Show a note one may read, with its sources as one may see them today."""
    return note_page(request, note_id, CiteForm())


@login_required
@may_write
@require_http_methods(["GET", "HEAD", "POST"])
@gone_is_absent
def note_edit(request: HttpRequest, note_id: uuid.UUID) -> HttpResponse:
    """Change the words of one's own note."""
    kept = own_note(request, note_id)
    begun = {name: getattr(kept, name) for name in ("text", "kind", "title", "is_shared")}
    form = ObservationForm(request.POST if request.method == "POST" else begun)
    if request.method == "POST" and form.is_valid():
        actions.change(note=kept, words=form.words(), by=person(request))
        messages.success(request, _("Changed."))
        return HttpResponseRedirect(reverse("note", args=[note_id]))
    context = {
        "form": form,
        "note": kept,
        "kinds": Observation.Kind.choices,
        "chosen_kind": _chosen_kind(form),
    }
    return render(request, "notebook/note_edit.html", context, status=422 if form.errors else 200)


@login_required
@may_write
@require_http_methods(["GET", "HEAD", "POST"])
@gone_is_absent
def note_delete(request: HttpRequest, note_id: uuid.UUID) -> HttpResponse:
    """Ask whether one's own note is to be deleted; delete it when it is said so."""
    kept = own_note(request, note_id)
    if request.method != "POST":
        (shown,) = reading.shown([kept], person(request))
        return render(request, "notebook/note_delete.html", {"shown": shown})
    count = actions.delete(note=kept, by=person(request))
    told = ngettext(
        "The note and its link to %(n)s source are deleted.",
        "The note and its links to %(n)s sources are deleted.",
        count,
    )
    messages.success(request, told % {"n": count})
    return HttpResponseRedirect(f"{reverse('notes')}?{urlencode({'deleted': str(note_id)})}")


@login_required
@may_write
@require_POST
@gone_is_absent
def note_restore(request: HttpRequest, note_id: uuid.UUID) -> HttpResponse:
    """Take the deletion of one's own note back."""
    undoing.restore(note_id=note_id, by=person(request))
    messages.success(request, _("The note is back."))
    return HttpResponseRedirect(reverse("note", args=[note_id]))


def own_note(request: HttpRequest, note_id: uuid.UUID) -> Observation:
    """Return one's own note. Raises `Http404` alike for one that is absent and somebody else's."""
    kept = reading.own(person(request)).filter(pk=note_id).first()
    if kept is None:
        raise Http404
    return kept


def note_page(request: HttpRequest, note_id: uuid.UUID, form: CiteForm, *, status: int = 200) -> HttpResponse:
    """Return the page of a note; `form` keeps what was typed to name a work."""
    user = person(request)
    kept = reading.readable_by(user).filter(pk=note_id).first()
    if kept is None:
        raise Http404
    (shown,) = reading.shown([kept], user)
    context = {
        "shown": shown,
        "answer": answer_reading.theirs(user).filter(observations=kept).only("id", "question").first(),
        "form": form,
        "name_choices": NAME_CHOICES,
        "relationships": ObservationSource.Relationship.choices,
        "forms": FORMS.values(),
        "may_change": shown.is_own and user.has_perm("answers.add_answer"),
    }
    return render(request, "notebook/note_detail.html", context, status=status)


def _deleted(user: User, note_id: str) -> DeletedNote | None:
    """Return the note that `user` deleted a moment ago, as long as it can be brought back."""
    try:
        return undoing.restorable(user).filter(pk=uuid.UUID(note_id)).first()
    except ValueError:
        return None


def _chosen_kind(form: ObservationForm) -> str:
    return str(form["kind"].value() or Observation.Kind.FINDING)
