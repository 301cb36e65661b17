"""References as BibTeX, RIS and CSL-JSON. Locators of what was cited stand in the note.

The pages an article spans are not known here, so the fields for them stay empty: a reference manager
would take the page of one passage for the extent of the work.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from answers.exports.references import Name, Reference

_LATEX = {
    "\\": r"{\textbackslash}",
    "{": r"{\textbraceleft}",
    "}": r"{\textbraceright}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "~": r"{\textasciitilde}",
    "^": r"{\textasciicircum}",
    "\u2013": "--",
}
# What would end or break a field that is not read as LaTeX.
_VERBATIM = {"{": "%7B", "}": "%7D", "\\": "%5C", " ": "%20", '"': "%22"}
_AND = re.compile(r"\band\b", re.IGNORECASE)


def bibtex(references: Iterable[Reference]) -> str:
    """Return BibTeX, UTF-8; special characters of LaTeX are written so that they print as they are."""
    return "\n".join(_bibtex_entry(reference) for reference in references)


def _bibtex_entry(reference: Reference) -> str:
    kind = "article" if reference.journal else "misc"
    fields = [
        ("title", f"{{{_latex(reference.title)}}}" if reference.title else ""),
        ("author", " and ".join(map(_bibtex_name, reference.names))),
        ("year", str(reference.year or "")),
        ("journal", _latex(reference.journal)),
        ("doi", _verbatim(reference.doi)),
        ("url", _verbatim(reference.url)),
        ("note", _latex(reference.note)),
    ]
    lines = [f"  {name} = {{{value}}}," for name, value in fields if value]
    return "\n".join([f"@{kind}{{{reference.key},", *lines, "}\n"])


def _bibtex_name(name: Name) -> str:
    family, given = _latex(name.family), _latex(name.given)
    if not given:
        return f"{{{family}}}"
    family = f"{{{family}}}" if _AND.search(family) or "," in family else family
    return f"{family}, {f'{{{given}}}' if _AND.search(given) else given}"


def _latex(text: str) -> str:
    return "".join(_LATEX.get(char, char) for char in text)


def _verbatim(text: str) -> str:
    return "".join(_VERBATIM.get(char, char) for char in text)


def ris(references: Iterable[Reference]) -> str:
    """Return RIS with its line ends."""
    return "".join(f"{line}\r\n" for reference in references for line in _ris_lines(reference))


def _ris_lines(reference: Reference) -> Iterator[str]:
    yield f"TY  - {'JOUR' if reference.journal else 'GEN'}"
    pairs = [
        ("ID", reference.key),
        ("TI", reference.title),
        *(("AU", name.inverted) for name in reference.names),
        ("PY", str(reference.year or "")),
        ("JO", reference.journal),
        ("DO", reference.doi),
        ("UR", reference.url),
        *(("N1", note) for note in reference.notes),
    ]
    for tag, value in pairs:
        if value:
            yield f"{tag}  - {' '.join(value.split())}"
    yield "ER  - "
    yield ""


def csl(references: Sequence[Reference]) -> str:
    """Return CSL-JSON, a list of items."""
    return json.dumps([_csl_item(reference) for reference in references], ensure_ascii=False, indent=1) + "\n"


def _csl_item(reference: Reference) -> dict[str, Any]:
    item: dict[str, Any] = {
        "id": reference.key,
        "type": "article-journal" if reference.journal else "document",
        "title": reference.title,
        "author": [
            {"family": name.family, "given": name.given} if name.given else {"literal": name.family}
            for name in reference.names
        ],
        "issued": {"date-parts": [[reference.year]]} if reference.year else None,
        "container-title": reference.journal,
        "DOI": reference.doi,
        "URL": reference.url,
        "note": reference.note,
        "custom": {"locators": list(reference.locators), "license": reference.license_label}
        if reference.available
        else None,
    }
    return {name: value for name, value in item.items() if value}
