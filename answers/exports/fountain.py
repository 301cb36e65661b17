"""A session as a Fountain screenplay: before each question, in notes, the evidence it was answered from.

The first note is `[[rag: N chunks from STORE, top score S]]`. One follows for each distinct source
document, the most relevant first: `[[rag-source: SOURCE[:LINES] [(TITLE[, doi:DOI])]]]`, where the
brackets stand for what may be missing, and the parenthesis is missing when title and DOI both are. LINES
always is: passages know their pages, and a page given for a line would lead elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from answers.reading import ReadableAnswer, ReadableSource

STORE = "sci-rag"
WITHHELD = "(The text is not shown: it rests on a source that is not available to whoever made this export.)"
# Two spaces keep an empty line inside a speech.
_EMPTY_LINE = "  "
_LINE_ENDS = re.compile(r"\r\n|[\r\n\v\f\x1c-\x1e\x85\u2028\u2029]")


def fountain(answers: Iterable[ReadableAnswer], *, title: str) -> str:
    """Return the transcript of `answers` in order."""
    lines = [f"Title: {_line(title) or 'Session'}", "Credit: a session with", "Author: sci-rag", ""]
    for shown in answers:
        lines += [*_evidence(shown.sources), "", *_speech("ASKER", shown.answer.question), ""]
        if shown.answer.searched != shown.answer.question:
            lines += [f"[[searched as: {_note(shown.answer.searched)}]]", ""]
        lines += [*_speech("SCI-RAG", WITHHELD if shown.text_withheld else shown.text or "(No text.)"), ""]
    return "\n".join(lines)


def _evidence(sources: Sequence[ReadableSource]) -> Iterator[str]:
    top = max((source.score for source in sources), default=0.0)
    yield f"[[rag: {len(sources)} chunks from {STORE}, top score {top:.4g}]]"
    documents: dict[str, list[ReadableSource]] = {}
    for source in sorted(sources, key=lambda source: (-source.score, source.number)):
        name = source.document_id if source.available else f"unavailable-{source.number}"
        documents.setdefault(name, []).append(source)
    for name, group in documents.items():
        yield f"[[rag-source: {_described(name, group)}]]"


def _described(name: str, group: Sequence[ReadableSource]) -> str:
    first = group[0]
    if not first.available:
        return name
    doi = f"doi:{_note(first.doi)}" if first.doi else ""
    facts = ", ".join(filter(None, [_note(first.title), doi]))
    return f"{_note(first.file_name) or name}{f' ({facts})' if facts else ''}"


def _speech(who: str, text: str) -> Iterator[str]:
    yield who
    for line in _LINE_ENDS.split(text.strip()):
        yield _harmless(line) if line.strip() else _EMPTY_LINE


def _line(text: str) -> str:
    return " ".join(text.split())


def _note(text: str) -> str:
    """Return `text` so that it neither ends the note it stands in nor begins one."""
    return _harmless(_line(text))


def _harmless(text: str) -> str:
    text = re.sub(r"(?<=\[)(?=\[)|(?<=\])(?=\])", " ", text)
    return re.sub(r"(?<=/)(?=\*)|(?<=\*)(?=/)", " ", text)
