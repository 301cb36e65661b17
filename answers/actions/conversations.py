"""Changes of conversations. They belong to whoever asked: nobody else renames or deletes them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import transaction
from django.utils import timezone

from answers.conversations import LONGEST_TITLE, Conversation
from answers.turns import ConversationGone, Turn
from corpus.normalise import visible

if TYPE_CHECKING:
    from django.contrib.auth.models import User


def conversation_of(turn: Turn, *, by: User | None) -> Conversation | None:
    """Return the conversation a new turn belongs to: that of what came before, else a new one.

    What the operator asks at the command line belongs to nobody, and to no conversation.
    """
    if by is None:
        return None
    before = turn.follows or turn.instead_of
    if before is None or before.conversation_id is None or before.asked_by_id != by.pk:
        return Conversation.objects.create(asked_by=by)
    # Locked, so that it is not deleted while the turn is being added.
    conversation = Conversation.objects.select_for_update().filter(pk=before.conversation_id).first()
    if conversation is None:
        raise ConversationGone
    conversation.last_asked_at = timezone.now()
    conversation.save(update_fields=["last_asked_at"])
    return conversation


@transaction.atomic
def rename(*, conversation: Conversation, title: str, by: User) -> None:
    """Give `conversation` a title; an empty one goes back to its first question."""
    _require_owner(conversation, by)
    conversation.title = " ".join(visible(title).split())[:LONGEST_TITLE]
    conversation.save(update_fields=["title"])


@transaction.atomic
def delete(*, conversation: Conversation, by: User) -> int:
    """Delete `conversation` with its questions, answers and findings; return how many answers went.

    An answer that is still being written is not stored when it ends. What its asker reported about an
    answer stays, without the answer.
    """
    _require_owner(conversation, by)
    count = conversation.answers.count()
    conversation.delete()
    return count


def _require_owner(conversation: Conversation, by: User) -> None:
    if conversation.asked_by_id != by.pk:
        raise PermissionError("A conversation is changed by whoever asked in it.")
