"""What the fields of BibTeX and BibLaTeX mean. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from corpus.bibliography.file_fields import attachments
from corpus.bibliography.latex import to_text
from corpus.bibliography.names import bibtex_names
from corpus.bibliography.records import Draft

if TYPE_CHECKING:
    from corpus.bibliography.bibtex import Entry

FILE_FIELDS = frozenset({"file", "pdf", "local-url", "localfile"})
_PEOPLE = ("author", "editor", "holder", "bookauthor", "director", "collaborator", "translator", "editora")
_CONTAINERS = ("journal", "journaltitle", "booktitle", "maintitle", "series")
_PUBLISHERS = ("publisher", "institution", "school", "organization", "howpublished")
_DATES = ("date", "year", "issued", "eventdate", "origdate")
_RIGHTS = ("copyright", "rights", "license", "licence", "usage")
# The fields that are read; abstracts and the like need not be kept.
USED = frozenset(
    {*_PEOPLE, *_CONTAINERS, *_PUBLISHERS, *_DATES, *_RIGHTS}
    | set(
        "title subtitle doi url ee adsurl eprint eprinttype archiveprefix pmid isbn note annote extra edition"
        " version langid language hyphenation crossref xdata".split()
    )
)
# What belongs to one work alone, or is named otherwise in what is part of it.
_NOT_HANDED_DOWN = frozenset(
    "crossref xdata title subtitle booktitle author doi url ee adsurl eprint pmid note annote extra".split()
)
_CHAPTERS = frozenset(
    "inbook incollection inproceedings conference bookinbook suppbook suppcollection".split()
)


def hand_down(parent: Entry, child: Entry) -> None:
    """Give `child` the fields of `parent` that it lacks."""
    is_data = parent.kind == "xdata"
    for name, value in parent.fields.items():
        if is_data or name not in _NOT_HANDED_DOWN:
            child.fields.setdefault(name, value)
    if child.kind in _CHAPTERS and not is_data:
        title = parent.fields.get("booktitle") or parent.fields.get("title")
        if title:
            child.fields.setdefault("booktitle", title)
        if child.kind == "inbook" and "author" in parent.fields:
            child.fields.setdefault("author", parent.fields["author"])


def draft(entry: Entry) -> Draft:
    """Return what an entry says, LaTeX resolved."""
    fields = entry.fields
    eprint, archive = fields.get("eprint", ""), _archive(fields)
    notes = [to_text(fields[name], verbatim=True) for name in ("note", "annote", "extra") if name in fields]
    url = to_text(_first(fields, ("url", "ee", "adsurl")), verbatim=True)
    # "arXiv:" is what tells an archive's number from a page number.
    arxiv = (f"arXiv:{eprint}" if archive == "arxiv" else "", eprint, url, _first(fields, ("journal",)))
    return Draft(
        key=entry.key,
        line=entry.line,
        kind=entry.kind,
        title=_title(fields),
        authors=_people(fields),
        dates=tuple(to_text(fields[name]) for name in _DATES if name in fields),
        doi=to_text(fields.get("doi", ""), verbatim=True),
        elsewhere=(url, to_text(fields.get("ee", ""), verbatim=True)),
        arxiv=tuple(item for item in arxiv if item),
        pmid=fields.get("pmid", "") or (eprint if archive == "pubmed" else "") or _pmid(notes),
        isbn=fields.get("isbn", ""),
        container=to_text(_first(fields, _CONTAINERS)),
        publisher=to_text(_first(fields, _PUBLISHERS)),
        url=_address(url),
        language=fields.get("langid", "") or fields.get("language", "") or fields.get("hyphenation", ""),
        version=to_text(_first(fields, ("edition", "version"))),
        rights=to_text(_first(fields, _RIGHTS), verbatim=True),
        attachments=tuple(item for value in entry.files for item in attachments(value)),
    )


def _first(fields: dict[str, str], names: tuple[str, ...]) -> str:
    return next((fields[name] for name in names if fields.get(name, "").strip()), "")


def _title(fields: dict[str, str]) -> str:
    title = to_text(_first(fields, ("title", "booktitle", "maintitle")))
    subtitle = to_text(fields.get("subtitle", "")).strip()
    if not title.strip() or not subtitle:
        return title
    joint = " " if title.rstrip()[-1] in ".:?!" else ": "
    return f"{title.rstrip()}{joint}{subtitle}"


def _people(fields: dict[str, str]) -> tuple[str, ...]:
    """Return the authors, or where there are none those who stand for them."""
    return next((names for names in (bibtex_names(fields.get(name, "")) for name in _PEOPLE) if names), ())


def _archive(fields: dict[str, str]) -> str:
    return to_text(_first(fields, ("eprinttype", "archiveprefix"))).strip().lower()


def _pmid(notes: list[str]) -> str:
    return next((note for note in notes if "PMID" in note), "")


def _address(url: str) -> str:
    """Return the first address of a field; where it names none, there is none."""
    return next((word for word in url.split() if word.lower().startswith(("http://", "https://"))), "")
