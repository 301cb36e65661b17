"""Answers and conversations as files. What is written is what the reader may see at this moment."""

from __future__ import annotations

import uuid

import structlog
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from answers import conversation_pages, pages
from answers.exports.forms import FORMS, Form
from answers.reading import ReadableAnswer
from corpus.signed_in import person

logger = structlog.get_logger(__name__)


@login_required
@require_safe
def answer_export(request: HttpRequest, answer_id: uuid.UUID, form: str) -> HttpResponse:
    """Return one answer in one form."""
    shown = pages.readable_answer(person(request), answer_id)
    if shown is None or form not in FORMS:
        raise Http404
    return _file(FORMS[form], [shown], name=f"answer-{answer_id}", title="")


@login_required
@require_safe
def conversation_export(request: HttpRequest, conversation_id: uuid.UUID, form: str) -> HttpResponse:
    """Return one's own conversation in one form; its last turns when there are very many."""
    user = person(request)
    found = conversation_pages.own_conversation(user, conversation_id)
    if found is None or form not in FORMS:
        raise Http404
    last = found.answers.order_by("-created_at", "-id").only("pk")[: conversation_pages.LONGEST_EXPORT]
    turns = conversation_pages.turns_of(user, list(last)[::-1])
    title = conversation_pages.title_of(found)
    return _file(
        FORMS[form], [turn.shown for turn in turns], name=f"conversation-{conversation_id}", title=title
    )


def _file(form: Form, answers: list[ReadableAnswer], *, name: str, title: str) -> HttpResponse:
    if not answers:
        raise Http404
    response = HttpResponse(form.write(answers, title), content_type=f"{form.media_type}; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{name}.{form.ending}"'
    response["Cache-Control"] = "private, no-store"
    logger.info("answer.exported", form=form.name, count=len(answers))
    return response
