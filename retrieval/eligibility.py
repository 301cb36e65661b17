"""How much a scope lets a request see, and which embedding version is the active one."""

from __future__ import annotations

from dataclasses import replace

from django.db.models import Count, Sum

from corpus.models import Document
from corpus.scope import RetrievalScope
from corpus.vectors import active_version
from retrieval.layers.base import Version
from retrieval.types import Eligible


def count(scope: RetrievalScope) -> Eligible:
    """Count the documents and passages that `scope` allows.

    Documents without a year that only its year bounds leave out are counted apart: nobody would
    guess that they are missing.
    """
    totals = Document.objects.within(scope).aggregate(documents=Count("id"), passages=Sum("chunk_count"))
    undated = 0
    if scope.year_min is not None or scope.year_max is not None:
        any_year = replace(scope, year_min=None, year_max=None)
        undated = Document.objects.within(any_year).filter(year__isnull=True).count()
    return Eligible(totals["documents"], totals["passages"] or 0, undated)


def version() -> Version | None:
    """Return the active embedding version as the layers of one request share it."""
    active = active_version()
    return None if active is None else Version(active.pk, active.name, active.dimensions)
