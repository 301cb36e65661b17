"""Items of JSON and CSV exports: CSL-JSON, Zotero's own JSON, Better BibTeX JSON, Zotero CSV. Pure."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from corpus.bibliography.names import inverted_name
from corpus.bibliography.records import Attachment, Code, Draft, Library, Problem, tidy_key

_SPACE_OR_COMMA = re.compile(r"[\s,]*")
_EXTRA = re.compile(r"^\s*([A-Za-z][A-Za-z -]{0,30}):\s*(.+)$", re.MULTILINE)
_NOT_WORKS = frozenset({"attachment", "note", "annotation"})
_WORK_KEYS = ("type", "itemType", "title", "creators", "author", "DOI")
_CSL_PEOPLE = ("author", "editor", "collection-editor", "director", "composer", "translator", "contributor")
_EDITORS = frozenset({"editor", "seriesEditor", "translator", "bookAuthor", "reviewedAuthor"})
_CONTAINERS = "publicationTitle bookTitle proceedingsTitle encyclopediaTitle websiteTitle blogTitle".split()
_TITLES = "title caseName nameOfAct subject".split()
_PUBLISHERS = "publisher institution university".split()
_RIGHTS = "rights license licence copyright".split()
_MOST_ATTACHMENTS = 50


def read_json(text: str, most: int) -> Library:
    """Return the records of a JSON export: a list of items, or an object that holds one."""
    library = Library("csl-json")
    try:
        numbered = list(islice(_items(text, library.problems), most + 1))
    except (ValueError, RecursionError) as error:
        reason = getattr(error, "msg", "") or "it is nested too deep or holds an impossible number"
        line = int(getattr(error, "lineno", 0))
        library.problems.append(Problem(line, "", Code.INVALID_JSON, f"The file is not JSON: {reason}."))
        return library
    if len(numbered) > most:
        line = numbered.pop()[0]
        library.problems.append(Problem(line, "", Code.TOO_LARGE, f"More than {most:,} records."))
    items: list[tuple[int, dict[str, Any]]] = []
    for line, item in numbered:
        data = _data(item) if isinstance(item, dict) else {}
        if any(name in data for name in _WORK_KEYS):
            items.append((line, data))
        else:
            library.problems.append(Problem(line, "", Code.BROKEN_ENTRY, "The item describes no work."))
    children = _children(items)
    for number, (line, item) in enumerate(items, start=1):
        kind = _text(item, "itemType", "type")
        if kind.lower() in _NOT_WORKS:
            continue
        if "itemType" in item or "creators" in item:
            library.format = "zotero-json"
            draft = _zotero(item, line, number, children.get(_text(item, "key", "itemKey"), []))
        else:
            draft = _csl(item, line, number)
        library.records.append(draft.finish(library.problems))
    return library


def _items(text: str, problems: list[Problem]) -> Iterator[tuple[int, Any]]:
    """Yield the items with their lines. Of a list that breaks off, the items before it count."""
    decoder = json.JSONDecoder()
    start = len(text) - len(text.lstrip())
    if text[start : start + 1] != "[":
        whole = decoder.decode(text)
        items = whole.get("items") if isinstance(whole, dict) else None
        for item in items if isinstance(items, list) else [whole]:
            yield 1, item
        return
    place = counted = start + 1
    line = 1 + text.count("\n", 0, place)
    while True:
        place = _SPACE_OR_COMMA.match(text, place).end()  # type: ignore[union-attr]  # matches nothing too
        line, counted = line + text.count("\n", counted, place), place
        if text[place : place + 1] == "]":
            return
        try:
            item, place = decoder.raw_decode(text, place)
        except (ValueError, RecursionError) as error:
            reason = getattr(error, "msg", "it is nested too deep")
            message = f"The list breaks off here, what follows is not read: {reason}."
            problems.append(Problem(line, "", Code.INVALID_JSON, message))
            return
        yield line, item


def _data(item: dict[str, Any]) -> dict[str, Any]:
    """Return an item of Zotero's interface without its envelope."""
    data = item.get("data")
    return {**item, **data} if isinstance(data, dict) else item


def _children(items: Iterable[tuple[int, dict[str, Any]]]) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = {}
    for _, item in items:
        parent = _text(item, "parentItem")
        if parent and _text(item, "itemType") == "attachment":
            found.setdefault(parent, []).append(item)
    return found


def _text(item: dict[str, Any], *names: str) -> str:
    """Return the first of the values that says something, numbers as text, lists by their first."""
    for name in names:
        value = item.get(name)
        if isinstance(value, list) and value:
            value = value[0]
        if isinstance(value, str) and value.strip():
            return value
        if isinstance(value, int | float) and not isinstance(value, bool):
            return str(value)[:100]
    return ""


def _csl(item: dict[str, Any], line: int, number: int) -> Draft:
    extra = extra_lines(_text(item, "note"))
    people = next((names for names in (_csl_names(item.get(role)) for role in _CSL_PEOPLE) if names), ())
    kind = _text(item, "type").lower()
    url = _text(item, "URL", "url")
    return Draft(
        key=_text(item, "citation-key", "id") or f"item {number}",
        line=line,
        kind=kind,
        title=_text(item, "title"),
        authors=people,
        dates=tuple(_csl_date(item.get(name)) for name in ("issued", "published", "event-date", "submitted")),
        doi=_text(item, "DOI", "doi") or extra.get("doi", ""),
        elsewhere=(url,),
        arxiv=(_text(item, "arxiv", "arXiv"), extra.get("arxiv", ""), _text(item, "number"), url),
        pmid=_text(item, "PMID", "pmid") or extra.get("pmid", ""),
        isbn=_text(item, "ISBN"),
        container=_text(item, "container-title", "event-title", "collection-title"),
        publisher=_text(item, "publisher"),
        url=url,
        language=_text(item, "language"),
        version=_text(item, "version", "edition"),
        rights=_text(item, *_RIGHTS),
        attachments=_attachments(item.get("attachments"), item.get("file"), item.get("link")),
    )


def _csl_names(people: Any) -> tuple[str, ...]:
    names = []
    for person in people[:5_000] if isinstance(people, list) else []:
        if isinstance(person, dict):
            parts = ("given", "dropping-particle", "non-dropping-particle", "family", "suffix")
            name = " ".join(filter(None, (_text(person, part) for part in parts))) or _text(
                person, "literal", "name"
            )
        else:
            name = inverted_name(person) if isinstance(person, str) else ""
        names.append(name)
    return tuple(filter(None, names))


def _csl_date(date: Any) -> str:
    if isinstance(date, dict):
        parts = date.get("date-parts")
        first = parts[0] if isinstance(parts, list) and parts else None
        if isinstance(first, list) and first:
            return str(first[0])[:10]
        return _text(date, "raw", "literal", "year")
    return str(date)[:100] if isinstance(date, str | int) else ""


def _zotero(item: dict[str, Any], line: int, number: int, children: list[dict[str, Any]]) -> Draft:
    raw_extra = item.get("extra")
    extra = extra_lines(
        "\n".join(map(str, raw_extra)) if isinstance(raw_extra, list) else _text(item, "extra")
    )
    kind = _text(item, "itemType").lower()
    url = _text(item, "url")
    return Draft(
        key=_text(item, "citationKey") or extra.get("citation key", "") or _text(item, "key", "itemKey")
        or f"item {number}",
        line=line,
        kind=kind,
        title=_text(item, *_TITLES),
        authors=_creators(item.get("creators")),
        dates=(_text(item, "date", "dateDecided", "dateEnacted", "issueDate"),),
        doi=_text(item, "DOI") or extra.get("doi", ""),
        elsewhere=(url,),
        arxiv=(_text(item, "archiveID"), extra.get("arxiv", ""), url),
        pmid=_text(item, "PMID") or extra.get("pmid", ""),
        isbn=_text(item, "ISBN"),
        container=_text(item, *_CONTAINERS),
        publisher=_text(item, *_PUBLISHERS),
        url=url,
        language=_text(item, "language"),
        version=_text(item, "edition", "versionNumber"),
        rights=_text(item, *_RIGHTS),
        attachments=_attachments(item.get("attachments"), children),
    )  # fmt: skip


def _creators(creators: Any) -> tuple[str, ...]:
    people = [person for person in creators if isinstance(person, dict)] if isinstance(creators, list) else []
    main = [person for person in people if person.get("creatorType") not in _EDITORS] or people
    return tuple(
        _text(person, "name") or f"{_text(person, 'firstName')} {_text(person, 'lastName')}".strip()
        for person in main[:5_000]
    )


def extra_lines(text: str) -> dict[str, str]:
    """Return the `Name: value` lines of a note field."""
    return {name.strip().lower(): value.strip() for name, value in _EXTRA.findall(text[:20_000])}


def _attachments(*groups: Any) -> tuple[Attachment, ...]:
    found = []
    for group in groups:
        entries = group if isinstance(group, list) else [group]
        found += [item for item in map(_attachment, entries[:_MOST_ATTACHMENTS]) if item is not None]
    return tuple(found[:_MOST_ATTACHMENTS])


def _attachment(entry: Any) -> Attachment | None:
    if isinstance(entry, str) and entry.strip():
        return Attachment((entry.strip(),))
    if not isinstance(entry, dict):
        return None
    stored = _text(entry, "path", "localPath", "file")
    name, key = _text(entry, "filename"), _text(entry, "key", "itemKey")
    paths = [stored.replace("storage:", f"storage:{key}/", 1) if key else "", stored]
    if name:
        paths += [f"storage:{key}/{name}" if key else "", f"files/{_text(entry, 'itemID')}/{name}", name]
    kept = tuple(dict.fromkeys(path for path in paths if path))
    if not kept:
        return None
    return Attachment(kept, _text(entry, "title"), _text(entry, "contentType", "mimeType").lower())


def read_csv(text: str, most: int) -> Library:
    """Return the records of Zotero's CSV export."""
    library = Library("zotero-csv")
    csv.field_size_limit(1_000_000)
    rows = csv.DictReader(io.StringIO(text, newline=""))
    try:
        for row in rows:
            line = rows.line_num
            if len(library.records) == most:
                library.problems.append(Problem(line, "", Code.TOO_LARGE, f"More than {most:,} records."))
                break
            values = {name.strip().lower(): value for name, value in row.items() if isinstance(name, str)}
            if (values.get("item type") or "").lower() not in _NOT_WORKS:
                library.records.append(_row(values, line).finish(library.problems))
    except csv.Error as error:
        key = tidy_key(str(error))
        library.problems.append(
            Problem(rows.line_num, "", Code.BROKEN_ENTRY, f"The table breaks off here: {key}.")
        )
    return library


def _row(values: dict[str, Any], line: int) -> Draft:
    kind = _text(values, "item type").lower()
    people = _text(values, "author") or _text(values, "editor")
    url = _text(values, "url")
    extra = extra_lines(_text(values, "extra"))
    paths = re.split(r";\s*", _text(values, "file attachments"))
    return Draft(
        key=extra.get("citation key", "") or _text(values, "key") or f"line {line}",
        line=line,
        kind=kind,
        title=_text(values, "title"),
        authors=tuple(filter(None, map(inverted_name, people.split(";")))),
        dates=(_text(values, "date"), _text(values, "publication year")),
        doi=_text(values, "doi") or extra.get("doi", ""),
        elsewhere=(url,),
        arxiv=(extra.get("arxiv", ""), url),
        pmid=extra.get("pmid", ""),
        isbn=_text(values, "isbn"),
        container=_text(values, "publication title"),
        publisher=_text(values, "publisher"),
        url=url,
        language=_text(values, "language"),
        version=_text(values, "edition", "version"),
        rights=_text(values, "rights"),
        attachments=tuple(Attachment((path,)) for path in paths[:_MOST_ATTACHMENTS] if path),
    )
