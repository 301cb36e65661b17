"""Following what a manifest says about versions: which document takes the place of which."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING
from uuid import UUID

from corpus.actions.supersession import SupersessionError, supersede
from corpus.identifiers import normalise_doi
from corpus.inputs import Batch, Refusal
from corpus.models import Document
from corpus.reports import Report

if TYPE_CHECKING:
    from django.contrib.auth.models import User


def link_successors(
    batch: Batch, reports: Sequence[Report], *, by: User | None
) -> Iterator[tuple[int, Report]]:
    """Record the supersessions that entries of `batch` declare; yield the reports that change.

    Runs after all files, since the older version may stand below the newer one.
    """
    documents = {report.path: report.document for report in reports}
    for index, (file, report) in enumerate(zip(batch.files, reports, strict=True)):
        if isinstance(file, Refusal) or report.document is None:
            continue
        if file.described.supersedes:
            old = _named(file.described.supersedes, documents, new=report.document)
            sentence, reason = _link(old, report.document, file.described.supersedes, by=by)
        else:
            sentence, reason = _other_version(report.document) if report.passages else "", ""
        if sentence:
            detail = f"{report.detail} {sentence}".strip()
            yield index, replace(report, detail=detail, reason=report.reason or reason)


def _link(old: Document | None, new: UUID, name: str, *, by: User | None) -> tuple[str, str]:
    if old is None:
        return f"What it supersedes, {name}, is not held or not just one document.", "superseded_not_found"
    try:
        is_news = supersede(old=old, new=Document.objects.get(pk=new), by=by)
    except SupersessionError as error:
        return str(error), "supersession_refused"
    return (f"It supersedes “{old.title}”." if is_news else ""), ""


def _named(name: str, documents: dict[str, UUID | None], *, new: UUID) -> Document | None:
    """Return the one document called `name`: a path of the same batch, a document's id, or a DOI."""
    others = Document.objects.exclude(pk=new)
    identifier = documents.get(name) or _uuid(name)
    if identifier is not None:
        return others.filter(pk=identifier).first()
    doi = normalise_doi(name)
    held = list(others.filter(doi_normalised=doi).order_by("id")[:2]) if doi else []
    return held[0] if len(held) == 1 else None


def _uuid(name: str) -> UUID | None:
    try:
        return UUID(name)
    except ValueError:
        return None


def _other_version(new: UUID) -> str:
    """Say that another version of the same work is current: a person decides which one counts."""
    document = Document.objects.get(pk=new)
    if not document.doi_normalised:
        return ""
    current = Document.objects.filter(
        doi_normalised=document.doi_normalised, status=Document.Status.CURRENT
    ).exclude(pk=new)
    older = current.order_by("ingested_at", "id").first()
    return "" if older is None else f"“{older.title}” has the same DOI: one may supersede the other."
