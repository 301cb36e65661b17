"""The words of a question as the languages of the eligible passages write them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from corpus.search_text import CONFIGURATIONS
from retrieval.layers.base import Session
from retrieval.layers.keyword_query import KeywordQuery

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

EligibleSql = tuple[str, tuple[Any, ...]]


@dataclass(frozen=True, slots=True)
class Variant:
    """A term as the languages that share a text search configuration write it."""

    languages: str
    query: str

    @property
    def in_heading(self) -> str:
        """The same, found in the title or section path. Printed lexemes are letters and digits in quotes."""
        return " & ".join(f"{lexeme}:A" for lexeme in self.query.split(" & "))


@dataclass(slots=True)
class Term:
    """A word of the question; `frequency` is unknown until it is counted or estimated."""

    variants: tuple[Variant, ...]
    times_asked: int = 0
    frequency: int | None = None


def terms_of(
    query: KeywordQuery, eligible: EligibleSql, session: Session
) -> tuple[list[Term], tuple[Variant, ...]]:
    """Return the terms in the languages of the eligible documents, equal stems as one, and the filter."""
    words = [query.required, *(text for text, _ in query.terms)]
    rows = session.rows(
        _LEXEMES.format(eligible=eligible[0]),
        [*eligible[1], list(CONFIGURATIONS), list(CONFIGURATIONS.values()), list(range(len(words))), words],
    )
    variants: dict[int, tuple[Variant, ...]] = {}
    for position, languages, text in rows:
        variants[position] = (*variants.get(position, ()), Variant(languages, text))
    required = variants.pop(0, ())
    terms: dict[tuple[Variant, ...], Term] = {}
    for position, forms in variants.items():
        terms.setdefault(forms, Term(forms)).times_asked += query.terms[position - 1][1]
    return list(terms.values()), required


def columns(terms: Sequence[Term], *names: str) -> list[list[Any]]:
    """Return arrays with one element per variant of each term."""
    flat = [(number, term, variant) for number, term in enumerate(terms) for variant in term.variants]
    values: dict[str, list[Any]] = {
        "number": [number for number, _, _ in flat],
        "languages": [variant.languages for _, _, variant in flat],
        "query": [variant.query for _, _, variant in flat],
        "heading": [variant.in_heading for _, _, variant in flat],
        "times_asked": [term.times_asked for _, term, _ in flat],
        "frequency": [term.frequency for _, term, _ in flat],
    }
    return [values[name] for name in names]
