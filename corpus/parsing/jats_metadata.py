"""What a JATS article says about itself and whom it cites."""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Iterator

from corpus.identifiers import normalise_doi
from corpus.normalise import one_line
from corpus.parsing.blocks import Reference
from corpus.parsing.markup import Element, local_name, running_text
from corpus.parsing.references import find_doi

_XLINK_HREF = "{http://www.w3.org/1999/xlink}href"
_XML_LANG = "{http://www.w3.org/XML/1998/namespace}lang"
_NOT_WORDS = frozenset({"xref", "fn", "object-id", "label"})
_CITATIONS = frozenset({"mixed-citation", "element-citation", "citation", "nlm-citation"})
_DATE = re.compile(r"(\d{4})(?:-(\d{2})(?:-(\d{2}))?)?(?![\d-])")
_NEVER = "0000-00-00"
_PUBLICATION_ORDER = ("epub", "pub", "electronic", "ppub", "print", "collection")


class Front:
    """The front matter of one article."""

    def __init__(self, article: Element) -> None:
        self._article = article
        front = article.find("{*}front")
        self._front = article.find("{*}front-stub") if front is None else front
        meta = None if self._front is None else self._front.find("{*}article-meta")
        self._meta = self._front if meta is None else meta

    def title(self) -> str:
        """Return the title with its subtitle."""
        group = self._find("{*}title-group")
        if group is None:
            return ""
        title = running_or_empty(group.find("{*}article-title"), skipped=_NOT_WORDS)
        subtitle = running_or_empty(group.find("{*}subtitle"), skipped=_NOT_WORDS)
        return f"{title}: {subtitle}" if subtitle else title

    def authors(self) -> tuple[str, ...]:
        """Return the authors' names, given name first, in order."""
        if self._meta is None:
            return ()
        contributors = [
            contributor
            for group in self._meta.iterfind("{*}contrib-group")
            for contributor in group.iter("{*}contrib")
            if contributor.get("contrib-type", "author") == "author"
        ]
        return tuple(name for name in map(_name, contributors) if name)

    def identifier(self, kind: str) -> str:
        """Return the article's identifier of `kind` ("doi", "pmid")."""
        found = self._iter("{*}article-id")
        return next((running_text(item) for item in found if item.get("pub-id-type") == kind), "")

    def journal(self) -> str:
        """Return the journal's title, else its abbreviation."""
        if self._front is None:
            return ""
        for name in ("journal-title", "abbrev-journal-title", "journal-id"):
            found = next(self._front.iter(f"{{*}}{name}"), None)
            if found is not None and running_text(found):
                return running_text(found)
        return ""

    def year(self) -> str:
        """Return the year of the electronic publication, else of the first kind that is given."""
        years: dict[str, str] = {}
        for item in self._iter("{*}pub-date"):
            kind = item.get("pub-type") or item.get("publication-format") or item.get("date-type") or "pub"
            years.setdefault(kind, running_or_empty(item.find("{*}year")))
        ranked = sorted(years, key=lambda kind: (*_PUBLICATION_ORDER, kind).index(kind))
        return next((years[kind] for kind in ranked if years[kind]), "")

    def language(self) -> str:
        """Return the language the article declares."""
        return str(self._article.get(_XML_LANG) or "")[:20]

    def license_statement(self) -> str:
        """Return the licence's address and its words, verbatim, else the copyright statement."""
        permissions = self._find("{*}permissions")
        if permissions is None:
            return running_or_empty(self._find("{*}copyright-statement"))
        parts = [part for item in permissions.iterfind("{*}license") for part in _license_parts(item)]
        parts += [_dated_reference(item) for item in permissions.iterfind("{*}license_ref")]
        unique = list(dict.fromkeys(part for part in parts if part))
        return one_line(" ".join(unique)) or running_or_empty(permissions.find("{*}copyright-statement"))

    def _find(self, path: str) -> Element | None:
        return None if self._meta is None else self._meta.find(path)

    def _iter(self, path: str) -> Iterator[Element]:
        return iter(()) if self._meta is None else self._meta.iterfind(path)


def running_or_empty(element: Element | None, *, skipped: frozenset[str] = frozenset()) -> str:
    """Return the words of `element`, or the empty string where there is none."""
    return "" if element is None else running_text(element, skipped=skipped)


def references(article: Element) -> tuple[Reference, ...]:
    """Return the entries of the reference lists in the back matter."""
    entries: list[Reference] = []
    for back in article.iterfind("{*}back"):
        for entry in back.iter("{*}ref"):
            cited = [
                _reference(item) for item in entry if local_name(item) in _CITATIONS or _is_alternatives(item)
            ]
            entries.extend(reference for reference in cited if reference.text)
    return tuple(entries)


def _license_parts(item: Element) -> Iterator[str]:
    yield item.get(_XLINK_HREF) or ""
    for reference in item.iter("{*}license_ref"):
        yield _dated_reference(reference)
    for link in item.iter("{*}ext-link"):
        yield link.get(_XLINK_HREF) or ""
    yield running_text(item, breaks=frozenset({"license-p", "p"}), skipped=frozenset({"license_ref"}))


def _dated_reference(item: Element) -> str:
    """Return a licence's address with the day from which it applies, where the element names one.

    Whoever reads the statement compares it with the day of reading, so it stands there in any case.
    """
    address, start = running_text(item), str(item.get("start_date") or "").strip()
    return f"{address} (from {_day(start)})" if address and start else address


def _day(text: str) -> str:
    """Return the day in `text`, the last one of a month or year; of what is none, a day that never comes."""
    found = _DATE.match(text)
    if found is None:
        return _NEVER
    year, month = int(found[1]), int(found[2] or 12)
    try:
        last = monthrange(year, month)[1]
    except ValueError:
        return _NEVER
    return f"{year:04}-{month:02}-{int(found[3] or last):02}"


def _name(contributor: Element) -> str:
    collaboration = contributor.find("{*}collab")
    if collaboration is not None:
        return running_text(collaboration, skipped=frozenset({"contrib-group", "xref"}))
    name = next(contributor.iter("{*}name"), None)
    if name is None:
        return running_or_empty(contributor.find("{*}string-name"), skipped=_NOT_WORDS)
    parts = (running_or_empty(name.find(f"{{*}}{part}")) for part in ("given-names", "surname", "suffix"))
    return one_line(" ".join(part for part in parts if part))


def _is_alternatives(item: Element) -> bool:
    return local_name(item) == "citation-alternatives"


def _reference(item: Element) -> Reference:
    cited = next(iter(item)) if _is_alternatives(item) and len(item) else item
    is_tagged = local_name(cited) in ("element-citation", "nlm-citation") or not (cited.text or "").strip()
    breaks = frozenset(local_name(child) for child in cited.iter()) - {"sup", "sub", "italic", "bold"}
    text = running_text(cited, breaks=breaks if is_tagged else frozenset())
    return Reference(text=text, doi=_stated_doi(cited) or find_doi(text))


def _stated_doi(cited: Element) -> str:
    for item in cited.iter("{*}pub-id"):
        if item.get("pub-id-type") == "doi":
            return normalise_doi(running_text(item)) or ""
    links = (link.get(_XLINK_HREF) or "" for link in cited.iter("{*}ext-link"))
    return next((doi for link in links if "doi.org" in link and (doi := find_doi(link))), "")
