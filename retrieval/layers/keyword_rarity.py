"""Which words of a question are rare, and the passages that hold the rare ones, without reading the rest.

Everything here is a function of the eligible passages alone: the sample is taken among them, in an order
that their text decides, and what is counted are their rows.
"""

from __future__ import annotations

from collections.abc import Sequence

from retrieval.layers.base import Session
from retrieval.layers.keyword_terms import EligibleSql, Term, columns

# The sample: from so many documents, so many passages in all, and at least so many of each.
_DOCUMENTS, _PASSAGES, _OF_EACH = 200, 600, 3

# Documents in the order of their hashes are a random choice that the same corpus repeats. Passages are
# taken at equal steps, and each stands for the step after it.
_SAMPLED = """
WITH eligible AS MATERIALIZED ({eligible}),
asked AS MATERIALIZED (
    SELECT term, string_to_array(languages, ',') AS languages, query::tsquery AS query
    FROM unnest(%s::int[], %s::text[], %s::text[]) AS asked (term, languages, query)
),
chosen AS MATERIALIZED (
    SELECT id, chunk_count FROM corpus_document WHERE id IN (SELECT id FROM eligible)
    ORDER BY content_sha256 LIMIT %s
),
step AS MATERIALIZED (
    SELECT id, chunk_count,
           least(chunk_count, greatest(%s, ceil(%s::float8 / count(*) OVER ())::int)) AS taken
    FROM chosen
),
passage AS MATERIALIZED (
    SELECT found.*, chunk_count::float8 / taken AS stands_for
    FROM step CROSS JOIN LATERAL generate_series(0, taken - 1) AS place
    CROSS JOIN LATERAL (
        SELECT language, search_length, ts_filter(search_vector, '{{a,b,c,d}}') AS lexemes
        FROM corpus_chunk
        WHERE document_id = step.id AND ordinal = place::bigint * chunk_count / taken OFFSET 0
    ) found
)
SELECT term, sum(stands_for) FROM asked JOIN passage ON lexemes @@ query AND language = ANY (languages)
GROUP BY term
UNION ALL SELECT -1, sum(stands_for) FROM passage
UNION ALL SELECT -2, sum(stands_for * search_length) FROM passage
"""

# IS TRUE keeps the planner from turning the condition into a join that starts at the documents: here the
# full-text index is the way in, and being eligible is looked up in a hash table.
AMONG_ELIGIBLE = "(chunk.document_id IN (SELECT id FROM eligible)) IS TRUE"

# The passages with a rare term, as if each term stood in them once: that needs their rows and no words.
_PROMISING = f"""
WITH eligible AS MATERIALIZED ({{eligible}}),
found AS MATERIALIZED (
    SELECT asked.term, asked.times_asked, chunk.id, chunk.rank_key, chunk.search_length
    FROM unnest(%s::int[], %s::text[], %s::text[], %s::int[]) AS asked (term, languages, query, times_asked)
    CROSS JOIN LATERAL (
        SELECT id, rank_key, search_length FROM corpus_chunk chunk
        WHERE search_vector @@ asked.query::tsquery AND {AMONG_ELIGIBLE}
          AND language = ANY (string_to_array(asked.languages, ',')) OFFSET 0
    ) chunk
),
counted AS MATERIALIZED (SELECT term, count(*) AS frequency FROM found GROUP BY term),
promising AS (
    SELECT id FROM found JOIN counted USING (term)
    GROUP BY id, rank_key, search_length
    ORDER BY sum(times_asked * ln(1 + (greatest(0, %s - frequency) + 0.5::float8) / (frequency + 0.5::float8))
            ORDER BY term) / (1 + %s::float8 * search_length) DESC, rank_key, id
    LIMIT %s
)
SELECT NULL, term, frequency FROM counted UNION ALL SELECT id, NULL, NULL FROM promising
"""  # noqa: S608 - the constant above


_WITH_ALL = f"""
WITH eligible AS MATERIALIZED ({{eligible}})
SELECT chunk.id FROM unnest(%s::text[], %s::text[]) AS asked (languages, query)
CROSS JOIN LATERAL (
    SELECT id, rank_key, search_length FROM corpus_chunk chunk
    WHERE search_vector @@ asked.query::tsquery AND {AMONG_ELIGIBLE}
      AND language = ANY (string_to_array(asked.languages, ',')) OFFSET 0
) chunk
ORDER BY search_length, rank_key, id LIMIT %s
"""  # noqa: S608


def estimate(terms: Sequence[Term], passages: int, eligible: EligibleSql, session: Session) -> float:
    """Set how many of the eligible `passages` have each term, from a sample; return their mean length."""
    rows = session.rows(
        _SAMPLED.format(eligible=eligible[0]),
        [*eligible[1], *columns(terms, "number", "languages", "query"), _DOCUMENTS, _OF_EACH, _PASSAGES],
    )
    sums: dict[int, float] = {number: total or 0.0 for number, total in rows}
    sampled = sums[-1] or 1.0
    for number, term in enumerate(terms):
        term.frequency = round(sums.get(number, 0.0) * passages / sampled)
    return max(1.0, sums[-2] / sampled)


def parted(terms: Sequence[Term], enough: int) -> tuple[list[Term], list[Term]]:
    """Return the rarest terms, as many as about `enough` passages have, and the others, rarest first."""
    ordered = sorted(terms, key=lambda term: term.frequency or 0)
    gathered = 0
    for place, term in enumerate(ordered):
        gathered += term.frequency or 0
        if gathered > enough:
            return ordered[:place], ordered[place:]
    return ordered, []


def together(terms: Sequence[Term], passages: int, *, most: int, least: int) -> list[Term]:
    """Return the first of `terms` that about `most` passages have in common, and no fewer than `least`.

    As many as there would be if the words came independently of one another; in truth there are more.
    """
    chosen, common = list(terms[:1]), float(terms[0].frequency or 0)
    for term in terms[1:]:
        common *= (term.frequency or 0) / passages
        if common < least:
            break
        chosen.append(term)
        if common <= most:
            break
    return chosen


def promising(
    terms: Sequence[Term],
    passages: int,
    eligible: EligibleSql,
    session: Session,
    *,
    by_length: float,
    limit: int,
) -> list[int]:
    """Return the passages that cover most of `terms`, the best `limit`; set the terms' exact frequencies."""
    rows = session.rows(
        _PROMISING.format(eligible=eligible[0]),
        [
            *eligible[1],
            *columns(terms, "number", "languages", "query", "times_asked"),
            passages,
            by_length,
            limit,
        ],
    )
    for term in terms:
        term.frequency = 0
    for _, number, frequency in rows:
        if number is not None:
            terms[number].frequency = frequency
    return [chunk_id for chunk_id, _, _ in rows if chunk_id is not None]


def shortest_with_all(
    terms: Sequence[Term], eligible: EligibleSql, session: Session, *, limit: int
) -> list[int]:
    """Return the passages that have all of `terms`, the shortest `limit`."""
    queries: dict[str, list[str]] = {}
    for term in terms:
        for variant in term.variants:
            queries.setdefault(variant.languages, []).append(variant.query)
    rows = session.rows(
        _WITH_ALL.format(eligible=eligible[0]),
        [*eligible[1], list(queries), [" & ".join(all_of) for all_of in queries.values()], limit],
    )
    return [chunk_id for (chunk_id,) in rows]
