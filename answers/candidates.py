"""What the extractive engine may quote: sentences of prose and rows of tables, each in its context. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from answers.quantities import normalise
from answers.terms import terms
from corpus.sentences import sentence_spans
from corpus.tables import cells

_FEWEST_WORDS = 4
_LONGEST = 700
_ROW = re.compile(r"^\s*\|.*\|\s*$")
_RULE = re.compile(r"^\s*\|(?:\s*:?-+:?\s*\|)+\s*$")
_BLOCK = re.compile(r"[^\n]+(?:\n(?!\s*\n)[^\n]+)*")
_BULLET = re.compile(r"\s*(?:[-*+•]|\d{1,3}[.)])\s+")
# Entries of reference lists, lines of contents and headers look like sentences and answer nothing.
_BIBLIOGRAPHY = re.compile(
    r"\bdoi\s*:|https?://doi|\b[A-Z][\w'-]+,? (?:[A-Z]\.\s?){1,3}(?:,|&|and\b).*\b(?:19|20)\d\d\b"
    r"|^\[?\d{1,3}[\].]+\s+[A-Z][\w'-]+,? (?:[A-Z]\.?){1,3}[,. ]"
    r"|\bet al\.,? \(?(?:19|20)\d\d\)?[.,] .*\d+\s?[(:]\s?\d+|\.{4,}"
)
# Sentences that order their reader about are no evidence for anything.
_ORDER = re.compile(
    r"\b(?:ignore|disregard|forget|override)\b.{0,30}\b(?:instructions?|prompts?|rules|orders|sources?)\b",
    re.IGNORECASE,
)
_ENDS = re.compile(r"[.!;…][\s\"'”’)\]\d,–-]*$")


@dataclass(frozen=True, slots=True)
class Evidence:
    """A numbered source as the engine reads it."""

    number: int
    body: str
    title: str = ""
    section_path: tuple[str, ...] = ()
    locator: str = ""


@dataclass(frozen=True, slots=True)
class Candidate:
    """Something to quote: `start` to `end` of the source's body, with the words around it.

    For a row of a table, `heads` are the lines of its header; `around` holds their words and the caption's.
    """

    source: Evidence
    start: int
    end: int
    words: frozenset[str]
    around: frozenset[str]
    heads: tuple[str, ...] = ()
    caption: str = ""

    @property
    def text(self) -> str:
        """The quoted words, exactly as the source has them."""
        return self.source.body[self.start : self.end]

    @property
    def reading(self) -> str:
        """The words in a form that makes sense alone, for the embedding model."""
        if not self.heads:
            return " ".join(self.text.split())
        named = zip(cells(self.heads[0].strip()), cells(self.text.strip()), strict=False)
        pairs = (f"{name}: {cell}".removeprefix(": ") for name, cell in named if cell)
        return f"{self.caption or self.source.locator}\n" + "; ".join(pairs)


def candidates(sources: Sequence[Evidence]) -> list[Candidate]:
    """Return everything quotable in `sources`, in order."""
    return [candidate for source in sources for candidate in _of(source)]


def _of(source: Evidence) -> Iterator[Candidate]:
    heading = frozenset(terms(" ".join([source.title, *source.section_path, source.locator])))
    blocks = [(match.start(), match.end()) for match in _BLOCK.finditer(source.body)]
    tables = [bool(_ROW.match(source.body[start:end].split("\n", 1)[0])) for start, end in blocks]
    for index, (start, end) in enumerate(blocks):
        if tables[index]:
            caption = source.body[slice(*blocks[index - 1])] if index else ""
            yield from _rows(source, (start, end), heading, " ".join(caption.split()))
        elif not any(tables[index + 1 : index + 2]):
            yield from _prose(source, start, end, heading)


def _prose(source: Evidence, start: int, end: int, heading: frozenset[str]) -> Iterator[Candidate]:
    spans = list(_sentences(source.body, start, end))
    words = [frozenset(terms(source.body[first:last])) for first, last in spans]
    for index, (first, last) in enumerate(spans):
        text = source.body[first:last]
        if not _quotable(text, words[index]):
            continue
        neighbours = words[index - 1] if index else frozenset()
        yield Candidate(source, first, last, words[index], heading | neighbours)


def _sentences(body: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the sentences of a block. What ends without a full stop is one only as an item of a list."""
    for first, last in _items(body, start, end):
        bullet = _BULLET.match(body, first, last)
        begin = bullet.end() if bullet else first
        for low, high in sentence_spans(body[begin:last]):
            if bullet or _ENDS.search(body, begin + low, begin + high):
                yield begin + low, begin + high


def _items(body: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the block, or each of its list items: a bullet begins a sentence whatever stands before."""
    begin = start
    for match in re.finditer(r"\n(?=\s*(?:[-*+•]|\d{1,3}[.)])\s)", body[start:end]):
        yield begin, start + match.start()
        begin = start + match.end()
    yield begin, end


def _quotable(text: str, words: frozenset[str]) -> bool:
    letters = sum(char.isalpha() for char in text)
    return (
        len(text) <= _LONGEST
        and len(text.split()) >= _FEWEST_WORDS
        and len(words) >= 2
        and letters * 2 >= len(text.replace(" ", ""))
        and not text.rstrip().endswith(("?", ":"))
        and not _BIBLIOGRAPHY.search(text)
        and not _ORDER.search(text)
    )


def _rows(
    source: Evidence, span: tuple[int, int], heading: frozenset[str], caption: str
) -> Iterator[Candidate]:
    lines = list(_lines(source.body, *span))
    rule = next((i for i, (a, b) in enumerate(lines) if _RULE.match(source.body[a:b])), None)
    heads = tuple(source.body[a:b] for a, b in lines[: rule + 1]) if rule else ()
    around = heading | frozenset(terms(normalise(" ".join([caption, *heads]))))
    for first, last in lines[rule + 1 :] if rule is not None else lines:
        text = source.body[first:last]
        if any(char.isalnum() for char in text) and len(text) <= _LONGEST:
            words = frozenset(terms(normalise(text)))
            yield Candidate(source, first, last, words, around, heads, caption)


def _lines(body: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    for match in re.finditer(r"[^\n]+", body[start:end]):
        yield start + match.start(), start + match.end()
