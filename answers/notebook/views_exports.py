"""Notes as files. What is written is what the reader may see at this moment."""

from __future__ import annotations

import uuid

import structlog
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from answers.notebook import reading
from answers.notebook.exports import FORMS, MOST_NOTES, Form
from answers.notebook.forms import FindForm
from answers.notebook.reading import ShownNote
from corpus.signed_in import person

logger = structlog.get_logger(__name__)


@login_required
@require_safe
def note_export(request: HttpRequest, note_id: uuid.UUID, form: str) -> HttpResponse:
    """Return a note one may read in one form."""
    user = person(request)
    kept = reading.readable_by(user).filter(pk=note_id).first()
    if kept is None or form not in FORMS:
        raise Http404
    return _file(FORMS[form], reading.shown([kept], user), name=f"note-{note_id}")


@login_required
@require_safe
def notes_export(request: HttpRequest, form: str) -> HttpResponse:
    """Return the notes that the list would show in one form; the last changed when there are very many."""
    if form not in FORMS:
        raise Http404
    user = person(request)
    wanted = FindForm(request.GET).wanted()
    rows = reading.found(user, text=wanted["q"], kind=wanted["kind"], whose=wanted["whose"])
    return _file(FORMS[form], reading.shown(rows[:MOST_NOTES], user), name="notebook")


def _file(form: Form, notes: list[ShownNote], *, name: str) -> HttpResponse:
    response = HttpResponse(form.write(notes), content_type=f"{form.media_type}; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{name}.{form.ending}"'
    response["Cache-Control"] = "private, no-store"
    logger.info("note.exported", form=form.name, count=len(notes))
    return response
