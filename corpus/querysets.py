"""Querysets. `within` is the one rights filter of the product."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.db import models

from corpus import scope as scopes

if TYPE_CHECKING:
    from corpus.models import Chunk, Document  # noqa: F401  (named in the brackets below)
    from corpus.scope import Ceiling, RetrievalScope


class DocumentQuerySet(models.QuerySet["Document"]):
    """Documents."""

    def within(self, scope: RetrievalScope) -> DocumentQuerySet:
        """Keep the documents that `scope` allows."""
        if scope.denied:
            return self.none()
        return self.filter(scopes.eligible(scope))

    def under(self, ceiling: Ceiling) -> DocumentQuerySet:
        """Keep the documents `ceiling` covers, in whatever state: for those who curate them."""
        covered = self.filter(license_class__in=ceiling.license_classes)
        return covered if ceiling.buckets is None else covered.filter(bucket__in=ceiling.buckets)

    def eligible_sql(self, scope: RetrievalScope) -> tuple[str, tuple[Any, ...]]:
        """Return SQL and parameters that select the ids of the documents `scope` allows.

        The text goes into a MATERIALIZED common table expression of each layer's statement. A scope
        that is denied has no SQL: asking for it is a programming error, since no query may run then.
        """
        if scope.denied:
            raise ValueError("a denied scope may not reach the database")
        return self.within(scope).order_by().values("id").query.sql_with_params()


class ChunkQuerySet(models.QuerySet["Chunk"]):
    """Passages."""

    def within(self, scope: RetrievalScope) -> ChunkQuerySet:
        """Keep the passages of documents that `scope` allows."""
        if scope.denied:
            return self.none()
        from corpus.models import Document

        return self.filter(document__in=Document.objects.within(scope).order_by().values("id"))
