"""What the answer pages show: a stored answer as its reader may see it, and an answer while it is made."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import User

from answers.models import Answer
from corpus.scope import RetrievalScope


@dataclass(frozen=True, slots=True)
class Order:
    """A question as somebody asked it."""

    question: str
    requested: RetrievalScope
    by: User
    engine: str | None = None
    instead_of: Answer | None = None


def own_answer(user: User, answer_id: uuid.UUID | None) -> Answer | None:
    """Return the user's own answer; None for anybody else's."""
    if answer_id is None:
        return None
    return Answer.objects.filter(asked_by=user, id=answer_id).first()


def drain(order: Order) -> Answer:
    raise NotImplementedError


def messages(order: Order) -> Any:
    raise NotImplementedError


def readable_answer(user: User, answer_id: uuid.UUID) -> Any:
    return None


def answer_context(found: Any) -> dict[str, Any]:
    return {}
