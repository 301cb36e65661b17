"""What a call to a model is for. Pure."""

from __future__ import annotations

from enum import StrEnum
from typing import Final


class Purpose(StrEnum):
    """No call is made without one."""

    ANSWER = "answer"
    COMPRESSION = "compression"
    FOLLOW_UP = "follow_up"
    HYDE = "hyde"
    NAMES = "names"
    RERANKING = "reranking"
    EXTRACTION = "extraction"
    COMMUNITIES = "communities"
    RESOLUTION = "resolution"
    JUDGING = "judging"
    DRAFTING = "drafting"
    SCREENING = "screening"
    QUESTION_VECTORS = "question_vectors"
    PASSAGE_VECTORS = "passage_vectors"
    PROBE = "probe"


LABELS: Final[dict[Purpose, str]] = {
    Purpose.ANSWER: "Writing answers",
    Purpose.COMPRESSION: "Condensing sources",
    Purpose.FOLLOW_UP: "Rewriting follow-ups",
    Purpose.HYDE: "Hypothetical passages",
    Purpose.NAMES: "Naming what a question speaks of",
    Purpose.RERANKING: "Reranking",
    Purpose.EXTRACTION: "Extracting the graph",
    Purpose.COMMUNITIES: "Summarising communities",
    Purpose.RESOLUTION: "Resolving entities",
    Purpose.JUDGING: "Judging answers",
    Purpose.DRAFTING: "Drafting",
    Purpose.SCREENING: "Screening candidates",
    Purpose.QUESTION_VECTORS: "Vectors of questions",
    Purpose.PASSAGE_VECTORS: "Vectors of passages",
    Purpose.PROBE: "Probing the settings",
}

# How long a reply of each kind is taken to be, in tokens, as long as the ledger knows no better.
USUAL_REPLY: Final[dict[Purpose, int]] = {
    Purpose.ANSWER: 250,
    Purpose.COMPRESSION: 60,
    Purpose.FOLLOW_UP: 25,
    Purpose.HYDE: 150,
    Purpose.NAMES: 40,
    Purpose.RERANKING: 30,
    Purpose.EXTRACTION: 400,
    Purpose.COMMUNITIES: 120,
    Purpose.RESOLUTION: 400,
    Purpose.JUDGING: 30,
    Purpose.DRAFTING: 150,
    Purpose.SCREENING: 80,
    Purpose.QUESTION_VECTORS: 0,
    Purpose.PASSAGE_VECTORS: 0,
    Purpose.PROBE: 10,
}
