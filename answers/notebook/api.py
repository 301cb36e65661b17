"""Notes by key: reading those that its owner may read, and keeping one."""

from __future__ import annotations

from typing import Annotated, Literal
from uuid import UUID

from django.http import Http404, HttpResponse
from pydantic import Field
from rest_framework.request import Request

from answers import pages
from answers import reading as answer_reading
from answers.api.shapes import Note, NoteKind, NotePage
from answers.models import Answer
from answers.notebook import actions, naming, reading, saving
from answers.notebook.actions import Words
from answers.notebook.exports import as_dict
from answers.notebook.forms import MOST_NAMED
from answers.notebook.models import LONGEST_TEXT, LONGEST_TITLE
from answers.notebook.naming import Named, NotNamed
from corpus.api.problems import Code, invalid
from corpus.api.requests import Paging, Sent, read_body
from corpus.api.schema import Operation, describes
from corpus.api.views import ApiView, reply
from corpus.keys.permissions import Permission
from corpus.normalise import visible

_TAG = "Notes"
# Whoever may ask may keep notes.
_RIGHT = "answers.add_answer"


class NoteParameters(Paging):
    """Which notes."""

    q: str | None = Field(default=None, max_length=300, description="Words that people wrote in them.")
    kind: NoteKind | None = None
    whose: Literal["mine", "shared"] | None = None


class NoteSent(Sent):
    """A note to keep."""

    text: str = Field(min_length=1, max_length=LONGEST_TEXT)
    kind: NoteKind = "finding"
    title: str = Field(default="", max_length=LONGEST_TITLE)
    shared: bool = Field(default=False, description="Let everyone who signs in read it.")
    cites: list[Annotated[str, Field(min_length=1, max_length=naming.LONGEST)]] = Field(
        default=[],
        max_length=MOST_NAMED,
        description="Works, each by a DOI, an arXiv number, an ISBN, a PubMed number, an address or a title.",
    )
    from_answer: UUID | None = Field(
        default=None, description="An answer of the owner's: what was retrieved for it is linked."
    )


class Notes(ApiView):
    """The notebook."""

    permissions = {"GET": Permission.READ, "POST": Permission.WRITE}
    parameters = NoteParameters

    @describes(Operation("list_notes", "List and search notes", NotePage, _TAG, parameters=NoteParameters))
    def get(self, request: Request) -> HttpResponse:
        """List the owner's notes and what others share, the last changed first."""
        wanted, user = self.wanted(NoteParameters), self.caller.user
        rows = reading.found(user, text=wanted.q or "", kind=wanted.kind or "", whose=wanted.whose or "")
        items = [_note(shown) for shown in reading.shown(rows[wanted.part], user)]
        return reply(NotePage(count=rows.count(), page=wanted.page, page_size=wanted.page_size, items=items))

    @describes(
        Operation("keep_note", "Keep a note", Note, _TAG, body=NoteSent, status=201, codes=(Code.NOT_FOUND,))
    )
    def post(self, request: Request) -> HttpResponse:
        """Keep a note as its owner's."""
        self.require_right(_RIGHT)
        sent = read_body(request, NoteSent)
        user = self.caller.user
        text = visible(sent.text).strip()
        if not text:
            raise invalid("A note says something.", where="text")
        words = Words(text, sent.kind, " ".join(visible(sent.title).split()), is_shared=sent.shared)
        answer, met = self._retrieved(sent.from_answer)
        named = [_named(text, place) for place, text in enumerate(sent.cites)]
        try:
            kept = actions.add(words=words, by=user, answer=answer, met=met, named=named)
        except actions.TooManySources as refusal:
            raise invalid(str(refusal), where="cites") from None
        return reply(_note(reading.shown([kept], user)[0]), status=201)

    def _retrieved(self, answer_id: UUID | None) -> tuple[Answer | None, list[actions.Met]]:
        """Return an answer of the owner's and the works retrieved for it that the key may see."""
        if answer_id is None:
            return None, []
        user = self.caller.user
        answer = pages.own_answer(user, str(answer_id))
        if answer is None:
            raise Http404
        shown = answer_reading.readable(answer, user)
        return answer, [work.met for work in saving.works(shown)] if shown is not None else []


def _note(shown: reading.ShownNote) -> Note:
    return Note.model_validate(as_dict(shown))


def _named(text: str, place: int) -> Named:
    try:
        return naming.named(text)
    except NotNamed as refusal:
        raise invalid(str(refusal), where=f"cites.{place}") from None
