"""The engine that needs no model: it finds the sentences that answer the question and quotes them.

A candidate is scored by how much of the question it covers, each word weighted by its rarity among the
retrieved passages; by the similarity of its vector to the question's; by whether it has what kind of
answer the question asks for (a figure, a reason); and by the rank of its passage. The best few are quoted
word for word, each with its citation. When even the best says too little, the engine refuses.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal

import numpy as np
from numpy.typing import NDArray

from answers.candidates import Candidate, Evidence, candidates
from answers.quantities import figures
from answers.terms import terms

Embed = Callable[[Sequence[str]], NDArray[np.float32]]

# Chosen with benchmarks/extractive_threshold.py on the even-numbered of 240 shared PubMedQA questions, each
# asked once with its gold abstract in the corpus and once without. On the odd-numbered ones 0.50 answers
# 92 % of those whose abstract was retrieved, quotes it in 99 %, and refuses 83 % of the unanswerable.
WEIGHTS = {"coverage": 0.45, "similarity": 0.40, "kind": 0.10, "rank": 0.05}
THRESHOLD = 0.50
MOST_QUOTES = 3
# A further quotation must be nearly as good as the best one.
_NEARLY = 0.82
_LIKEST = 0.9
# Candidates that get a vector, so many of them kept for the first passage.
_EMBEDDED, _OF_FIRST = 48, 12
# What a word of the question counts that stands not in the candidate but in the head and caption of its
# table, around it, or elsewhere in its passage.
_IN_HEAD, _IN_CONTEXT, _IN_PASSAGE = 0.9, 0.6, 0.3

_ASKS_FIGURE = re.compile(
    r"\bhow (?:much|many|long|often|far|high|low|large|big|old|deep|hot|cold|fast|wide|heavy|tall|thick"
    r"|likely|small|thin|close|strong|efficient)\b"
    r"|\b(?:what|which) (?:[\w-]+ ){0,3}(?:percentage|percent|share|fraction|proportion|number|rate|ratio"
    r"|temperature|concentration|yield|amount|level|value|dose|cost|price|height|length|weight|depth|year|age"
    r"|size|content|duration|frequency|limit|efficiency|density|pressure|ph|speed|area|volume|mass|dimension"
    r"|radius|diameter|width|thickness|distance|range|gap|capacity|threshold|total)s?\b"
    r"|\bwhen\b|\bwie ?(?:viele?|hoch|lange|oft|gro(?:ß|ss))\b|\bcombien\b",
    re.IGNORECASE,
)
# Numbers that only name something: a figure or table, an entry of the reference list, the year of one.
_NAMING = re.compile(
    r"\b(?:fig(?:ure|s)?|tables?|eqs?|equations?|sections?|refs?|movies?|videos?|appendix)\b[.\s]*S?\d[\w.]*"
    r"|\[[\d\s,;\u2013-]+\]|\bet al\.?,? \(?\d{4}",
    re.IGNORECASE,
)
_ASKS_REASON = re.compile(r"\bwhy\b|\bhow come\b|\bwarum\b|\bpourquoi\b", re.IGNORECASE)
_GIVES_REASON = re.compile(
    r"\bbecause\b|\bsince\b|\bdue to\b|\bowing to\b|\bcaused? by\b|\bso that\b|\btherefore\b|\bas a result\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Scored:
    """A candidate and what speaks for it, each from 0 to 1. `similarity` is None without vectors."""

    candidate: Candidate
    coverage: float
    similarity: float | None
    kind: float
    rank: float

    @property
    def score(self) -> float:
        """The weighted mean of what is known."""
        values = {
            "coverage": self.coverage,
            "similarity": self.similarity,
            "kind": self.kind,
            "rank": self.rank,
        }
        known = {name: value for name, value in values.items() if value is not None}
        return sum(WEIGHTS[name] * value for name, value in known.items()) / sum(WEIGHTS[n] for n in known)


@dataclass(frozen=True, slots=True)
class Quote:
    """Words of one source: a span of prose, or rows of one table, whose `heads` they are read under."""

    source: Evidence
    spans: tuple[tuple[int, int], ...]
    heads: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Extraction:
    """The quotations that answer, best first; none when the sources say too little."""

    quotes: tuple[Quote, ...]
    confidence: float


def extract(question: str, sources: Sequence[Evidence], *, embed: Embed | None) -> Extraction:
    """Return the quotations from `sources` that answer `question`.

    `embed` gives unit vectors of texts, the question first; without it words alone decide.
    """
    ranked = rank(question, sources, embed=embed)
    return Extraction(tuple(choose(ranked)), ranked[0].score if ranked else 0.0)


def rank(question: str, sources: Sequence[Evidence], *, embed: Embed | None) -> list[Scored]:
    """Return the scored candidates of `sources`, best first."""
    asked = list(dict.fromkeys(terms(question)))
    found = candidates(sources)
    if not asked or not found:
        return []
    weights = _rarity(asked, sources)
    in_passage = {source.number: frozenset(terms(source.body)) for source in sources}
    coverage = [_coverage(candidate, weights, in_passage) for candidate in found]
    kept = _shortlist(found, coverage)
    similarity = _similarities(question, [found[i] for i in kept], embed)
    scored = [
        Scored(
            candidate=found[index],
            coverage=coverage[index],
            similarity=similarity[place],
            kind=_kind(question, found[index]),
            rank=1 - sources.index(found[index].source) / len(sources),
        )
        for place, index in enumerate(kept)
    ]
    return sorted(scored, key=lambda item: (-item.score, item.candidate.source.number, item.candidate.start))


def compose(quotes: Sequence[Quote]) -> list[str]:
    """Return the answer's Markdown in pieces, one for each quotation."""
    return [piece if index == 0 else f"\n\n{piece}" for index, piece in enumerate(map(_written, quotes))]


def _written(quote: Quote) -> str:
    texts = [quote.source.body[start:end] for start, end in quote.spans]
    if not quote.heads:
        return f"“{' '.join(' '.join(texts).split())}” [{quote.source.number}]"
    place = quote.source.locator or "A table"
    return "\n".join([f"{place} [{quote.source.number}]:", "", *quote.heads, *texts])


def _rarity(asked: Sequence[str], sources: Sequence[Evidence]) -> dict[str, float]:
    """Weight each word of the question by how few of the passages hold it; none holding it weighs most."""
    holding = Counter(
        word
        for source in sources
        for word in frozenset(terms(f"{source.title} {' '.join(source.section_path)} {source.body}"))
    )
    total = len(sources)
    return {word: math.log(1 + (total + 1) / (holding[word] + 0.5)) for word in asked}


def _coverage(
    candidate: Candidate, weights: dict[str, float], in_passage: dict[int, frozenset[str]]
) -> float:
    covered = 0.0
    for word, weight in weights.items():
        if word in candidate.words:
            covered += weight
        elif word in candidate.around:
            covered += weight * (_IN_HEAD if candidate.heads else _IN_CONTEXT)
        elif word in in_passage[candidate.source.number]:
            covered += weight * _IN_PASSAGE
    return covered / sum(weights.values())


def _shortlist(found: Sequence[Candidate], coverage: Sequence[float]) -> list[int]:
    """Return the candidates worth a vector: the best by words, and the first passage's, which ranked best."""
    by_words = sorted(range(len(found)), key=lambda index: (-coverage[index], index))
    first = [index for index, candidate in enumerate(found) if candidate.source is found[0].source]
    surest = _EMBEDDED - _OF_FIRST
    order = dict.fromkeys([*by_words[:surest], *first[:_OF_FIRST], *by_words[surest:]])
    return list(order)[:_EMBEDDED]


def _similarities(question: str, kept: Sequence[Candidate], embed: Embed | None) -> list[float | None]:
    if embed is None:
        return [None] * len(kept)
    vectors = embed([question, *(candidate.reading for candidate in kept)])
    return [max(0.0, float(value)) for value in vectors[1:] @ vectors[0]]


def _kind(question: str, candidate: Candidate) -> float:
    if _ASKS_FIGURE.search(question):
        return 1.0 if _figures(candidate.text) - _figures(question) else 0.0
    if _ASKS_REASON.search(question):
        return 1.0 if _GIVES_REASON.search(candidate.text) else 0.4
    return 0.7


def _figures(text: str) -> set[Decimal]:
    """Return the numbers of `text` that could be an answer: counted or measured, not part of a name."""
    found = figures(_NAMING.sub(" ", text))
    # "One" is hardly ever a count.
    return {quantity.value for quantity in found.quantities} | (found.words - {Decimal(0), Decimal(1)})


def choose(ranked: Sequence[Scored], *, threshold: float = THRESHOLD) -> list[Quote]:
    """Return what to quote of the best candidates: few, none twice, none far behind the best."""
    quotes: list[Quote] = []
    taken: list[frozenset[str]] = []
    for item in ranked:
        if len(quotes) == MOST_QUOTES or item.score < max(threshold, ranked[0].score * _NEARLY):
            break
        if any(_alike(item.candidate.words, words) for words in taken):
            continue
        taken.append(item.candidate.words)
        quotes.append(_quote(item.candidate))
    return _joined(quotes)


def _alike(one: frozenset[str], other: frozenset[str]) -> bool:
    return len(one & other) >= _LIKEST * min(len(one), len(other))


def _quote(candidate: Candidate) -> Quote:
    return Quote(candidate.source, ((candidate.start, candidate.end),), candidate.heads)


def _joined(quotes: list[Quote]) -> list[Quote]:
    """Put neighbouring sentences of one source, and rows of one table, into one quotation."""
    joined: list[Quote] = []
    for quote in quotes:
        for index, other in enumerate(joined):
            together = _together(quote, other)
            if together is not None:
                joined[index] = together
                break
        else:
            joined.append(quote)
    return joined


def _together(one: Quote, other: Quote) -> Quote | None:
    if one.source is not other.source or one.heads != other.heads:
        return None
    spans = tuple(sorted(one.spans + other.spans))
    if one.heads:
        return Quote(one.source, spans, one.heads)
    between = one.source.body[spans[0][1] : spans[-1][0]]
    if len(spans) > 2 or between.strip() or "\n\n" in between:
        return None
    return Quote(one.source, ((spans[0][0], spans[-1][1]),))
