"""Passages that share the question's words, ranked by BM25 over the eligible passages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from corpus.models import Document
from corpus.search_text import CONFIGURATIONS
from retrieval.layers import keyword_query
from retrieval.layers.base import LayerRequest, Session
from retrieval.types import RankedList

# Up to this many eligible passages, all of them are read; beyond, the index names the candidates.
READ_ALL_UP_TO = 5_000
# Candidates come from the rarest terms until about this many passages are gathered.
ENOUGH_CANDIDATES = 2_500
# Counting a term stops here: what is more frequent says little either way.
COUNT_UP_TO = 3_000
_K1, _B = 1.2, 0.75
# A word in the title or section path counts as so many more in the text. Measured on six collections.
_HEADING = 2.0

# One row for each word and each language that eligible documents are written in. Position 0 is the
# filter of quoted phrases; stop words have no nodes.
_LEXEMES = """
WITH eligible AS MATERIALIZED ({eligible}),
spoken AS (
    SELECT coalesce(known.configuration, 'simple') AS configuration,
           string_agg(document.language, ',') AS languages
    FROM (SELECT DISTINCT language FROM corpus_document WHERE id IN (SELECT id FROM eligible)) document
    LEFT JOIN unnest(%s::text[], %s::text[]) AS known (language, configuration) USING (language)
    GROUP BY 1
),
asked AS (
    SELECT position, configuration, languages, CASE position
        WHEN 0 THEN websearch_to_tsquery(configuration::regconfig, word)
        ELSE plainto_tsquery(configuration::regconfig, word) END AS query
    FROM unnest(%s::int[], %s::text[]) AS word (position, word) CROSS JOIN spoken
)
SELECT position, languages, query::text FROM asked WHERE numnode(query) > 0 ORDER BY position, configuration
"""

# IS TRUE keeps the planner from turning the condition into a join that starts at the documents: here the
# full-text index is the way in, and being eligible is looked up in a hash table.
_AMONG_ELIGIBLE = "(chunk.document_id IN (SELECT id FROM eligible)) IS TRUE"

_FREQUENCIES = f"""
WITH eligible AS MATERIALIZED ({{eligible}})
SELECT term, (
    SELECT count(*) FROM (
        SELECT 1 FROM corpus_chunk chunk
        WHERE chunk.search_vector @@ asked.query::tsquery
          AND chunk.language = ANY (string_to_array(asked.languages, ','))
          AND {_AMONG_ELIGIBLE}
        LIMIT %s
    ) counted
)
FROM unnest(%s::int[], %s::text[], %s::text[]) AS asked (term, languages, query)
"""  # noqa: S608 - the constant above

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
    SELECT id, rank_key, language, ts_filter(search_vector, '{{a,b,c,d}}') AS lexemes,
           search_length, {kept} AS kept
    FROM corpus_chunk chunk
    WHERE {among} AND {condition}
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
SELECT hit.id
FROM hit JOIN counted USING (term)
CROSS JOIN average
CROSS JOIN LATERAL (SELECT coalesce(hit.frequency, counted.frequency) AS passages) containing
WHERE hit.kept
GROUP BY hit.id, hit.rank_key
ORDER BY sum(
    times_asked
    * ln(1 + (greatest(0, %s - passages) + 0.5::float8) / (passages + 0.5::float8))
    * times / (times + %s::float8 * (1 - %s::float8 + %s::float8 * hit.search_length / average.length))
    ORDER BY term
) DESC, hit.rank_key, hit.id
LIMIT %s
"""

_LENGTH_OF_ALL = (
    "(SELECT avg(search_length) FROM corpus_chunk WHERE document_id IN (SELECT id FROM eligible))::float8"
)
_LENGTH_OF_CANDIDATES = "(SELECT avg(search_length) FROM candidate)::float8"

EligibleSql = tuple[str, tuple[Any, ...]]


@dataclass(frozen=True, slots=True)
class _Variant:
    """A term as the languages that share a text search configuration write it."""

    languages: str
    query: str

    @property
    def in_heading(self) -> str:
        """The same, found in the title or section path. Printed lexemes are letters and digits in quotes."""
        return " & ".join(f"{lexeme}:A" for lexeme in self.query.split(" & "))


@dataclass(slots=True)
class _Term:
    """A word of the question; `frequency` is unknown until it is counted."""

    variants: tuple[_Variant, ...]
    times_asked: int = 0
    frequency: int | None = None


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
        terms, required = _terms(prepared, eligible, session)
        reads_all = request.passages <= READ_ALL_UP_TO
        mode = "bm25" if reads_all else "bm25-rarest-first"
        if not reads_all:
            terms = _counted(terms, eligible, session)
        if not terms:
            return RankedList(self.name, mode=mode)
        choose = _all if reads_all else _rarest
        if required:
            found = _scored(request, terms, choose(terms, required), eligible, session)
            if found:
                return RankedList(self.name, found, f"{mode}, phrase")
            # Prose quotes what no passage says word by word: rank it like any other question.
        return RankedList(self.name, _scored(request, terms, choose(terms, ()), eligible, session), mode)


def _terms(
    query: keyword_query.KeywordQuery, eligible: EligibleSql, session: Session
) -> tuple[list[_Term], tuple[_Variant, ...]]:
    """Return the terms in the languages of the eligible documents, equal stems as one, and the filter."""
    words = [query.required, *(text for text, _ in query.terms)]
    rows = session.rows(
        _LEXEMES.format(eligible=eligible[0]),
        [*eligible[1], list(CONFIGURATIONS), list(CONFIGURATIONS.values()), list(range(len(words))), words],
    )
    variants: dict[int, tuple[_Variant, ...]] = {}
    for position, languages, text in rows:
        variants[position] = (*variants.get(position, ()), _Variant(languages, text))
    required = variants.pop(0, ())
    terms: dict[tuple[_Variant, ...], _Term] = {}
    for position, forms in variants.items():
        terms.setdefault(forms, _Term(forms)).times_asked += query.terms[position - 1][1]
    return list(terms.values()), required


def _counted(terms: list[_Term], eligible: EligibleSql, session: Session) -> list[_Term]:
    """Return the terms that occur at all, with the number of eligible passages that have them."""
    rows = session.rows(
        _FREQUENCIES.format(eligible=eligible[0]),
        [*eligible[1], COUNT_UP_TO, *_columns(terms, "number", "languages", "query")],
    )
    for number, frequency in rows:
        terms[number].frequency = (terms[number].frequency or 0) + frequency
    return [term for term in terms if term.frequency]


def _columns(terms: Sequence[_Term], *names: str) -> list[list[Any]]:
    """Return arrays with one element per variant of each term."""
    flat = [(number, term, variant) for number, term in enumerate(terms) for variant in term.variants]
    columns: dict[str, list[Any]] = {
        "number": [number for number, _, _ in flat],
        "languages": [variant.languages for _, _, variant in flat],
        "query": [variant.query for _, _, variant in flat],
        "heading": [variant.in_heading for _, _, variant in flat],
        "times_asked": [term.times_asked for _, term, _ in flat],
        "frequency": [term.frequency for _, term, _ in flat],
    }
    return [columns[name] for name in names]


@dataclass(frozen=True, slots=True)
class _Candidates:
    """Which passages are scored, and which of those are kept: fragments of SQL and their parameters."""

    among: str
    condition: str
    kept: str
    average: str
    parameters: tuple[Any, ...]


def _all(terms: Sequence[_Term], required: tuple[_Variant, ...]) -> _Candidates:
    """Take every eligible passage with any of the terms: the statement can then count them itself."""
    kept, parameters = _matches_one(required) if required else ("true", ())
    return _Candidates(
        "chunk.document_id IN (SELECT id FROM eligible)",
        "search_vector @@ %s::tsquery",
        kept,
        _LENGTH_OF_ALL,
        (*parameters, _any_of(terms)),
    )


def _rarest(terms: Sequence[_Term], required: tuple[_Variant, ...]) -> _Candidates:
    """Take the passages with the required phrases or, without such, with one of the rarest terms."""
    if required:
        condition, parameters = _matches_one(required)
        return _Candidates(_AMONG_ELIGIBLE, condition, "true", _LENGTH_OF_CANDIDATES, parameters)
    chosen: list[_Term] = []
    gathered = 0
    for term in sorted(terms, key=lambda term: term.frequency or 0):
        gathered += term.frequency or 0
        if chosen and gathered > ENOUGH_CANDIDATES:
            break
        chosen.append(term)
    return _Candidates(
        _AMONG_ELIGIBLE, "search_vector @@ %s::tsquery", "true", _LENGTH_OF_CANDIDATES, (_any_of(chosen),)
    )


def _any_of(terms: Sequence[_Term]) -> str:
    return " | ".join(dict.fromkeys(variant.query for term in terms for variant in term.variants))


def _matches_one(variants: tuple[_Variant, ...]) -> tuple[str, tuple[Any, ...]]:
    one = "(search_vector @@ %s::tsquery AND language = ANY (string_to_array(%s, ',')))"
    parameters = tuple(value for variant in variants for value in (variant.query, variant.languages))
    return f"({' OR '.join([one] * len(variants))})", parameters


def _scored(
    request: LayerRequest,
    terms: Sequence[_Term],
    candidates: _Candidates,
    eligible: EligibleSql,
    session: Session,
) -> tuple[int, ...]:
    asked = _columns(terms, "number", "languages", "query", "heading", "times_asked", "frequency")
    statement = _SCORED.format(
        eligible=eligible[0],
        among=candidates.among,
        condition=candidates.condition,
        kept=candidates.kept,
        average=candidates.average,
    )
    formula = (_HEADING, request.passages, _K1, _B, _B, request.limit)
    rows = session.rows(statement, [*eligible[1], *asked, *candidates.parameters, *formula])
    return tuple(chunk_id for (chunk_id,) in rows)
