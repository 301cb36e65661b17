"""The sources of answers as a table that a spreadsheet opens without doing anything. Pure but for reading."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable

from answers.reading import ReadableAnswer, ReadableSource
from corpus.spreadsheets import neutral

COLUMNS = (
    "question", "searched_question", "number", "cited", "available", "title", "citation", "doi", "locator",
    "pages", "license_class", "license_class_now", "status", "changed_since", "content_sha256", "score",
)  # fmt: skip


def csv_table(answers: Iterable[ReadableAnswer]) -> str:
    """Return one row for each numbered source of each answer; cells that would be run are made text."""
    out = io.StringIO()
    writer = csv.writer(out, quoting=csv.QUOTE_ALL, lineterminator="\r\n")
    writer.writerow(COLUMNS)
    for shown in answers:
        for source in shown.sources:
            asked = [shown.answer.question, shown.answer.searched]
            writer.writerow([neutral(cell) for cell in [*asked, *_cells(source)]])
    return out.getvalue()


def _cells(source: ReadableSource) -> list[str]:
    head = [str(source.number), "yes" if source.cited else "no", "yes" if source.available else "no"]
    if not source.available:
        return head + [""] * (len(COLUMNS) - len(head) - 2)
    return [
        *head,
        source.title,
        source.citation,
        source.doi,
        source.locator,
        source.pages,
        source.license_class,
        source.license_now,
        " ".join(source.badges),
        " ".join(mark.value for mark in source.drift),
        source.content_sha256,
        f"{source.score:.6g}",
    ]
