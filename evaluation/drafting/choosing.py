"""Which passages questions are drafted from: drawn by a seed, over as many documents as there are."""

from __future__ import annotations

from django.db.models import F, Value
from django.db.models.functions import MD5, Concat, Length

from corpus.models import Chunk
from corpus.querysets import ChunkQuerySet
from corpus.scope import RetrievalScope
from evaluation.ground_truth.models import QuestionSet

# Less says too little to ask about, more is no passage.
_SHORTEST, _LONGEST = 200, 12_000
# So many drawn passages are looked at for each one that is wanted, to spread them over documents.
_SPREAD = 20


def passages(scope: RetrievalScope, question_set: QuestionSet, *, count: int, seed: int) -> list[Chunk]:
    """Return up to `count` passages from which the set has no question yet, of different documents first."""
    drawn = list(eligible(scope).exclude(content_sha256__in=_taken(question_set)).annotate(
        drawn=MD5(Concat(Value(f"{seed} "), F("content_sha256")))
    ).select_related("document").order_by("drawn", "rank_key", "pk")[: count * _SPREAD])  # fmt: skip
    seen: dict[object, int] = {}
    turns = []
    for place, chunk in enumerate(drawn):
        turn = seen[chunk.document_id] = seen.get(chunk.document_id, -1) + 1
        turns.append((turn, place))
    return [drawn[place] for _, place in sorted(turns)[:count]]


def eligible(scope: RetrievalScope) -> ChunkQuerySet:
    """Return the passages to draft from: in scope, of some length, free to be put in other words."""
    chunks = Chunk.objects.within(scope).filter(document__no_derivatives=False)
    return chunks.annotate(length=Length("body")).filter(length__gte=_SHORTEST, length__lte=_LONGEST)


def _taken(question_set: QuestionSet) -> list[str]:
    rows = question_set.questions.exclude(evidence__passage_sha256="").order_by()
    return [sha for sha in rows.values_list("evidence__passage_sha256", flat=True).distinct() if sha]
