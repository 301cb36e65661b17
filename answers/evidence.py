"""From a retrieved passage to each form an answer needs of it: prompt, quotation, check and record. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from answers.candidates import Evidence
from answers.condensing import Condensed
from answers.findings import SourceText
from answers.prompting import NumberedSource
from corpus.citation_units import pages_label
from retrieval.types import Item

if TYPE_CHECKING:
    from answers.models import AnswerSource


def for_prompt(items: Sequence[Item], condensed: Condensed | None = None) -> list[NumberedSource]:
    """Return the numbered sources as the model reads them; one that is set aside leaves its number out."""
    whole = [item.body for item in items]
    bodies = whole if condensed is None else condensed.bodies(whole)
    return [
        NumberedSource(
            number=number,
            title=item.title,
            body=body,
            citation=item.citation,
            section_path=item.section_path,
            locator=item.locator,
            pages=item.pages,
            status=_status(item),
        )
        for number, (item, body) in enumerate(zip(items, bodies, strict=True), 1)
        if body is not None
    ]


def for_quoting(items: Sequence[Item]) -> list[Evidence]:
    """Return the numbered sources as the extractive engine reads them."""
    return [
        Evidence(number, item.body, item.title, item.section_path, item.locator)
        for number, item in enumerate(items, 1)
    ]


def for_checking(items: Sequence[Item]) -> list[SourceText]:
    """Return the numbered sources as the findings hold sentences against them."""
    around = ([item.title, *item.section_path, item.locator, item.pages, item.citation] for item in items)
    return [SourceText(item.body, "\n".join(lines)) for item, lines in zip(items, around, strict=True)]


def stored_for_checking(row: AnswerSource) -> SourceText:
    """Return a stored source as the findings hold sentences against it; empty when the passage changed."""
    chunk = row.chunk
    body = chunk.body if chunk is not None and chunk.content_sha256 == row.content_sha256 else ""
    pages = pages_label(row.page_start, row.page_end)
    return SourceText(body, "\n".join([row.title, *row.section_path, row.locator, pages, row.citation]))


def _status(item: Item) -> str:
    successor = f" by “{item.superseded_by_title}”" if item.superseded_by_title else ""
    notes = {
        "retracted": "retracted",
        "concern": "an expression of concern was published",
        "corrected": "corrected since",
        "superseded": f"superseded{successor}",
    }
    return "; ".join(notes[name] for name in item.badges)
