"""Making the communities of a named scope: filled beside the current build, which they replace at once."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any
from uuid import UUID

import structlog
from django.db import IntegrityError, connection, transaction
from django.db.models import Q, QuerySet
from django.db.models.functions import Now

from corpus.models import EmbeddingVersion
from corpus.scope import RetrievalScope
from retrieval.graph.communities.drafting import Draft
from retrieval.graph.communities.scopes import contributors
from retrieval.graph.community_models import (
    BuildDocument,
    Community,
    CommunityBuild,
    CommunityDocument,
    CommunityMember,
)

if TYPE_CHECKING:
    from django.contrib.auth.models import User

logger = structlog.get_logger(__name__)

# A model has one minute for a summary, and a sign of life is given before each.
_GIVEN_UP_AFTER = timedelta(minutes=3)
_BATCH = 1_000


class BuildUnderWay(RuntimeError):
    """Somebody makes the communities of this scope already."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"The communities of {name!r} are being built already. If that build was killed, "
            f"this works again {_GIVEN_UP_AFTER.seconds // 60} minutes after its end."
        )


class BuildLost(RuntimeError):
    """The build was taken for dead and removed while it was being made."""


@dataclass(frozen=True, slots=True)
class Summary:
    """A community's summary with its vector, where there is one."""

    text: str
    written_by: str
    evidence_sha256: str
    version: int | None = None
    vector: Any = None


Summaries = dict[tuple[int, str], list[Summary]]


def written(name: str) -> Summaries:
    """Return the summaries that there are of the scope called `name`, those of unfinished builds too."""
    found: Summaries = {}
    rows = Community.objects.filter(build__scope_name=name).order_by("build__started_at", "pk")
    for row in rows.defer("title"):
        summary = Summary(row.summary, row.written_by, row.evidence_sha256, row.version_id, row.vector)
        found.setdefault((row.level, row.key), []).append(summary)
    return found


def begin(
    *, name: str, scope: RetrievalScope, graph_sha256: str, method: str, by: User | None = None
) -> CommunityBuild:
    """Start a build of the scope called `name`; what a dead one left is removed.

    Raises `BuildUnderWay` while another one is being made.
    """
    dead = Q(touched_at__isnull=True) | Q(touched_at__lt=Now() - _GIVEN_UP_AFTER)
    try:
        with transaction.atomic():
            _remove(CommunityBuild.objects.filter(dead, scope_name=name, finished_at__isnull=True))
            build = CommunityBuild.objects.create(
                scope_name=name,
                scope=scope.selection.as_dict(),
                graph_sha256=graph_sha256,
                method=method[:100],
                touched_at=Now(),
            )
    except IntegrityError:
        raise BuildUnderWay(name) from None
    logger.info("communities.build_begun", build=str(build.pk), by=by.pk if by else None)
    return build


def touch(*, build: CommunityBuild) -> None:
    """Give a sign of life; raise `BuildLost` when the build is gone."""
    if not CommunityBuild.objects.filter(pk=build.pk, finished_at__isnull=True).update(touched_at=Now()):
        raise BuildLost("The build took so long without a sign of life that another one replaced it.")


@transaction.atomic
def keep(*, build: CommunityBuild, summarised: Sequence[tuple[Draft, Summary]]) -> int:
    """Store communities, in one transaction; return how many.

    One whose document or member has gone meanwhile is left out.
    """
    touch(build=build)
    documents = _held("corpus_document", {key for draft, _ in summarised for key in draft.documents})
    entities = _held("retrieval_entity", {key for draft, _ in summarised for key in draft.members})
    whole = [
        (draft, summary)
        for draft, summary in summarised
        if documents.issuperset(draft.documents) and entities.issuperset(draft.members)
    ]
    parents = dict(build.communities.select_for_update().filter(level__gt=0).values_list("key", "pk"))
    rows = [_row(build, draft, summary, parents) for draft, summary in whole]
    Community.objects.bulk_create(rows, batch_size=_BATCH)
    CommunityMember.objects.bulk_create(
        (
            CommunityMember(community=row, entity_id=key)
            for row, (draft, _) in zip(rows, whole, strict=True)
            for key in draft.members
        ),
        batch_size=_BATCH,
    )
    CommunityDocument.objects.bulk_create(
        (
            CommunityDocument(community=row, document_id=key)
            for row, (draft, _) in zip(rows, whole, strict=True)
            for key in draft.documents
        ),
        batch_size=_BATCH,
    )
    return len(rows)


@transaction.atomic
def finish(*, build: CommunityBuild, scope: RetrievalScope, documents: Collection[UUID]) -> CommunityBuild:
    """Put a build in the place of the current one, in one transaction; return it.

    `documents` are those it was read from. A community is left out when one of its own may contribute to
    nothing by now.
    """
    touch(build=build)
    barred = CommunityDocument.objects.filter(community__build=build).exclude(
        document__in=contributors(scope).order_by().values("pk")
    )
    _remove_communities(build.communities.filter(pk__in=barred.values("community")))
    read = _held("corpus_document", documents)
    BuildDocument.objects.bulk_create(
        (BuildDocument(build=build, document_id=key) for key in sorted(read)), batch_size=_BATCH
    )
    _remove(CommunityBuild.objects.filter(scope_name=build.scope_name).exclude(pk=build.pk))
    CommunityBuild.objects.filter(pk=build.pk).update(
        documents_read=len(documents),
        size=build.communities.count(),
        is_current=True,
        touched_at=None,
        finished_at=Now(),
    )
    build.refresh_from_db()
    logger.info("communities.built", build=str(build.pk), communities=build.size, documents=len(documents))
    return build


def let_go(*, build: CommunityBuild) -> None:
    """Leave a build to the next one, which takes over its summaries."""
    CommunityBuild.objects.filter(pk=build.pk, finished_at__isnull=True).update(touched_at=None)


@transaction.atomic
def forget_unnamed(*, names: Iterable[str], by: User | None = None) -> int:
    """Remove the builds of scopes that are not among `names`; return how many were current."""
    unnamed = CommunityBuild.objects.exclude(scope_name__in=list(names))
    gone = unnamed.filter(is_current=True).count()
    _remove(unnamed)
    if gone:
        logger.info("communities.forgotten", builds=gone, by=by.pk if by else None)
    return gone


def _row(build: CommunityBuild, draft: Draft, summary: Summary, parents: dict[str, UUID]) -> Community:
    return Community(
        build=build,
        level=draft.level,
        key=draft.key,
        parent_id=parents.get(draft.parent or ""),
        title=draft.title,
        summary=summary.text,
        written_by=summary.written_by,
        evidence_sha256=summary.evidence_sha256,
        version=None if summary.version is None else EmbeddingVersion(pk=summary.version),
        vector=summary.vector,
    )


def _held(table: str, keys: Collection[UUID]) -> set[UUID]:
    """Return those of `keys` that are there, and keep them until the commit."""
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT id FROM {table} WHERE id = ANY(%s) ORDER BY id FOR KEY SHARE",  # noqa: S608 - a constant
            [sorted(keys)],
        )
        return {key for (key,) in cursor.fetchall()}


def _remove(builds: QuerySet[CommunityBuild]) -> None:
    _remove_communities(Community.objects.filter(build__in=builds.values("pk")))
    builds.delete()


def _remove_communities(communities: QuerySet[Community]) -> None:
    # Whatever has documents goes with them, at once; see the trigger.
    CommunityDocument.objects.filter(community__in=communities.values("pk")).delete()
    communities.delete()
