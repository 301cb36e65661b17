"""How much a scope lets a request see, under which embedding version, and the fingerprint of that."""

from __future__ import annotations

from dataclasses import dataclass, replace

from corpus.fingerprint import state
from corpus.models import Document
from corpus.scope import RetrievalScope
from retrieval.layers.base import Version
from retrieval.types import Eligible


@dataclass(frozen=True, slots=True)
class Corpus:
    """What the scope lets the request see, read at one moment for the whole request."""

    eligible: Eligible
    version: Version | None
    fingerprint: str

    @property
    def version_name(self) -> str:
        return self.version.name if self.version else ""


def read(scope: RetrievalScope) -> Corpus:
    """Read what `scope` allows. A scope that allows nothing runs no query.

    Documents without a year that only its year bounds leave out are counted apart: nobody would
    guess that they are missing.
    """
    found = state(scope)
    undated = 0
    if not scope.denied and (scope.year_min is not None or scope.year_max is not None):
        any_year = replace(scope, year_min=None, year_max=None)
        undated = Document.objects.within(any_year).filter(year__isnull=True).count()
    return Corpus(
        Eligible(found.documents, found.passages, undated),
        None if found.version is None else Version(*found.version),
        found.fingerprint,
    )
