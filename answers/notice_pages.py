"""Messages in words, as far as their reader may know today what they are about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _

from answers.models import AnswerSource
from answers.notebook import reading
from answers.notices import Notice
from corpus import ceilings
from corpus.models import Document
from corpus.scope import RetrievalScope

if TYPE_CHECKING:
    from django.contrib.auth.models import User


@dataclass(frozen=True, slots=True)
class ShownNotice:
    """One message. `title` is empty when the reader may not see the work any more."""

    notice: Notice
    title: str
    headline: str

    @property
    def is_new(self) -> bool:
        """Whether it holds and was not marked as read."""
        return self.notice.read_at is None and self.notice.resolved_at is None


def shown(notices: Sequence[Notice], user: User) -> list[ShownNotice]:
    """Put messages to `user` into words."""
    titles = _titles(notices, user)
    titles |= reading.names({notice.observation_id for notice in notices if notice.observation_id}, user)
    return [
        ShownNotice(
            notice,
            titles.get((notice.answer_id or notice.observation_id, notice.source_id), ""),
            _note_headline(notice) if notice.observation_id else _headline(notice),
        )
        for notice in notices
    ]


def _note_headline(notice: Notice) -> str:
    if notice.resolved_at is not None:
        return {
            Notice.Kind.RETRACTED: _("No longer retracted: a work in your notebook"),
            Notice.Kind.CONCERN: _("The concern was lifted: a work in your notebook"),
            Notice.Kind.HELD: _("No longer held back: a work in your notebook"),
        }[Notice.Kind(notice.kind)]
    return {
        Notice.Kind.RETRACTED: _("Retracted: a work in your notebook"),
        Notice.Kind.CONCERN: _("Expression of concern: a work in your notebook"),
        Notice.Kind.HELD: _("Held back until a librarian has read it: a work in your notebook"),
    }[Notice.Kind(notice.kind)]


def _headline(notice: Notice) -> str:
    if notice.resolved_at is not None:
        return {
            Notice.Kind.RETRACTED: _("No longer retracted: a work your answer cites"),
            Notice.Kind.CONCERN: _("The concern was lifted: a work your answer cites"),
            Notice.Kind.HELD: _("No longer held back: a work your answer cites"),
        }[Notice.Kind(notice.kind)]
    return {
        Notice.Kind.RETRACTED: _("Retracted: a work your answer cites"),
        Notice.Kind.CONCERN: _("Expression of concern: a work your answer cites"),
        Notice.Kind.HELD: _("Held back until a librarian has read it: a work your answer cites"),
    }[Notice.Kind(notice.kind)]


def _titles(notices: Sequence[Notice], user: User) -> dict[tuple[object, object], str]:
    """Return what the answers call the works, for documents within the reader's ceiling of today."""
    visible = Document.objects.within(ceilings.effective_scope(user, RetrievalScope()))
    rows = AnswerSource.objects.filter(
        is_cited=True,
        answer__in=[notice.answer_id for notice in notices if notice.answer_id],
        document__in=visible.order_by().values("id"),
    ).order_by("answer_id", "-number", "id")
    return {
        (answer, source): title
        for answer, source, title in rows.values_list("answer_id", "document__source_id", "title")
    }
