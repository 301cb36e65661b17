"""What plain code notices about each sentence of an answer. Pure; nothing is changed or removed.

Per sentence, in this order: it cites a number that was not retrieved; it holds a figure that no cited
source holds; it cites nothing; its cited sources say little of it; or it is supported. The first two may
both be noticed. Headings, questions, lead-ins that end in a colon and the plain statement that the
sources say nothing claim nothing, and get no finding.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from answers.citations import Citation, find, quotations, without_code
from answers.quantities import Figures, figures, missing
from answers.terms import terms
from corpus.sentences import sentence_spans, sentences

# Share of a sentence's content words that its cited sources must hold. Copied sentences hold all of
# them, paraphrases about three quarters; sentences cited to another passage a third.
_SUPPORT = 0.5
# A sentence is a copy when nearly all its words stand in one sentence of a source and the reverse.
# Its figures are then held against that sentence: elsewhere in a passage any digit occurs by chance.
_COPY, _COPIED = 0.95, 0.8
_SHORTEST_COPY = 5
_DETAIL_LENGTH = 300
_BLOCK = re.compile(r"[^\n]+(?:\n(?![^\S\n]*\n)(?!\s{0,3}(?:[-*+•]|\d{1,3}[.)])\s|\s{0,3}#)[^\n]+)*")
_LEADER = re.compile(r"\s*(?:>\s?)*(?:(?:[-*+•]|\d{1,3}[.)])\s+)?")
_HEADING = re.compile(r"\s{0,3}#{1,6}\s")
_TABLE_ROW = re.compile(r"\s*\|.*\|\s*$", re.DOTALL)
_NO_CLAIM = re.compile(
    r"^(?:the|these|none of the)\s+(?:\w+\s+)?(?:sources?|passages?|documents?)\s+(?:found\s+)?"
    r"(?:(?:do|does|did)\s+not|say|says|contains?|answers?)\b",
    re.IGNORECASE,
)
_BEHIND_A_QUOTATION = re.compile(r"[”\"“»]\s?(?:[\[［【][^\]］】\n]*[\]］】]\s?)*")
_NEAR = 80
_ONLY_MARKERS = re.compile(r"[\s.,;:!?()]*$")


class FindingKind(StrEnum):
    """The codes that are stored; the same as `answers.models.Finding.Kind`."""

    SUPPORTED = "supported"
    NUMBER_NOT_IN_SOURCE = "number_not_in_source"
    CITES_UNRETRIEVED = "cites_unretrieved"
    UNCITED = "uncited"
    WEAK_SUPPORT = "weak_support"


@dataclass(frozen=True, slots=True)
class SourceText:
    """What may support a sentence: the passage, and around it its title, section and locator."""

    body: str
    around: str = ""


@dataclass(frozen=True, slots=True)
class SentenceFinding:
    """One finding. `start` and `end` are offsets into the stored text."""

    sentence: int
    start: int
    end: int
    kind: FindingKind
    numbers: tuple[int, ...] = ()
    detail: str = ""


@dataclass(frozen=True, slots=True)
class _Sentence:
    start: int
    end: int
    citations: tuple[Citation, ...]


def check(text: str, sources: Sequence[SourceText]) -> tuple[SentenceFinding, ...]:
    """Return the findings of every sentence of `text` that claims something; `sources` count from 1."""
    bodies = [source.body for source in sources]
    found_there = find(text, bodies)
    whole = _inside_quotations(text, bodies, found_there)
    citations = sorted([*found_there, *whole], key=lambda citation: citation.start)
    visible = without_code(text)
    support = _Support(sources)
    found: list[SentenceFinding] = []
    for index, sentence in enumerate(_sentences(visible, citations)):
        found += _check_sentence(index, sentence, visible, support)
    return tuple(found)


def _inside_quotations(text: str, bodies: Sequence[str], found: Sequence[Citation]) -> Iterator[Citation]:
    """Yield the citation behind a quotation of several sentences once for each that ends inside it.

    A quotation is cited as a whole. Its own words are held against the passage like any others.
    """
    for quotation in quotations(text, bodies):
        near = (c for c in found if 0 < c.start - quotation.end < _NEAR)
        behind = [c for c in near if _BEHIND_A_QUOTATION.fullmatch(text[quotation.end : c.start])]
        spans = sentence_spans(text[quotation.start : quotation.end]) if behind else []
        for _, last in spans[:-1]:
            place = quotation.start + last - 1
            yield from (Citation(place, place, c.numbers, c.unknown) for c in behind)


class _Support:
    """The words and figures of sets of sources, worked out once for each set."""

    def __init__(self, sources: Sequence[SourceText]) -> None:
        self._sources = sources
        self._known: dict[tuple[int, ...], tuple[Figures, frozenset[str]]] = {}
        self._sentences: dict[int, list[tuple[str, frozenset[str]]]] = {}

    def of(self, numbers: tuple[int, ...]) -> tuple[Figures, frozenset[str]]:
        if numbers not in self._known:
            chosen = [self._sources[number - 1] for number in numbers]
            text = "\n".join(f"{source.around}\n{source.body}" for source in chosen)
            self._known[numbers] = figures(text), frozenset(terms(text))
        return self._known[numbers]

    def copied_from(self, said: str, numbers: tuple[int, ...]) -> Figures | None:
        """Return the figures of the source's sentence that `said` copies, if it copies one."""
        own = _words(said)
        if len(own) < _SHORTEST_COPY:
            return None
        for number in numbers:
            for sentence, words in self._sentences_of(number):
                shared = len(own & words)
                if shared >= _COPY * len(own) and shared >= _COPIED * len(words):
                    return figures(sentence)
        return None

    def _sentences_of(self, number: int) -> list[tuple[str, frozenset[str]]]:
        if number not in self._sentences:
            found = sentences(self._sources[number - 1].body)
            self._sentences[number] = [(sentence, _words(sentence)) for sentence in found]
        return self._sentences[number]


def _words(text: str) -> frozenset[str]:
    return frozenset(term for term in terms(text) if not any(char.isdigit() for char in term))


def _check_sentence(
    index: int, sentence: _Sentence, visible: str, support: _Support
) -> Iterator[SentenceFinding]:
    numbers = tuple(sorted({number for c in sentence.citations for number in c.numbers}))
    unknown = tuple(dict.fromkeys(number for c in sentence.citations for number in c.unknown))
    said = _without_markers(visible, sentence)

    def finding(kind: FindingKind, detail: str = "") -> SentenceFinding:
        every = numbers + unknown if kind is FindingKind.CITES_UNRETRIEVED else numbers
        return SentenceFinding(index, sentence.start, sentence.end, kind, every, detail[:_DETAIL_LENGTH])

    if unknown:
        yield finding(FindingKind.CITES_UNRETRIEVED, ", ".join(f"[{number}]" for number in unknown))
    if not numbers:
        if not unknown:
            yield finding(FindingKind.UNCITED)
        return
    counted, words = support.of(numbers)
    counted_here = figures(said)
    absent = missing(counted_here, counted)
    if not absent and counted_here.quantities and (original := support.copied_from(said, numbers)):
        absent = missing(counted_here, original, copied=True)
    if absent:
        yield finding(FindingKind.NUMBER_NOT_IN_SOURCE, ", ".join(absent))
    elif not unknown:
        yield finding(FindingKind.SUPPORTED if _shares_words(said, words) else FindingKind.WEAK_SUPPORT)


def _shares_words(said: str, words: frozenset[str]) -> bool:
    own = set(terms(said))
    return not own or len(own & words) >= _SUPPORT * len(own)


def _without_markers(visible: str, sentence: _Sentence) -> str:
    kept, position = [], sentence.start
    for citation in sentence.citations:
        kept.append(visible[position : citation.start])
        position = citation.end
    return " ".join([*kept, visible[position : sentence.end]])


def _sentences(visible: str, citations: Sequence[Citation]) -> Iterator[_Sentence]:
    """Yield the sentences that claim something, with their citations.

    A table is one sentence with the lead-in before it, which is where its citation stands.
    """
    lead_in: tuple[int, int] | None = None
    for start, end in _blocks(visible):
        block = visible[start:end]
        if _TABLE_ROW.match(block):
            yield _with_citations(lead_in[0] if lead_in else start, end, citations)
            lead_in = None
            continue
        lead_in = None
        for first, last in _spans(visible, start, end):
            sentence = _with_citations(first, last, citations)
            words = _without_markers(visible, sentence).strip(" *_")
            if words.endswith(":"):
                lead_in = (first, last)
            elif not _claims_nothing(words):
                yield sentence


def _blocks(visible: str) -> Iterator[tuple[int, int]]:
    for match in _BLOCK.finditer(visible):
        if match.group().strip() and not _HEADING.match(match.group()):
            yield match.start(), match.end()


def _spans(visible: str, start: int, end: int) -> list[tuple[int, int]]:
    """Return the sentences of one block; markers that follow a full stop belong to what they follow."""
    leader = _LEADER.match(visible, start, end)
    start = leader.end() if leader else start
    spans: list[tuple[int, int]] = []
    for first, last in sentence_spans(visible[start:end]):
        piece = visible[start + first : start + last]
        if spans and _ONLY_MARKERS.match(re.sub(r"[\[［【][^\]］】]*[\]］】]", "", piece)):
            spans[-1] = (spans[-1][0], start + last)
        else:
            spans.append((start + first, start + last))
    return spans


def _with_citations(start: int, end: int, citations: Sequence[Citation]) -> _Sentence:
    return _Sentence(start, end, tuple(c for c in citations if start <= c.start < end))


def _claims_nothing(words: str) -> bool:
    return words.endswith("?") or not any(char.isalnum() for char in words) or bool(_NO_CLAIM.match(words))
