"""Sentences to mark inside a passage: as offsets in a link, and back as pieces of the text. Pure.

A link carries offsets and no words, so that nothing of a document stands in addresses and logs. Only
whole sentences of the passage are marked: an address made by hand cannot tear words out of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from corpus.sentences import sentence_spans

Span = tuple[int, int]

MOST = 20
_WRITTEN = re.compile(r"(\d{1,7})-(\d{1,7})")


@dataclass(frozen=True, slots=True)
class Part:
    """A stretch of text that is marked or not."""

    text: str
    is_marked: bool


def write(spans: Iterable[Span]) -> str:
    """Return spans as they stand in a link.

    >>> write([(0, 12), (40, 71)])
    '0-12.40-71'
    """
    return ".".join(f"{start}-{end}" for start, end in spans)


def read(written: str, text: str) -> tuple[Span, ...]:
    """Return the spans of a link that are sentences of `text`, in order, none twice."""
    found = {(int(start), int(end)) for start, end in _WRITTEN.findall(written[: MOST * 16])}
    if not found:
        return ()
    return tuple(sorted(found & set(sentence_spans(text))))[:MOST]


def around(written: str, text: str) -> tuple[Span, ...]:
    """Return the sentences of `text` that the spans of a link lie in, in order: whole ones only."""
    named = [(int(start), int(end)) for start, end in _WRITTEN.findall(written[: MOST * 16])]
    if not named:
        return ()
    spans = sentence_spans(text)
    return tuple(one for one in spans if any(one[0] < end and start < one[1] for start, end in named))[:MOST]


def parts(text: str, spans: Sequence[Span]) -> list[Part]:
    """Return `text` cut at the ends of `spans`, which are in order and do not overlap."""
    cut: list[Part] = []
    place = 0
    for start, end in spans:
        cut += [Part(text[place:start], is_marked=False), Part(text[start:end], is_marked=True)]
        place = end
    return [part for part in [*cut, Part(text[place:], is_marked=False)] if part.text]
