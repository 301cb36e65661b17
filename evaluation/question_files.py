"""Files of questions that come through a form: read, taken in, or every mistake named by its line."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from django.http import HttpRequest
from django.utils.translation import gettext as _

from corpus import uploads
from evaluation.actions import importing
from evaluation.actions.importing import Imported, NotImported
from evaluation.actions.questions import Writing
from evaluation.ground_truth.models import QuestionSet
from evaluation.questions import Form, Problem, QuestionFileError, numbered_questions

if TYPE_CHECKING:
    from django.contrib.auth.models import User

# What a form may carry; longer files are for the command line.
MOST_CHARACTERS = 500_000
# Each is looked for in the corpus while whoever sent it waits.
MOST_QUESTIONS = 500
PASTED = "pasted.jsonl"


@dataclass(frozen=True, slots=True)
class Handed:
    """What was handed over, kept to be mended: `error` is about the whole of it."""

    text: str = ""
    name: str = PASTED
    error: str = ""
    problems: tuple[Problem, ...] = ()
    taken: Imported | None = None


def take(request: HttpRequest, *, question_set: QuestionSet, writing: Writing, by: User) -> Handed:
    """Take the questions of a form into a set as drafts: all, or none and every mistake by its line."""
    text, name, error = _text(request)
    if error:
        return Handed(text, name, error)
    try:
        numbered = numbered_questions(text, Path(name), form=Form.JSONL)
    except QuestionFileError as mistakes:
        return Handed(text, name, problems=mistakes.problems)
    if not numbered:
        return Handed(text, name, _("There is no question in it."))
    if len(numbered) > MOST_QUESTIONS:
        return Handed(text, name, _too_long())
    lines = {question.id: line for line, question in numbered}
    try:
        taken = importing.import_questions(
            question_set=question_set,
            seeds=[question for _line, question in numbered],
            writing=writing,
            origin=name,
            by=by,
        )
    except NotImported as refused:
        return Handed(text, name, problems=tuple(Problem(lines[key], said) for key, said in refused.problems))
    return Handed(text, name, taken=taken)


def _text(request: HttpRequest) -> tuple[str, str, str]:
    """Return the text of a form, what it is called, and what is wrong with it as a whole."""
    pasted = request.POST.get("text", "").replace("\r\n", "\n")
    sent, away = uploads.sent(request, "file")
    if sent:
        if sent[0].path.stat().st_size > MOST_CHARACTERS:
            return pasted, PASTED, _too_long()
        try:
            return sent[0].path.read_text(encoding="utf-8-sig"), sent[0].name, ""
        except UnicodeDecodeError:
            return pasted, PASTED, _("The file is not UTF-8 text.")
    if away:
        return pasted, PASTED, away[0].detail
    if len(pasted) > MOST_CHARACTERS:
        return pasted, PASTED, _too_long()
    return pasted, PASTED, "" if pasted.strip() else _("Paste questions, or choose a file of them.")


def _too_long() -> str:
    return _("That is too long for this form; use `sci-rag eval import`.")
