"""Words of passages as the pages of the graph show them: with where they stand and what to know of it."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import F
from django.db.models.expressions import Combinable

from corpus import browsing, sentence_marks
from corpus.models import Chunk, Document
from corpus.sentence_marks import Span
from corpus.sentences import sentence_spans
from retrieval.graph import faces

_LONGEST_SENTENCE = 600
_UNREAD = "content search_vector search_heading search_body boxes document__extra".split()


@dataclass(frozen=True, slots=True)
class Quoted:
    """Words of a passage. `at` names their place for the passage's page; `marked` are spans of `text`."""

    passage: Chunk
    text: str
    at: str
    badges: tuple[str, ...]
    marked: tuple[Span, ...] = ()

    @property
    def document(self) -> Document:
        """Where the words stand."""
        return self.passage.document


def quoted(chunk: Chunk, text: str, start: int) -> Quoted:
    """Return words that stand in a passage at `start`."""
    return Quoted(chunk, faces.shown(text), _at(start, start + len(text)), _badges(chunk))


def around(chunk: Chunk, words: str, start: int) -> Quoted:
    """Return the sentence that words of a passage stand in, in a table the row, with the words marked."""
    end = min(start + len(words), len(chunk.body))
    first, last = _readable(chunk, start, end)
    before, after = chunk.body[first:start], chunk.body[end:last]
    if chunk.is_table:
        before, after = before.lstrip("| "), after.rstrip("| ")
    lead = faces.shown(before) + (" " if before[-1:].isspace() else "")
    text = faces.shown(chunk.body[start:end])
    tail = (" " if after[:1].isspace() else "") + faces.shown(after)
    marked = ((len(lead), len(lead) + len(text)),)
    return Quoted(chunk, lead + text + tail, _at(start, end), _badges(chunk), marked)


def standing_first(document: str) -> tuple[str | Combinable, ...]:
    """Return the order by standing: retracted works last, superseded ones before them, the newest first."""
    return (
        F(f"{document}source__is_retracted").asc(nulls_first=True),
        f"{document}status",
        F(f"{document}year").desc(nulls_last=True),
        f"{document}title",
    )


def unread(chunk: str = "") -> list[str]:
    """Return the fields of a passage and its document that no quotation needs."""
    return [f"{chunk}{name}" for name in _UNREAD]


def _readable(chunk: Chunk, start: int, end: int) -> Span:
    """Return where the sentence or row around words begins and ends, cut to a readable length."""
    if chunk.is_table:
        first, last = chunk.body.rfind("\n", 0, start) + 1, chunk.body.find("\n", end)
        last = len(chunk.body) if last < 0 else last
    else:
        spans = [one for one in sentence_spans(chunk.body) if one[0] < end and one[1] > start]
        first, last = (spans[0][0], spans[-1][1]) if spans else (start, end)
    room = max(0, _LONGEST_SENTENCE - (end - start)) // 2
    return max(first, start - room), min(last, end + room)


def _at(start: int, end: int) -> str:
    return sentence_marks.write([(start, max(end, start + 1))])


def _badges(chunk: Chunk) -> tuple[str, ...]:
    return tuple(browsing.badges(chunk.document))
