"""Passages that share the question's words, ranked by BM25 over the eligible passages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from corpus.models import Document
from retrieval.layers import keyword_query, keyword_rarity
from retrieval.layers.base import LayerRequest, Session
from retrieval.layers.keyword_rarity import AMONG_ELIGIBLE
from retrieval.layers.keyword_terms import EligibleSql, Term, Variant, columns, terms_of
from retrieval.types import RankedList, Scored

# Up to this many eligible passages, all of them are read; beyond, the index names the candidates.
READ_ALL_UP_TO = 6_000
# Candidates come from the rarest terms until about this many passages are gathered: a twentieth of the
# eligible ones, between these bounds. The index knows nothing of scopes, so that a narrow one reads more.
ENOUGH_CANDIDATES = (500, 2_500)
# The most promising candidates are scored with all terms.
SCORED = 600
# Fewer candidates than this, and more frequent terms are asked too.
_FEW = 200
# A term in more passages than this does not gather alone, but together with the next.
_COMMON = 5_000
_K1, _B = 1.2, 0.75
# A word in the title or section path counts as so many more in the text. Measured on six collections.
_HEADING = 2.0

# PostgreSQL has no function for how often a lexeme occurs, but with equal weights ts_rank of one lexeme is
# the sum of 1/n^2 up to its number of occurrences, over pi^2/6, and that can be solved for the number.
# ts_filter keeps everything: it is there to unpack the vector once instead of once a term.
_SCORED = """
WITH eligible AS MATERIALIZED ({eligible}),
asked AS MATERIALIZED (
    SELECT term, string_to_array(languages, ',') AS languages, query::tsquery AS query,
           heading::tsquery AS heading, times_asked, frequency
    FROM unnest(%s::int[], %s::text[], %s::text[], %s::text[], %s::int[], %s::int[])
        AS asked (term, languages, query, heading, times_asked, frequency)
),
candidate AS MATERIALIZED (
    SELECT chunk.id, rank_key, language, ts_filter(search_vector, '{{a,b,c,d}}') AS lexemes,
           search_length, {kept} AS kept
    FROM {source}
    WHERE {condition}
),
average AS MATERIALIZED (SELECT {average} AS length),
hit AS MATERIALIZED (
    SELECT id, rank_key, search_length, kept, term, times_asked, frequency,
           greatest(1, round(1 / (1.64493406685 * (1 - rank)) - 0.5))
           + CASE WHEN lexemes @@ heading THEN %s::float8 ELSE 0 END AS times
    FROM candidate JOIN asked ON lexemes @@ query AND language = ANY (languages)
    CROSS JOIN LATERAL (SELECT ts_rank('{{1,1,1,1}}', lexemes, query)::float8 AS rank) occurring
),
counted AS MATERIALIZED (SELECT term, count(*) AS frequency FROM hit GROUP BY term)
SELECT hit.id, sum(
    times_asked
    * ln(1 + (greatest(0, %s - passages) + 0.5::float8) / (passages + 0.5::float8))
    * times / (times + %s::float8 * (1 - %s::float8 + %s::float8 * hit.search_length / average.length))
    ORDER BY term
) AS score
FROM hit JOIN counted USING (term)
CROSS JOIN average
CROSS JOIN LATERAL (SELECT coalesce(hit.frequency, counted.frequency) AS passages) containing
WHERE hit.kept
GROUP BY hit.id, hit.rank_key
ORDER BY score DESC, hit.rank_key, hit.id
LIMIT %s
"""

_CHUNKS = "corpus_chunk chunk"
# By document and not by word: a word that is common outside the scope would lead there.
_OF_ELIGIBLE = """eligible CROSS JOIN LATERAL (
        SELECT id, rank_key, language, search_vector, search_length
        FROM corpus_chunk WHERE document_id = eligible.id OFFSET 0
    ) chunk"""
_LENGTH_OF_ALL = (
    "(SELECT avg(search_length) FROM corpus_chunk WHERE document_id IN (SELECT id FROM eligible))::float8"
)
_LENGTH_GIVEN = "(SELECT %s::float8)"


class KeywordLayer:
    """BM25 whose statistics know eligible passages only, so that nothing else moves a rank."""

    name = "keyword"

    def prepare(self, request: LayerRequest) -> keyword_query.KeywordQuery:
        """Read the question."""
        return keyword_query.parse(request.question)

    def candidates(
        self, request: LayerRequest, prepared: keyword_query.KeywordQuery, session: Session
    ) -> RankedList:
        """Return the passages that cover most of the question, rare words counting more."""
        eligible = Document.objects.eligible_sql(request.scope)
        terms, required = terms_of(prepared, eligible, session)
        reads_all = request.passages <= READ_ALL_UP_TO
        mode = "bm25" if reads_all else "bm25-rarest-first"
        if not terms:
            return RankedList(self.name, mode=mode)
        form = _Everything if reads_all else _RarestFirst
        search = form(request, terms, eligible, session)
        if required:
            found = search.with_one_of(required)
            if found:
                return RankedList.scored(self.name, found, f"{mode}, phrase")
            # Prose quotes what no passage says word by word: rank it like any other question.
        return RankedList.scored(self.name, search.with_any(), mode)


class _Search:
    """One question's terms, put to the eligible passages."""

    def __init__(
        self, request: LayerRequest, terms: list[Term], eligible: EligibleSql, session: Session
    ) -> None:
        self.request = request
        self.terms = terms
        self.eligible = eligible
        self.session = session

    def scored(self, candidates: _Candidates) -> Scored:
        """Return passages with their BM25."""
        asked = columns(self.terms, "number", "languages", "query", "heading", "times_asked", "frequency")
        statement = _SCORED.format(
            eligible=self.eligible[0],
            source=candidates.source,
            condition=candidates.condition,
            kept=candidates.kept,
            average=candidates.average,
        )
        formula = (_HEADING, self.request.passages, _K1, _B, _B, self.request.limit)
        rows = self.session.rows(statement, [*self.eligible[1], *asked, *candidates.parameters, *formula])
        return tuple((chunk_id, score) for chunk_id, score in rows)


class _Everything(_Search):
    """Reads every eligible passage with any of the terms: one statement can then count them itself."""

    def with_one_of(self, required: tuple[Variant, ...]) -> Scored:
        return self.scored(self._with_any_term(*_matches_one(required)))

    def with_any(self) -> Scored:
        return self.scored(self._with_any_term("true", ()))

    def _with_any_term(self, kept: str, parameters: tuple[Any, ...]) -> _Candidates:
        any_of = " | ".join(dict.fromkeys(variant.query for term in self.terms for variant in term.variants))
        return _Candidates(
            _OF_ELIGIBLE,
            "search_vector @@ %s::tsquery",
            kept,
            _LENGTH_OF_ALL,
            (*parameters, any_of),
        )


class _RarestFirst(_Search):
    """Reads the passages with the rarest terms; how frequent the others are is told by a sample."""

    def __init__(
        self, request: LayerRequest, terms: list[Term], eligible: EligibleSql, session: Session
    ) -> None:
        super().__init__(request, terms, eligible, session)
        # Where a common word's passages do not fit, the index names pages, and every passage there is read.
        session.set_local("work_mem", "64MB")
        self.average = keyword_rarity.estimate(terms, request.passages, eligible, session)

    def with_one_of(self, required: tuple[Variant, ...]) -> Scored:
        condition, parameters = _matches_one(required)
        return self.scored(
            _Candidates(
                _CHUNKS,
                f"{AMONG_ELIGIBLE} AND {condition}",
                "true",
                _LENGTH_GIVEN,
                (*parameters, self.average),
            )
        )

    def with_any(self) -> Scored:
        fewest, most = ENOUGH_CANDIDATES
        enough = min(most, max(fewest, self.request.passages // 20))
        rare, frequent = keyword_rarity.parted(self.terms, enough)
        chosen = self._promising(rare) if rare else []
        if len(chosen) < _FEW and frequent:
            chosen = [*chosen, *self._among(frequent)]
        parameters = (list(dict.fromkeys(chosen)), self.average)
        return self.scored(
            _Candidates(
                _CHUNKS,
                f"{AMONG_ELIGIBLE} AND chunk.id = ANY (%s::bigint[])",
                "true",
                _LENGTH_GIVEN,
                parameters,
            )
        )

    def _among(self, frequent: list[Term]) -> list[int]:
        """Return passages with the rarest of the terms, with several of them when each is in too many."""
        if (frequent[0].frequency or 0) > _COMMON:
            several = keyword_rarity.together(frequent, self.request.passages, most=_COMMON, least=_FEW)
            found = keyword_rarity.shortest_with_all(several, self.eligible, self.session, limit=SCORED)
            if len(found) >= _FEW:
                return found
        return self._promising(frequent[:1])

    def _promising(self, terms: list[Term]) -> list[int]:
        # What of BM25 is left when every term stands in a passage once.
        by_length = _K1 * _B / (1 + _K1 * (1 - _B)) / self.average
        return keyword_rarity.promising(
            terms, self.request.passages, self.eligible, self.session, by_length=by_length, limit=SCORED
        )


@dataclass(frozen=True, slots=True)
class _Candidates:
    """Which passages are scored, and which of those are kept: fragments of SQL and their parameters."""

    source: str
    condition: str
    kept: str
    average: str
    parameters: tuple[Any, ...]


def _matches_one(variants: Sequence[Variant]) -> tuple[str, tuple[Any, ...]]:
    one = "(search_vector @@ %s::tsquery AND language = ANY (string_to_array(%s, ',')))"
    parameters = tuple(value for variant in variants for value in (variant.query, variant.languages))
    return f"({' OR '.join([one] * len(variants))})", parameters
