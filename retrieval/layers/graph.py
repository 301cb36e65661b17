"""Passages reached by walking the knowledge graph from the entities that a question names.

Every statement reads the rows of eligible documents only: a name seeds the walk, an edge extends it and a
passage ends it when a passage in scope says so, and caps count such rows alone. What is out of scope can
therefore neither seed, extend nor contribute.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from corpus.domain_profile import GraphProfile, active_profile
from corpus.gateways.llm import ModelError
from corpus.models import Document
from retrieval.graph import question_names, walk
from retrieval.graph.walk import Edge, Reached
from retrieval.layers.base import LayerRequest, Session
from retrieval.types import RankedList

_BEGIN = "WITH eligible AS MATERIALIZED ({eligible})"

_EXACT_SEEDS = (
    _BEGIN
    + """
SELECT DISTINCT COALESCE(entity.canonical_entity_id, entity.id), mention.surface_key
FROM retrieval_mention mention
JOIN eligible ON eligible.id = mention.document_id
JOIN retrieval_entity entity ON entity.id = mention.entity_id
WHERE mention.surface_key = ANY(%s)
ORDER BY 1, 2
LIMIT %s
"""
)

# For words that no name matched: names that differ by a letter or two.
_NEAR_SEEDS = (
    _BEGIN  # noqa: S608 - constants
    + """
, near AS (
    SELECT COALESCE(entity.canonical_entity_id, entity.id) AS id,
           similarity(mention.surface_key, gram.gram) AS likeness
    FROM unnest(%s::text[]) AS gram(gram)
    JOIN retrieval_mention mention ON mention.surface_key %% gram.gram
    JOIN eligible ON eligible.id = mention.document_id
    JOIN retrieval_entity entity ON entity.id = mention.entity_id
)
SELECT id FROM near WHERE likeness >= %s GROUP BY id ORDER BY max(likeness) DESC, id LIMIT %s
"""
)

_EDGES = (
    _BEGIN
    + """
SELECT edge.source_id, edge.target_id, max(edge.confidence)
FROM retrieval_relationship edge JOIN eligible ON eligible.id = edge.document_id
WHERE (edge.source_id = ANY(%s) OR edge.target_id = ANY(%s)) AND edge.confidence >= %s
GROUP BY edge.source_id, edge.target_id
ORDER BY max(edge.confidence) DESC, count(*) DESC, edge.source_id, edge.target_id
LIMIT %s
"""
)

_MENTIONS = (
    _BEGIN
    + """
SELECT DISTINCT mention.chunk_id, chunk.rank_key, COALESCE(entity.canonical_entity_id, entity.id)
FROM retrieval_mention mention
JOIN eligible ON eligible.id = mention.document_id
JOIN retrieval_entity entity ON entity.id = mention.entity_id
JOIN corpus_chunk chunk ON chunk.id = mention.chunk_id
WHERE entity.id = ANY(%s) OR entity.canonical_entity_id = ANY(%s)
ORDER BY chunk.rank_key, mention.chunk_id, 3
LIMIT %s
"""
)

# One step along resolved references in either direction, to passages that speak of what was walked to.
_CITED = (
    _BEGIN  # noqa: S608 - constants
    + """
, walked AS (SELECT DISTINCT document_id AS id FROM corpus_chunk WHERE id = ANY(%s)),
beside AS (
    SELECT held.id FROM walked
    JOIN corpus_documentcitation reference ON reference.citing_id = walked.id
    JOIN corpus_document held ON held.doi_normalised = reference.doi_normalised AND held.id <> walked.id
    WHERE reference.doi_normalised <> ''
    UNION
    SELECT reference.citing_id FROM walked
    JOIN corpus_document cited ON cited.id = walked.id AND cited.doi_normalised <> ''
    JOIN corpus_documentcitation reference ON reference.doi_normalised = cited.doi_normalised
    WHERE reference.citing_id <> walked.id
)
SELECT mention.chunk_id
FROM beside JOIN eligible ON eligible.id = beside.id
JOIN retrieval_mention mention ON mention.document_id = beside.id
JOIN retrieval_entity entity ON entity.id = mention.entity_id
JOIN corpus_chunk chunk ON chunk.id = mention.chunk_id
WHERE (entity.id = ANY(%s) OR entity.canonical_entity_id = ANY(%s)) AND NOT mention.chunk_id = ANY(%s)
GROUP BY mention.chunk_id, chunk.rank_key
ORDER BY count(DISTINCT entity.id) DESC, chunk.rank_key, mention.chunk_id
LIMIT %s
"""
)

# Two letters exchanged in a name of twelve still leave 0.53 of its trigrams.
_ALIKE = 0.5
_MOST_SEEDS = 40
_MOST_NEAR = 10
_MOST_EDGES = 300
_MOST_MENTIONS = 4_000


@dataclass(frozen=True, slots=True)
class Named:
    """What a model named in the question, or why it could not."""

    names: tuple[str, ...] = ()
    failure: ModelError | None = None


class GraphLayer:
    """Walks at most two edges from what the question names and hands over the passages it comes by."""

    name = "graph"

    def prepare(self, request: LayerRequest) -> Named:
        """Return the names that a fast model finds in the question, beside those of its own words."""
        if not _options(request).name_with_model:
            return Named()
        try:
            return Named(question_names.named_by_model(request.question))
        except ModelError as failure:
            return Named(failure=failure)

    def candidates(self, request: LayerRequest, prepared: Named, session: Session) -> RankedList:
        """Return eligible passages by distance from the question; the mode says whether a cap was met.

        Where the question's own words lead nowhere, a model that failed to name it is an error.
        """
        options = _options(request)
        walking = _Walk(request, session, options, prepared.names)
        reached = walking.reached()
        if not reached and prepared.failure is not None:
            raise prepared.failure
        if not reached:
            return RankedList(self.name)
        rows = walking.mentions(reached)
        found = walk.order(reached, rows, limit=request.limit, by_strength=options.strongest_path)
        if options.citation_hop and len(found) < request.limit:
            found += walking.cited(found, reached, most=request.limit - len(found))
        remarks = {"capped": walking.is_capped, "no names by a model": prepared.failure is not None}
        mode = ", ".join(["walk", *(words for words, applies in remarks.items() if applies)])
        return RankedList(self.name, found, mode)


def _options(request: LayerRequest) -> GraphProfile:
    return active_profile().graph_walk if request.walk is None else request.walk


class _Walk:
    """One walk: its statements share the scope, and it remembers whether a cap cut one of them."""

    def __init__(
        self, request: LayerRequest, session: Session, options: GraphProfile, names: Sequence[str]
    ) -> None:
        self._keys = walk.grams(request.question)
        self._names = names
        self._session = session
        self._options = options
        self._eligible, self._parameters = Document.objects.eligible_sql(request.scope)
        self.is_capped = False

    def ask(self, statement: str, parameters: list[Any], *, most: int) -> list[tuple[Any, ...]]:
        """Return at most `most` rows and note when there were more."""
        rows = self._session.rows(
            statement.format(eligible=self._eligible), [*self._parameters, *parameters, most + 1]
        )
        self.is_capped = self.is_capped or len(rows) > most
        return rows[:most]

    def reached(self) -> dict[UUID, Reached]:
        """Return the entities within two edges of the question, none when it names nothing in scope."""
        reached = {entity: Reached(0, 1.0) for entity in self._seeds()}
        for hops in range(1, walk.HOPS + 1):
            frontier = [entity for entity, one in reached.items() if one.hops == hops - 1]
            if not frontier:
                break
            least = self._options.min_confidence
            rows = self.ask(_EDGES, [frontier, frontier, least], most=_MOST_EDGES)
            edges: list[Edge] = [(source, target, confidence) for source, target, confidence in rows]
            reached = walk.step(reached, edges, hops=hops)
        return reached

    def mentions(self, reached: dict[UUID, Reached]) -> list[tuple[Any, ...]]:
        """Return which passages mention which entities. Each distance has rows of its own to be cut."""
        found: list[tuple[Any, ...]] = []
        for hops in range(walk.HOPS + 1):
            level = [entity for entity, one in reached.items() if one.hops == hops]
            found += self.ask(_MENTIONS, [level, level], most=_MOST_MENTIONS) if level else []
        return found

    def cited(self, found: tuple[int, ...], reached: dict[UUID, Reached], *, most: int) -> tuple[int, ...]:
        """Return passages one reference away from those of `found`."""
        rows = self.ask(_CITED, [list(found), list(reached), list(reached), list(found)], most=most)
        return tuple(chunk for (chunk,) in rows)

    def _seeds(self) -> list[UUID]:
        keys = list(dict.fromkeys([*self._keys, *self._names]))
        if not keys:
            return []
        exact = self.ask(_EXACT_SEEDS, [keys], most=_MOST_SEEDS)
        found = dict.fromkeys(entity for entity, _ in exact)
        others = [key for key in walk.uncovered(self._keys, [key for _, key in exact]) if len(key) >= 5]
        if others and not found:
            near = self.ask(_NEAR_SEEDS, [others, _ALIKE], most=_MOST_NEAR)
            found.update(dict.fromkeys(entity for (entity,) in near))
        return list(found)
