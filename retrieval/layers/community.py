"""Passages behind the communities of the knowledge graph whose summaries are nearest to the question.

A summary mixes words of many documents, so it leads to evidence and is none: what is handed over are the
passages of the strongest edges between a community's members. Only communities that were built for exactly
the scope of the request are asked, and only while every document they were read from may still contribute.
"""

from __future__ import annotations

import json
from typing import Any
from uuid import UUID

from corpus.gateways.embedding import Vectors
from corpus.models import Document
from corpus.scope import RetrievalScope
from retrieval.graph.communities.scopes import contributors
from retrieval.layers.base import LayerOff, LayerRequest, Session
from retrieval.layers.vector import VectorLayer, as_literal
from retrieval.types import RankedList, StageStatus

# A document that was read for the build decided with the others who hangs together, so none may be missing.
_BUILD = """
WITH contributor AS MATERIALIZED ({contributors})
SELECT build.id FROM retrieval_communitybuild build
WHERE build.is_current AND build.scope = %s::jsonb AND build.documents_read = (
    SELECT count(*) FROM retrieval_builddocument document
    JOIN contributor ON contributor.id = document.document_id
    WHERE document.build_id = build.id
)
ORDER BY build.scope_name
LIMIT 1
"""

_NEAREST = """
SELECT id FROM retrieval_community
WHERE build_id = %s AND version_id = %s AND vector IS NOT NULL
ORDER BY (vector <=> %s::halfvec) + 0, level, key
LIMIT %s
"""

# The best passage of each community first, then the second best of each: breadth before depth.
_PASSAGES = """
WITH eligible AS MATERIALIZED ({eligible}),
asked AS (SELECT * FROM unnest(%s::uuid[]) WITH ORDINALITY AS asked(id, place)),
members AS (
    SELECT DISTINCT asked.place, COALESCE(entity.canonical_entity_id, entity.id) AS id
    FROM asked
    JOIN retrieval_communitymember member ON member.community_id = asked.id
    JOIN retrieval_entity entity ON entity.id = member.entity_id
),
evidence AS (
    SELECT source.place, edge.chunk_id, sum(edge.confidence) AS strength
    FROM members source
    JOIN retrieval_relationship edge ON edge.source_id = source.id
    JOIN members target ON target.id = edge.target_id AND target.place = source.place
    JOIN eligible ON eligible.id = edge.document_id
    GROUP BY source.place, edge.chunk_id
),
ranked AS (
    SELECT place, chunk_id, row_number() OVER (
        PARTITION BY place ORDER BY strength DESC, chunk.rank_key, chunk_id
    ) AS nth
    FROM evidence JOIN corpus_chunk chunk ON chunk.id = evidence.chunk_id
)
SELECT chunk_id FROM ranked WHERE nth <= %s ORDER BY nth, place
"""

# Five communities with four passages each are as many candidates as the other layers hand over.
PASSAGES_OF_EACH = 4
NOT_BUILT = "no communities are built of exactly what this scope allows now"


class CommunityLayer:
    """Hands over passages of the nearest communities; skipped for a scope they were not built for."""

    name = "community"

    def __init__(self) -> None:
        self._near = VectorLayer()

    def prepare(self, request: LayerRequest) -> Vectors | None:
        """Return the question's vector in the version this request is pinned to."""
        return self._near.prepare(request)

    def candidates(self, request: LayerRequest, prepared: Vectors | None, session: Session) -> RankedList:
        """Return eligible passages and the communities they stand for, both nearest first."""
        if request.version is None or prepared is None:
            return RankedList(self.name)
        build = _build(request.scope, session)
        if build is None:
            raise LayerOff(StageStatus.SKIPPED, NOT_BUILT)
        asked: list[Any] = [build, request.version.key, as_literal(prepared), request.limit]
        nearest: list[UUID] = [key for (key,) in session.rows(_NEAREST, asked)]
        eligible, scope = Document.objects.eligible_sql(request.scope)
        passages = session.rows(_PASSAGES.format(eligible=eligible), [*scope, nearest, PASSAGES_OF_EACH])
        found = tuple(dict.fromkeys(key for (key,) in passages))
        return RankedList(self.name, found, "near", communities=tuple(nearest))


def _build(scope: RetrievalScope, session: Session) -> UUID | None:
    """Return the current build of exactly `scope`, None when it is not whole any more."""
    allowed, parameters = contributors(scope).order_by().values("id").query.sql_with_params()
    selection = json.dumps(scope.selection.as_dict())
    rows = session.rows(_BUILD.format(contributors=allowed), [*parameters, selection])
    return rows[0][0] if rows else None
