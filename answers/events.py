"""What happens while an answer is made, in order, as every surface receives it."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class EventName(StrEnum):
    RETRIEVAL_STARTED = "retrieval_started"
    # Only of follow-ups: what is searched, and how it was made of what was typed.
    STANDALONE_QUESTION = "standalone_question"
    RETRIEVAL_DONE = "retrieval_done"
    # Only where the domain profile has passages condensed: what became of each, and the tokens saved.
    COMPRESSION_DONE = "compression_done"
    GENERATION_STARTED = "generation_started"
    DELTA = "delta"
    CITATIONS = "citations"
    DONE = "done"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class AnswerEvent:
    """One step. `data` holds JSON values only; a delta carries the piece of text under `text`."""

    name: EventName
    data: dict[str, Any] = field(default_factory=dict)
