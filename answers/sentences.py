"""Sentences of prose as character spans: of passages that are quoted and of answers that are checked."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from nupunkt import sent_spans

# Abbreviations of scientific prose that the general model takes for the end of a sentence: those that
# never end one, and those that do not when a number follows.
_START = r"(?:^|[\s(\[“\"])"
_NEVER_LAST = re.compile(
    _START + r"(?:approx|ca|cf|diam|e\.g|et al|i\.e|incl|resp|spp?|ssp|subsp|var|viz|vs)\.\s*$", re.IGNORECASE
)
_BEFORE_A_NUMBER = re.compile(
    _START + r"(?:alg|ch|chap|def|eqn?s?|exp|figs?|nos?|pp?|props?|refs?|sect?|suppl|tabs?|vol|wt)\.\s*$",
    re.IGNORECASE,
)
# The general model also knows abbreviations ("rest.", "sun.") that are words far more often.
_CERTAIN_END = re.compile(r"[a-z]{3}\.(\s+)(?=[A-Z][a-z ])")
_ET_AL = re.compile(r"\bet al\.\s*$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Span:
    """Part of a text, from `start` up to and without `end`."""

    start: int
    end: int

    def of(self, text: str) -> str:
        """Return the part of `text` that the span covers."""
        return text[self.start : self.end]


def sentences(text: str, *, start: int = 0, end: int | None = None) -> list[Span]:
    """Return the sentences of `text` between `start` and `end`, trimmed of surrounding space, in order."""
    part = text[start:end]
    found: list[Span] = []
    for first, last in _cuts(part):
        if found and _continues(part, found[-1], first):
            found[-1] = Span(found[-1].start, last)
        else:
            found.append(Span(first, last))
    return [shifted for span in found if (shifted := _trimmed(part, span, start))]


def _cuts(text: str) -> Iterator[tuple[int, int]]:
    for first, last in sent_spans(text):
        begin = first
        for match in _CERTAIN_END.finditer(text, first, last):
            if match.end() < last:
                yield begin, match.start(1)
                begin = match.end()
        yield begin, last


def _continues(text: str, before: Span, start: int) -> bool:
    """Say whether the cut at `start` only follows an abbreviation."""
    said = text[max(before.start, before.end - 16) : before.end]
    following = text[start : start + 2].lstrip()
    if _ET_AL.search(said):
        return not following[:1].isupper()
    if _BEFORE_A_NUMBER.search(said):
        return following[:1].isdigit() or following[:1] == "S"
    return _NEVER_LAST.search(said) is not None


def _trimmed(text: str, span: Span, shift: int) -> Span | None:
    start, end = span.start, span.end
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return Span(shift + start, shift + end) if end > start else None


def paragraphs(text: str) -> Iterator[Span]:
    """Yield the parts of `text` that blank lines separate."""
    for match in re.finditer(r"[^\n]+(?:\n[^\S\n]*[^\s][^\n]*)*", text):
        if match.group().strip():
            yield Span(match.start(), match.end())
