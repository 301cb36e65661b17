"""What a run of extraction will come to: every batch is counted, a sample of them is written out."""

from __future__ import annotations

from itertools import groupby, islice

from django.db.models.functions import Length

from corpus.models import Chunk
from corpus.usage import estimating
from corpus.usage.estimating import Estimate
from corpus.usage.purposes import Purpose
from retrieval.graph.extraction.model import ModelExtractor
from retrieval.graph.extraction.running import Reach, parts, unread
from retrieval.graph.extraction.types import Batch, Extractor, Passage


def estimate(extractor: Extractor, reach: Reach) -> Estimate:
    """Return the calls of a run to come; none for an extractor that asks no model."""
    if not isinstance(extractor, ModelExtractor) or not extractor.model_name:
        return Estimate()
    planned = _planned(extractor, reach)
    sample = estimating.spread(planned)
    prompts = [prompt for batch in sample if (prompt := extractor.prompt_of(_batch(batch))) is not None]
    calls = round(len(planned) * len(prompts) / len(sample)) if sample else 0
    line = estimating.line(
        purpose=Purpose.EXTRACTION, model=extractor.model_name, calls=calls, prompts=prompts
    )
    return Estimate((line,))


def _planned(extractor: Extractor, reach: Reach) -> list[tuple[int, ...]]:
    """Return the passages of every batch of the run, without their texts."""
    rows = (
        unread(extractor.name, reach)
        .annotate(length=Length("body"))
        .order_by("document_id", "ordinal", "pk")
        .values_list("document_id", "pk", "length")
    )
    found: list[tuple[int, ...]] = []
    for _, group in groupby(islice(rows.iterator(), reach.limit), key=lambda row: row[0]):
        passages = list(group)
        found += parts(
            [pk for _, pk, _ in passages], [length for _, _, length in passages], extractor.batch_limits
        )
    return found


def _batch(passages: tuple[int, ...]) -> Batch:
    rows = Chunk.objects.filter(pk__in=passages).order_by("ordinal", "pk")
    return Batch("", tuple(Passage(*row) for row in rows.values_list("pk", "body", "content_sha256")), ())
