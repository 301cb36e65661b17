"""Which sentences of a passage stand behind the sentences that cite it. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from answers.citations import find
from answers.terms import terms
from corpus.sentences import sentence_spans

Span = tuple[int, int]

_FEWEST_TERMS = 3
# Share of the citing sentence's content words that one sentence of the passage must hold.
_SHARED = 0.5
_LONGEST = 60_000


def cited_spans(body: str, citing: Iterable[str]) -> tuple[Span, ...]:
    """Return where in `body` the sentences are that `citing` sentences quote or tell of, in order.

    A citing sentence marks the sentences it repeats word for word; one that repeats none marks the
    sentence that shares most of its content words, when that is at least half of them.
    """
    if not body or len(body) > _LONGEST:
        return ()
    sentences = [(span, _plain(body[span[0] : span[1]])) for span in sentence_spans(body)]
    words = [frozenset(terms(text)) for _, text in sentences]
    found: set[Span] = set()
    for sentence in citing:
        quoted = _plain(_without_markers(sentence))
        wanted = frozenset(terms(quoted))
        if len(wanted) < _FEWEST_TERMS:
            continue
        repeated = {
            span
            for (span, text), own in zip(sentences, words, strict=True)
            if len(own) >= _FEWEST_TERMS and (text in quoted or quoted in text)
        }
        found |= repeated or _nearest(wanted, [span for span, _ in sentences], words)
    return tuple(sorted(found))


def _nearest(wanted: frozenset[str], spans: list[Span], words: list[frozenset[str]]) -> set[Span]:
    if not spans:
        return set()
    shares = [len(wanted & own) for own in words]
    best = max(range(len(spans)), key=lambda index: (shares[index], -index))
    return {spans[best]} if shares[best] >= max(_FEWEST_TERMS, _SHARED * len(wanted)) else set()


def _plain(text: str) -> str:
    return " ".join(text.split()).strip(" “”\"'>*-").rstrip(".")


def _without_markers(sentence: str) -> str:
    kept, place = [], 0
    for citation in find(sentence, []):
        kept.append(sentence[place : citation.start])
        place = citation.end
    return "".join([*kept, sentence[place:]])
