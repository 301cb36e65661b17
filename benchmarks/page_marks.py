"""Whether passages of PDFs open marked on the picture of their page, and the marks are where they stand.

    python -m benchmarks.page_marks FOLDER

Takes the PDFs of FOLDER in and looks at every passage as a reader's page does: at each page with a mark.
Another reading of the page (`page_mark_judge`) says which marks lie over something else, and where the
passage stands without a mark. The same judge is shown every mark in a wrong place, a line further down and on
another page, so that its silence says something.
Gates: 95 % of the passages are marked, at most one mark in a thousand is wrong, at most one page in a hundred
has a part unmarked, and the judge notices 95 % of what is put in a wrong place.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks import database

if TYPE_CHECKING:
    from benchmarks.page_mark_judge import Judge, Reading
    from corpus.models import Chunk
    from corpus.page_views import Mark

LEAST_MARKED, MOST_WRONG, MOST_MISSED, LEAST_NOTICED = 0.95, 0.001, 0.01, 0.95


def main() -> int:
    """Print the shares and each wrong mark; return 1 when a gate is missed."""
    folder = Path(sys.argv[1])
    database.start()
    from corpus.ingestion import ingest
    from corpus.inputs import from_paths
    from corpus.models import Chunk

    ingest(from_paths(sorted(folder.glob("*.pdf"))))
    passages = Chunk.objects.filter(document__state="ready").select_related("document")
    counts: Counter[str] = Counter()
    for passage in passages.order_by("document__file_name", "ordinal"):
        counts["passages"] += 1
        counts.update(_looked_at(passage))
    return int(not _report(counts))


def _report(counts: Counter[str]) -> bool:
    def share(name: str, of: str) -> float:
        return counts[name] / max(1, counts[of])

    print(f"{counts['passages']} passages, {share('marked', 'passages'):.1%} open marked")
    print(f"{counts['marks']} marks, {counts['small']} over too few letters to tell")
    print(f"{counts['wrong']} of them wrong: {share('wrong', 'marks'):.2%}")
    print(f"{counts['pages']} pages, {counts['missed']} with a part unmarked: {share('missed', 'pages'):.2%}")
    for where, name in (("a line further down", "a line"), ("on another page", "a page")):
        print(f"put {where}: {share(f'noticed {name}', name):.1%} of {counts[name]} passages noticed")
    return (
        share("marked", "passages") >= LEAST_MARKED
        and share("wrong", "marks") <= MOST_WRONG
        and share("missed", "pages") <= MOST_MISSED
        and min(share("noticed a line", "a line"), share("noticed a page", "a page")) >= LEAST_NOTICED
    )


def _looked_at(passage: Chunk) -> Iterator[str]:
    """Yield what is to be counted of one passage, and print its faults."""
    from corpus import page_views

    document = passage.document
    first = page_views.of_passage(passage, document)
    if first is None or not first.pages:
        return
    yield "marked"
    views = {page: page_views.of_passage(passage, document, page=page) for page in first.pages}
    marks = {page: view.marks for page, view in views.items() if view is not None}
    other = next((page for page in range(1, first.count + 1) if page not in marks), None)
    readings = {page: _reading(document.file_sha256, page) for page in [*marks, *([other] if other else [])]}
    yield from judged(passage.body, marks, readings, f"{document.file_name}, passage {passage.ordinal}")


def judged(
    body: str, marks: Mapping[int, Sequence[Mark]], readings: Mapping[int, Reading], place: str
) -> Iterator[str]:
    """Yield what is to be counted of the marks of a passage; `readings` may hold a page without one."""
    from benchmarks.page_mark_judge import Judge

    judge = Judge(body, list(readings.values()))
    missed = judge.missed({readings[page]: marks[page] for page in marks})
    for number in marks:
        yield "pages"
        for mark in marks[number]:
            yield "marks"
            verdict = judge.mark(readings[number], mark)
            if not verdict.is_telling:
                yield "small"
            if verdict.fault:
                yield "wrong"
                print(f"wrong: {place}, page {number}, {mark}, {verdict.fault}: {verdict.under[:60]}")
        if readings[number] in missed:
            yield "missed"
            print(f"without a mark: {place}, page {number}: {missed[readings[number]]}")
    yield from _misplaced(judge, marks, readings)


def _misplaced(
    judge: Judge, marks: Mapping[int, Sequence[Mark]], readings: Mapping[int, Reading]
) -> Iterator[str]:
    """Put the marks of a passage where they do not belong, and see whether the judge finds fault."""
    lower = {
        readings[page]: [one for mark in own if (one := _a_line_lower(mark, readings[page]))]
        for page, own in marks.items()
    }
    if any(lower.values()):
        yield "a line"
        if judge.missed(lower) or any(
            judge.mark(page, mark).fault for page, own in lower.items() for mark in own
        ):
            yield "noticed a line"
    other = next((page for page in readings if page not in marks), None)
    if other is not None:
        yield "a page"
        if any(judge.mark(readings[other], mark).fault for own in marks.values() for mark in own):
            yield "noticed a page"


def _a_line_lower(mark: Mark, page: Reading) -> Mark | None:
    from benchmarks.page_mark_judge import is_under, pitch_of

    under = [letter for letter in page.letters if is_under(letter, mark)]
    return replace(mark, top=round(mark.top + pitch_of(under))) if under else None


@lru_cache(maxsize=64)
def _reading(file_sha256: str, number: int) -> Reading:
    import pypdfium2

    from benchmarks.page_mark_judge import read
    from corpus import storage

    with closing(pypdfium2.PdfDocument(storage.path_of(file_sha256))) as document:
        return read(document, number)


if __name__ == "__main__":
    sys.exit(main())
