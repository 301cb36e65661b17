"""A stored answer as a judge reads it: its text, and its numbered sources as the run's scope has them now."""

from __future__ import annotations

from answers.models import Answer
from corpus.citation_units import pages_label
from corpus.models import Chunk
from corpus.scope import RetrievalScope
from evaluation.judging.prompts import Source


def sources_of(answer: Answer, scope: RetrievalScope) -> list[Source] | None:
    """Return all numbered sources of `answer`; None when one is gone, changed or out of scope.

    A judge that reads less than the writer did would find fault where there is none.
    """
    rows = list(answer.sources.select_related("chunk").order_by("number", "pk"))
    keys = [row.chunk_id for row in rows if row.chunk_id is not None]
    allowed = set(Chunk.objects.within(scope).filter(pk__in=keys).order_by().values_list("pk", flat=True))
    found = []
    for row in rows:
        chunk = row.chunk
        if chunk is None or chunk.pk not in allowed or chunk.content_sha256 != row.content_sha256:
            return None
        places = [" > ".join(row.section_path), row.locator, pages_label(row.page_start, row.page_end)]
        place = ", ".join(dict.fromkeys(filter(None, places)))
        found.append(Source(number=row.number, title=row.title, place=place, body=chunk.body))
    return found
