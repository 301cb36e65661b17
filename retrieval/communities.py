"""The communities that a search came by, as its result shows them."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from django.db.models import Count, Exists, OuterRef

from corpus.scope import RetrievalScope
from retrieval.graph.communities.scopes import contributors
from retrieval.graph.community_models import Community, CommunityDocument
from retrieval.types import CommunityItem


def load(ids: Sequence[UUID], scope: RetrievalScope) -> tuple[CommunityItem, ...]:
    """Return the communities of `ids` to which all their documents may contribute now, in the order given.

    The layer asked the same of the whole build already: this is the second, independent check.
    """
    if not ids or scope.denied:
        return ()
    hidden = CommunityDocument.objects.filter(community=OuterRef("pk")).exclude(
        document__in=contributors(scope).order_by().values("id")
    )
    rows = (
        Community.objects.filter(pk__in=ids, build__is_current=True)
        .filter(~Exists(hidden))
        .values("pk", "level", "title", "summary", "written_by")
        .annotate(of_documents=Count("documents", distinct=True), of_members=Count("members", distinct=True))
        .order_by("pk")
    )
    found = {row["pk"]: row for row in rows}
    return tuple(
        CommunityItem(
            id=str(row["pk"]),
            rank=rank,
            level=row["level"],
            title=row["title"],
            body=row["summary"],
            written_by=row["written_by"],
            documents=row["of_documents"],
            members=row["of_members"],
        )
        for rank, row in enumerate((found[key] for key in ids if key in found), start=1)
    )
