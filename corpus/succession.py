"""Following what a manifest says about versions: which document takes the place of which."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING
from uuid import UUID

from django.db.models import Q

from corpus.actions.review import suggest_supersession
from corpus.actions.supersession import SupersessionError, supersede
from corpus.identifiers import normalise_doi
from corpus.inputs import Batch, Refusal
from corpus.models import Document
from corpus.reports import Outcome, Report

if TYPE_CHECKING:
    from django.contrib.auth.models import User

_BATCH = 500
_DIGITS = re.compile(r"\d{1,9}")


def link_successors(
    batch: Batch, reports: Sequence[Report], *, by: User | None
) -> Iterator[tuple[int, Report]]:
    """Record the supersessions that entries of `batch` declare; yield the reports that change.

    Runs after all files, since the older version may stand below the newer one. Versions of one work
    about which nothing is declared are suggested to a librarian, once what is declared is recorded.
    """
    documents = {report.path: report.document for report in reports}
    pairs = list(enumerate(zip(batch.files, reports, strict=True)))
    pairs.sort(key=lambda pair: isinstance(pair[1][0], Refusal) or not pair[1][0].described.supersedes)
    identified = _identified(report.document for report in reports if report.outcome == Outcome.READY)
    for index, (file, report) in pairs:
        if isinstance(file, Refusal) or report.document is None:
            continue
        if file.described.supersedes:
            old = _named(file.described.supersedes, documents, new=report.document)
            sentence, reason = _link(old, report.document, file.described.supersedes, by=by)
        else:
            may_have_versions = report.outcome == Outcome.READY and report.document in identified
            sentence = _propose(report.document) if may_have_versions else ""
            reason = "supersession_proposed" if sentence else ""
        if sentence:
            detail = f"{report.detail} {sentence}".strip()
            yield index, replace(report, detail=detail, reason=report.reason or reason)


def _identified(documents: Iterable[UUID | None]) -> set[UUID]:
    """Return which of `documents` say what work they are, so that there can be other versions of it."""
    found: set[UUID] = set()
    for some in _batches([key for key in documents if key is not None]):
        says = Q(doi_normalised__gt="") | Q(source__identifier_value__gt="")
        found.update(Document.objects.filter(says, pk__in=some).values_list("pk", flat=True))
    return found


def _batches(keys: list[UUID]) -> Iterator[list[UUID]]:
    for start in range(0, len(keys), _BATCH):
        yield keys[start : start + _BATCH]


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


def _propose(key: UUID) -> str:
    """Suggest which version of the same work takes the place of which; return a sentence about it.

    A person decides: only a manifest that says so is followed without asking.
    """
    document = Document.objects.select_related("source").get(pk=key)
    if document.status != Document.Status.CURRENT:
        return ""
    sentences = []
    for other in _same_work(document):
        old, new = sorted((document, other), key=_age)
        what = "older" if other == old else "newer"
        suggest_supersession(
            old=old,
            new=new,
            reason=f"“{old.title}” and “{new.title}” are versions of one work; {_why(old, new)}.",
        )
        sentences.append(f"“{other.title}” is the {what} version of the same work: a librarian decides.")
    return " ".join(sentences)


def _same_work(document: Document) -> list[Document]:
    """Return the other current documents with the same identifier."""
    same = Q(pk__in=[])
    if document.doi_normalised:
        same |= Q(doi_normalised=document.doi_normalised)
    if document.source is not None and document.source.identifier_value:
        same |= Q(source=document.source)
    current = Document.objects.filter(same, status=Document.Status.CURRENT).exclude(pk=document.pk)
    return list(current.order_by("ingested_at", "id"))


def _age(document: Document) -> tuple[int, tuple[int, ...], datetime, UUID]:
    """Order versions of one work from old to new: by year, by version label, by when they came."""
    numbers = tuple(int(digits) for digits in _DIGITS.findall(document.version_label))
    return document.year or 0, numbers, document.ingested_at, document.pk


def _why(old: Document, new: Document) -> str:
    if (old.year or 0) != (new.year or 0):
        return f"the newer one is of {new.year}" + (f", the older of {old.year}" if old.year else "")
    if _age(old)[1] != _age(new)[1]:
        return f"the newer one is called {new.version_label}"
    return "the newer one was taken in later"
