r"""The `file` field of BibTeX in the forms Zotero, Better BibTeX, JabRef, Mendeley and people write it. Pure.

`path`, `description:path:type`, several with `;` between them, `:` `;` and `\` escaped with `\`, or not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from corpus.bibliography.latex import to_text
from corpus.bibliography.records import Attachment

_MOST = 50
_LONGEST = 20_000
_MENDELEY_BACKSLASH = re.compile(r"\{?\$\\backslash\$\}?")
_ITEM = re.compile(r"((?:\\.|[^\\;])*)(?:;|\\?\Z)", re.DOTALL)
_PART = re.compile(r"((?:\\.|[^\\:])*)(?::|\\?\Z)", re.DOTALL)
_ESCAPE = re.compile(r"\\([\\:;])")
_TYPE = re.compile(r"(?:[\w.+-]+/[\w.+-]+|[A-Za-z0-9]{2,10}|)")
_LATEX = re.compile(r"\{|\\[_&%#$ ~'`\"^]")
_WINDOWS = re.compile(r"[A-Za-z](?:\\)?:|\\\\")
_DRIVE = re.compile(r"[A-Za-z]")
_SCHEMES = frozenset({"http", "https", "file", "storage", "attachments"})


def attachments(value: str) -> tuple[Attachment, ...]:
    """Return the files that a field names, in its order."""
    text = _MENDELEY_BACKSLASH.sub(r"\\", value[:_LONGEST].strip())
    items = (item.strip() for item in _split(_ITEM, text))
    return tuple(_attachment(item) for item in islice(filter(None, items), _MOST))


def _split(pattern: re.Pattern[str], text: str) -> Iterator[str]:
    place = 0
    while place <= len(text):
        found = pattern.match(text, place)
        if found is None:
            return
        yield found[1]
        if found.end() == len(text) and not text.endswith((";", ":")):
            return
        place = max(found.end(), place + 1)


def _attachment(item: str) -> Attachment:
    parts = list(_split(_PART, item))
    title, path, kind = _arranged(parts)
    spellings = [_unescape(path)]
    if _LATEX.search(path) and not _WINDOWS.match(path):
        spellings += [to_text(path, verbatim=True), to_text(path)]
    if len(parts) > 1 and not _starts_path(parts[1:]):
        spellings.append(_unescape(item))
    return Attachment(
        tuple(dict.fromkeys(spelling for spelling in spellings if spelling)),
        to_text(_unescape(title)).strip(),
        kind.strip().lower(),
    )


def _arranged(parts: list[str]) -> tuple[str, str, str]:
    """Return description, path and type of an item cut at its colons."""
    if len(parts) == 1:
        return "", parts[0], ""
    kind = ""
    if len(parts) > 2 and _TYPE.fullmatch(parts[-1].strip()) and not _starts_path(parts[:-1]):
        *parts, kind = parts
    if _starts_path(parts):
        return "", ":".join(parts), kind
    if len(parts) == 2 and not kind and _TYPE.fullmatch(parts[1].strip()) and "." in parts[0]:
        return "", parts[0], parts[1]
    return parts[0], ":".join(parts[1:]), kind


def _starts_path(parts: list[str]) -> bool:
    """Say whether the first colon belongs to the path: a drive letter or a scheme stands before it."""
    first = parts[0].strip()
    if len(parts) < 2:
        return False
    return first.lower() in _SCHEMES or (bool(_DRIVE.fullmatch(first)) and parts[1][:1] in ("\\", "/"))


def _unescape(text: str) -> str:
    return _ESCAPE.sub(r"\1", text)
