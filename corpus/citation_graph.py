"""What a document cites and what cites it, and what a passage points at: always as one reader may see it.

A reference leads to a held document by its DOI, looked up when it is asked for: a document that is taken in
later is found from then on. What leads nowhere stays in the list and is never retrieved.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Exists, F, OuterRef, Q

from corpus.models import Chunk, Document, DocumentCitation
from corpus.scope import RetrievalScope

_NUMBERED = re.compile(r"\[(\d+)\]")
_MOST_CITING = 200
_MOST_WANTED = 20


@dataclass(frozen=True, slots=True)
class Reference:
    """An entry of a reference list; `held` is the document it leads to, where the reader may see one."""

    text: str
    doi: str
    held: Document | None


@dataclass(frozen=True, slots=True)
class Pointer:
    """What a passage points at by name: a passage of its own document, or another document."""

    name: str
    passage: Chunk | None = None
    document: Document | None = None


def references(document: Document, scope: RetrievalScope) -> list[Reference]:
    """Return the reference list in its order, each work once, the document itself left out."""
    found: dict[str, Reference] = {}
    rows = list(document.references.order_by("origin", "ordinal", "id"))
    held = _by_doi((row.doi_normalised for row in rows), scope)
    for row in rows:
        doi = row.doi_normalised
        if doi and doi == document.doi_normalised:
            continue
        found.setdefault(doi or f"row {row.pk}", Reference(row.text, doi, held.get(doi)))
    return list(found.values())


def cited_by(document: Document, scope: RetrievalScope) -> list[Document]:
    """Return the documents in scope whose reference lists name this one, newest first."""
    if not document.doi_normalised:
        return []
    citing = DocumentCitation.objects.filter(doi_normalised=document.doi_normalised, citing=OuterRef("pk"))
    return list(
        Document.objects.within(scope)
        .filter(Exists(citing))
        .exclude(doi_normalised=document.doi_normalised)
        .order_by("-year", "title", "id")[:_MOST_CITING]
    )


def pointers(passage: Chunk, scope: RetrievalScope) -> list[Pointer]:
    """Return what `passage` points at and what is there to be pointed at, in the order of its words."""
    names = [name for name in passage.forward_references if isinstance(name, str)]
    inside = _passages_named(passage, [name for name in names if not _NUMBERED.fullmatch(name)])
    numbers = [int(match[1]) for name in names if (match := _NUMBERED.fullmatch(name))]
    listed = dict(
        passage.document.references.filter(origin=DocumentCitation.Origin.DOCUMENT, ordinal__in=numbers)
        .exclude(doi_normalised__in=["", passage.document.doi_normalised])
        .values_list("ordinal", "doi_normalised")
    )
    held = _by_doi(listed.values(), scope)
    found = []
    for name in names:
        if match := _NUMBERED.fullmatch(name):
            target = held.get(listed.get(int(match[1]), ""))
            found += [Pointer(name, document=target)] if target else []
        elif name in inside:
            found.append(Pointer(name, passage=inside[name]))
    return found


def census() -> dict[str, Any]:
    """Count references over the whole corpus, and name the works most cited without being held."""
    rows = DocumentCitation.objects.exclude(doi_normalised="")
    own = Q(citing__doi_normalised=F("doi_normalised"))
    held = Exists(Document.objects.within(RetrievalScope()).filter(doi_normalised=OuterRef("doi_normalised")))
    distinct = rows.exclude(own).order_by().values("citing", "doi_normalised").distinct()
    resolved = distinct.filter(held).count()
    wanted = (
        rows.exclude(own).exclude(held).order_by().values("doi_normalised")
        .annotate(documents=Count("citing", distinct=True))
        .order_by("-documents", "doi_normalised")[:_MOST_WANTED]
    )  # fmt: skip
    origins = DocumentCitation.objects.order_by("origin").values_list("origin").annotate(n=Count("id"))
    return {
        "references": DocumentCitation.objects.count(),
        "by_origin": dict(origins),
        "with_doi": rows.count(),
        "resolved": resolved,
        "unresolved": distinct.count() - resolved,
        "self": rows.filter(own).count(),
        "most_wanted": [{"doi": row["doi_normalised"], "documents": row["documents"]} for row in wanted],
    }


def _by_doi(dois: Iterable[str], scope: RetrievalScope) -> dict[str, Document]:
    """Return the document in scope for each DOI: the current version before a superseded one."""
    wanted = {doi for doi in dois if doi}
    found: dict[str, Document] = {}
    if wanted:
        rows = Document.objects.within(scope).filter(doi_normalised__in=wanted)
        for row in rows.order_by("status", "-year", "id"):
            found.setdefault(row.doi_normalised, row)
    return found


def _passages_named(passage: Chunk, names: list[str]) -> dict[str, Chunk]:
    if not names:
        return {}
    units = {f"{name.split()[0].lower()}:{name.split()[-1].lower()}": name for name in names}
    beside = passage.document.chunks.exclude(pk=passage.pk).defer("search_vector")
    rows = beside.filter(Q(locator__in=names) | Q(citation_unit__in=units)).order_by("ordinal", "id")
    found: dict[str, Chunk] = {}
    for row in rows:
        found.setdefault(row.locator if row.locator in names else units[row.citation_unit], row)
    return found
