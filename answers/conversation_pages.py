"""What the history and the pages of conversations show: only ever those of whoever looks."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass

from django.contrib.auth.models import User
from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from answers import pages, wording
from answers.conversations import Conversation
from answers.models import EXTRACTIVE, Answer, AnswerSource
from answers.reading import ReadableAnswer
from corpus import ceilings
from corpus.models import Document
from corpus.scope import RetrievalScope

LONGEST_EXPORT = 200
_SHOWN_TURNS = 4


@dataclass(frozen=True, slots=True)
class Entry:
    """One conversation of the history with its questions, or those that were searched for."""

    conversation: Conversation
    title: str
    turns: int
    shown: tuple[Answer, ...]
    last: Answer | None

    @property
    def more(self) -> int:
        """How many questions are not listed."""
        return self.turns - len(self.shown)


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn on the page of its conversation."""

    shown: ReadableAnswer
    notice: wording.Notice | None

    @property
    def answer(self) -> Answer:
        """The stored row."""
        return self.shown.answer


def own_conversation(user: User, conversation_id: uuid.UUID) -> Conversation | None:
    """Return the user's own conversation; None for anybody else's."""
    return Conversation.objects.filter(asked_by=user, id=conversation_id).first()


def found(user: User, text: str) -> QuerySet[Conversation]:
    """Return the user's conversations that hold `text`, the last one first; all of them without text."""
    own = Conversation.objects.filter(asked_by=user, answers__isnull=False)
    if text:
        hits = matching(user, text).filter(conversation=OuterRef("pk"))
        own = own.filter(Q(title__icontains=text) | Exists(hits))
    return own.annotate(turns=Count("answers")).order_by("-last_asked_at", "id")


def matching(user: User, text: str) -> QuerySet[Answer]:
    """Return the user's answers whose question holds `text`, or whose text does.

    A text counts only where its reader would be shown it: a search must not tell what a page withholds.
    """
    said = Q(question__icontains=text) | Q(searched_question__icontains=text)
    readable = Q(text__icontains=text) & ~Q(Exists(_out_of_reach(user)))
    return Answer.objects.filter(said | readable, asked_by=user)


def _out_of_reach(user: User) -> QuerySet[AnswerSource]:
    """Return the sources for which an answer's text is withheld; the rule of `reading`, as a query."""
    visible = Document.objects.within(RetrievalScope().within(ceilings.of(user))).order_by().values("id")
    counts = Q(is_cited=True) | ~Q(answer__engine=EXTRACTIVE) | ~Q(answer__state=Answer.State.DONE)
    sources = AnswerSource.objects.filter(counts, answer=OuterRef("pk"))
    return sources.filter(Q(document__isnull=True) | ~Q(document__in=visible))


def entries(user: User, conversations: Sequence[Conversation], text: str) -> list[Entry]:
    """Return the conversations of one page of the history."""
    turns: dict[uuid.UUID | None, list[Answer]] = {conversation.pk: [] for conversation in conversations}
    rows = Answer.objects.filter(conversation__in=turns).order_by("created_at", "id").defer("text", "traces")
    for answer in rows:
        turns[answer.conversation_id].append(answer)
    hits: set[uuid.UUID] = set()
    if text:
        hits = set(matching(user, text).filter(conversation__in=turns).values_list("pk", flat=True))
    return [_entry(row, turns[row.pk], hits) for row in conversations]


def _entry(conversation: Conversation, turns: list[Answer], hits: set[uuid.UUID]) -> Entry:
    chosen = [answer for answer in turns if answer.pk in hits] or turns
    return Entry(
        conversation=conversation,
        title=conversation.title or (turns[0].question if turns else ""),
        turns=len(turns),
        shown=tuple(chosen[:_SHOWN_TURNS]),
        last=turns[-1] if turns else None,
    )


def title_of(conversation: Conversation) -> str:
    """Return the name its owner gave it, else its first question."""
    if conversation.title:
        return conversation.title
    first = conversation.answers.order_by("created_at", "id").values_list("question", flat=True).first()
    return first or ""


def turns_of(user: User, answers: Sequence[Answer]) -> list[Turn]:
    """Return the turns as `user` may read them today."""
    shown = (pages.readable_answer(user, answer.pk) for answer in answers)
    return [Turn(found, wording.notice(found)) for found in shown if found is not None]
