"""Other versions that an answer's retrieval named beneath its sources, as their reader may see them today.

An answer keeps which passages were named, in the trace of that stage, and none of their words.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from answers.models import Answer
from corpus.models import Chunk
from corpus.scope import RetrievalScope
from retrieval.other_versions import line_of
from retrieval.types import Item, OtherVersion, RetrievalResult, StageStatus, StageTrace

STAGE = "other_versions"
# Of works that none of the sources is of.
UNATTACHED = 0


def trace(items: Sequence[Item], result: RetrievalResult) -> list[dict[str, Any]]:
    """Return the trace that says which passages were named under which number; none when none was."""
    under = [(number, item.other_versions) for number, item in enumerate(items, 1)]
    named = [
        {"number": number, "passage": other.id, "reason": other.reason}
        for number, others in [*under, (UNATTACHED, result.other_versions)]
        for other in others
    ]
    if not named:
        return []
    stage = StageTrace(STAGE, StageStatus.OK, candidates=len(named), reason="named beneath the sources")
    return [{**stage.as_dict(), "named": named}]


def readable(answer: Answer, scope: RetrievalScope) -> dict[int, tuple[OtherVersion, ...]]:
    """Return the lines by the number of the source they stand under, of passages that `scope` allows."""
    named = [one for stage in answer.traces if stage.get("stage") == STAGE for one in stage["named"]]
    if not named:
        return {}
    passages = {
        str(chunk.public_id): chunk
        for chunk in Chunk.objects.within(scope)
        .filter(public_id__in=[one["passage"] for one in named])
        .select_related("document")
        .order_by("id")
    }
    lines: dict[int, tuple[OtherVersion, ...]] = defaultdict(tuple)
    for one in named:
        if passage := passages.get(one["passage"]):
            lines[one["number"]] += (line_of(passage, answer.question, one["reason"]),)
    return dict(lines)
