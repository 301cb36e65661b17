"""Notes as files. What is written is what the reader may see at this moment."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext_lazy as _

from answers.exports import bibliography
from answers.exports.references import UNAVAILABLE, Reference, key_of, name_of
from answers.notebook.reading import ShownNote, ShownSource

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise

FORMAT = "sci-rag notebook, version 1"
MOST_NOTES = 1_000
_SIGNS = re.compile(r"([\\`*_{}\[\]<>#|~$^])")
_STATUS = {
    "retracted": "RETRACTED",
    "concern": "Expression of concern",
    "corrected": "Corrected",
    "superseded": "Superseded",
}


@dataclass(frozen=True, slots=True)
class Form:
    """One form: its name in addresses, how files of it end, and what writes it."""

    name: str
    label: StrOrPromise
    ending: str
    media_type: str
    write: Callable[[Sequence[ShownNote]], str]


def as_dict(shown: ShownNote) -> dict[str, Any]:
    """Return a note as JSON values."""
    note = shown.note
    return {
        "id": str(note.pk),
        "kind": note.kind,
        "title": note.title,
        "text": note.text,
        "owner": note.owner.get_username() if note.owner else None,
        "shared": note.is_shared,
        "answer": str(note.answer_id) if note.answer_id and shown.is_own else None,
        "created_at": note.created_at.isoformat(),
        "changed_at": note.changed_at.isoformat(),
        "sources": [source_as_dict(source) for source in shown.sources],
    }


def source_as_dict(source: ShownSource) -> dict[str, Any]:
    """Return a numbered source as JSON values; of one that is out of reach number and relationship."""
    head = {"number": source.number, "relationship": source.relationship, "available": source.available}
    if not source.available:
        return head
    return head | {
        "withdrawn": source.withdrawn,
        "identifier": source.identifier,
        "title": source.title,
        "authors": list(source.authors),
        "year": source.year,
        "journal": source.journal,
        "document": source.document_id or None,
        "status": list(source.badges),
        "checked_at": source.checked_at.isoformat() if source.checked_at else None,
        "check_failed": source.check_failed,
    }


def references(notes: Iterable[ShownNote]) -> list[Reference]:
    """Return the works behind `notes`, each once, in their order; what is out of reach stays apart."""
    found: dict[str, tuple[ShownSource, list[str]]] = {}
    for shown in notes:
        for source in shown.sources:
            alike = source.identifier or source.document_id or source.title if source.available else ""
            key = alike or f"?{shown.note.pk}-{source.number}"
            kept = found.setdefault(key, (source, []))
            kept[1].append(f"{source.relationship_label} in “{_line(shown.title)}”")
    return [_reference(source, told, place) for place, (source, told) in enumerate(found.values(), 1)]


def _reference(source: ShownSource, told: list[str], place: int) -> Reference:
    if not source.available:
        return Reference(f"unavailable-{place}", available=False, notes=(UNAVAILABLE,))
    names = tuple(name_of(author) for author in source.authors)
    status = [_STATUS[name] for name in source.badges if name in _STATUS]
    other = f"{source.kind_label} {source.value}" if source.kind not in ("", "doi", "url") else ""
    return Reference(
        key=key_of(names, source.year, place),
        available=True,
        notes=tuple(filter(None, [*status, other, *dict.fromkeys(told)])),
        title=_line(source.title),
        names=names,
        year=source.year,
        journal=_line(source.journal),
        doi=source.value if source.kind == "doi" else "",
        url=source.address if source.kind in ("url", "arxiv") else "",
    )


def _json(notes: Sequence[ShownNote]) -> str:
    kept = [as_dict(shown) for shown in notes]
    return json.dumps({"format": FORMAT, "notes": kept}, ensure_ascii=False, indent=1) + "\n"


def _markdown(notes: Sequence[ShownNote]) -> str:
    return "\n".join("\n".join(_lines(shown)) for shown in notes)


def _lines(shown: ShownNote) -> Iterator[str]:
    note = shown.note
    yield f"# {_plain(shown.title)}\n"
    if shown.warned:
        numbers = ", ".join(f"\\[{source.number}\\]" for source in shown.warned)
        yield f"> **Not to be relied on any more:** {numbers}\n"
    yield f"{note.text}\n"
    yield f"- {note.get_kind_display()}, {note.created_at:%Y-%m-%d}, changed {note.changed_at:%Y-%m-%d}"
    yield from (_source_line(source) for source in shown.sources)
    yield ""


def _source_line(source: ShownSource) -> str:
    head = f"- \\[{source.number}\\] {source.relationship_label}:"
    if not source.available:
        return f"{head} {UNAVAILABLE}"
    known = f"{source.kind_label} {source.value}" if source.identifier else ""
    status = ", ".join(_STATUS.get(badge, badge) for badge in source.badges)
    withdrawn = "the document was deleted" if source.withdrawn else ""
    facts = [_line(source.title), ", ".join(source.authors), str(source.year or ""), known, status, withdrawn]
    return f"{head} {'; '.join(_plain(fact) for fact in facts if fact)}"


def _plain(text: str) -> str:
    return _SIGNS.sub(r"\\\1", _line(text))


def _line(text: str) -> str:
    return " ".join(text.split())


FORMS: dict[str, Form] = {
    form.name: form
    for form in (
        Form("markdown", _("Markdown"), "md", "text/markdown", _markdown),
        Form("json", _("JSON"), "json", "application/json", _json),
        Form(
            "bibtex",
            _("BibTeX, the sources"),
            "bib",
            "application/x-bibtex",
            lambda notes: bibliography.bibtex(references(notes)),
        ),
        Form(
            "ris",
            _("RIS, the sources"),
            "ris",
            "application/x-research-info-systems",
            lambda notes: bibliography.ris(references(notes)),
        ),
        Form(
            "csl-json",
            _("CSL-JSON, the sources"),
            "csl.json",
            "application/vnd.citationstyles.csl+json",
            lambda notes: bibliography.csl(references(notes)),
        ),
    )
}
