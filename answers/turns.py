"""Where a question stands among the others of the same person."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from answers.models import Answer


class ConversationGone(RuntimeError):
    """The conversation was deleted while a question was being asked in it."""


@dataclass(frozen=True, slots=True)
class Turn:
    """What comes before a question, all of it the asker's own.

    `follows` is the turn it leans on. `instead_of` is an answer to the same question that it is offered
    beside. `searched` is what the asker wants searched, word for word; empty leaves it to the rewriting.
    """

    follows: Answer | None = None
    instead_of: Answer | None = None
    searched: str = ""


ALONE = Turn()
