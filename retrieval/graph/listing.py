"""The list of entities under a scope: which are on a page, and how many of each type there are.

Counting runs over all mentions in scope, so that the statements count rows first and look names up last. Only
such rows are counted, ordered by and searched.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import connection

from corpus.models import Document
from corpus.scope import RetrievalScope
from retrieval.graph import faces
from retrieval.graph.faces import Face
from retrieval.graph.naming import key_of

PAGE_SIZE = 60
_MOST_NAMES = 5

_MEMBERS = """
, members AS (
    SELECT mention.entity_id AS id, count(*) AS mentions
    FROM retrieval_mention mention JOIN eligible ON eligible.id = mention.document_id
    WHERE {wanted}
    GROUP BY mention.entity_id
)
"""

_PAGE = (
    "WITH eligible AS MATERIALIZED ({eligible})"
    + _MEMBERS
    + """
SELECT COALESCE(entity.canonical_entity_id, entity.id) AS family, count(*) OVER ()
FROM members JOIN retrieval_entity entity ON entity.id = members.id
GROUP BY family
ORDER BY {order}
LIMIT %s OFFSET %s
"""
)

_TYPES = (
    "WITH eligible AS MATERIALIZED ({eligible})"
    + _MEMBERS
    + """
SELECT entity.type, count(DISTINCT COALESCE(entity.canonical_entity_id, entity.id))
FROM members JOIN retrieval_entity entity ON entity.id = members.id
GROUP BY entity.type
ORDER BY entity.type
"""
)

# A family is wanted when a passage in scope has a name of any of its members.
_FAMILY_OF = """mention.entity_id IN (
    SELECT member.id FROM retrieval_entity member
    WHERE COALESCE(member.canonical_entity_id, member.id) IN (
        SELECT COALESCE(entity.canonical_entity_id, entity.id)
        FROM retrieval_mention mention JOIN eligible ON eligible.id = mention.document_id
        JOIN retrieval_entity entity ON entity.id = mention.entity_id
        WHERE {condition}
    )
)"""

ORDERS = {
    "mentions": 'sum(members.mentions) DESC, min(entity.key) COLLATE "C", family',
    "name": 'min(entity.key) COLLATE "C", family',
}


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a reader looks for. None does not restrict."""

    name: str | None = None
    type: str | None = None
    document: UUID | None = None
    order: str = "mentions"


@dataclass(frozen=True, slots=True)
class Listed:
    """An entity of the list, with what of it is in scope."""

    face: Face
    mentions: int
    documents: int

    @property
    def type(self) -> str:
        """Its type in words."""
        return self.face.type.replace("_", " ")

    @property
    def also(self) -> tuple[str, ...]:
        """A few of its other names."""
        return (*self.face.spellings, *self.face.merged)[:_MOST_NAMES]


@dataclass(frozen=True, slots=True)
class Listing:
    """One page of the list, and how many entities all pages have."""

    entities: tuple[Listed, ...]
    total: int


def listing(wanted: Wanted, scope: RetrievalScope, *, page: int) -> Listing:
    """Return page number `page`, from 1, of the entities that passages in scope mention."""
    condition, parameters = _condition(wanted)
    rows = _rows(
        _PAGE.replace("{order}", ORDERS[wanted.order]),
        condition,
        scope,
        [*parameters, PAGE_SIZE, (page - 1) * PAGE_SIZE],
    )
    families = [family for family, _ in rows]
    known, counts = faces.known(families, scope), faces.counts(families, scope)
    entities = tuple(Listed(known[family], *counts[family]) for family in families if family in known)
    return Listing(entities, rows[0][1] if rows else 0)


def types(scope: RetrievalScope) -> list[tuple[str, int]]:
    """Return the types of the entities in scope and how many each has."""
    return [(name, count) for name, count in _rows(_TYPES, "TRUE", scope, [])]


def _condition(wanted: Wanted) -> tuple[str, list[Any]]:
    conditions: list[str] = []
    parameters: list[Any] = []
    if wanted.type is not None:
        conditions.append("mention.entity_id IN (SELECT id FROM retrieval_entity WHERE type = %s)")
        parameters.append(wanted.type)
    if wanted.name is not None:
        key = key_of(wanted.name)
        conditions.append(
            _FAMILY_OF.replace("{condition}", "mention.surface_key LIKE %s") if key else "FALSE"
        )
        parameters += [f"%{_literally(key)}%"] if key else []
    if wanted.document is not None:
        conditions.append(_FAMILY_OF.replace("{condition}", "mention.document_id = %s"))
        parameters.append(wanted.document)
    return " AND ".join(conditions) or "TRUE", parameters


def _literally(key: str) -> str:
    return key.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")


def _rows(
    statement: str, condition: str, scope: RetrievalScope, parameters: list[Any]
) -> list[tuple[Any, ...]]:
    if scope.denied:
        return []
    eligible, bound = Document.objects.eligible_sql(scope)
    with connection.cursor() as cursor:
        cursor.execute(
            statement.replace("{eligible}", eligible).replace("{wanted}", condition), [*bound, *parameters]
        )
        rows: list[tuple[Any, ...]] = cursor.fetchall()
    return rows
