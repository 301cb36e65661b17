"""A library of any format: its encoding, its format, its records. No database."""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from corpus.bibliography import bibtex, items, rdf, ris
from corpus.bibliography.records import Code, Library, Problem
from corpus.parsing.decoding import decode

MAX_BYTES = 100_000_000
MAX_RECORDS = 100_000

_HEAD = 20_000
_RIS = re.compile(r"^TY  ?-", re.MULTILINE)
_BIBTEX = re.compile(r"@[ \t]*\w+[ \t]*[{(]")
_ZOTERO_CSV = re.compile(r'\s*"?Key"?,"?Item Type"?,', re.IGNORECASE)
_RDF = re.compile(r"<(?:\w+:)?RDF[\s>]")
# JabRef and BibDesk write their encoding into the file, as XML does.
_DECLARED = re.compile(
    rb"""(?:% ?Encoding:|string encoding|^\s*<\?xml[^>]{0,100}?\sencoding\s*=) *["']?([\w() -]{2,40})""",
    re.IGNORECASE,
)
_XML_ENCODING = re.compile(r"""(<\?xml[^>]{0,100}?)\s+encoding\s*=\s*["'][^"'>]{0,40}["']""")

Reader = Callable[[str, int], Library]


def read(path: Path, *, encoding: str = "") -> Library:
    """Return what the library at `path` says. Nothing is raised for what is wrong with it: that is named.

    `encoding` is what the librarian knows; without it UTF-8, else what the file declares, else a guess
    that is told.
    """
    try:
        size = path.stat().st_size
        if size > MAX_BYTES:
            message = f"The file has {size / 1e6:.0f} MB; the limit is {MAX_BYTES // 1_000_000} MB."
            return _refused(Code.TOO_LARGE, message)
        data = path.read_bytes()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "not a file"
        return _refused(Code.UNREADABLE, f"The file cannot be read: {reason}.")
    text, used = _decoded(data, encoding)
    del data
    reader = _reader(text, path.suffix.lower())
    if reader is None:
        return _refused(Code.UNKNOWN_FORMAT, "The file is neither BibTeX, RIS, CSL-JSON nor a Zotero export.")
    library = reader(text, MAX_RECORDS)
    library.problems = [_numbered(problem) for problem in library.problems]
    if used:
        message = f"The text is not UTF-8; it was read as {used}. Say otherwise with --encoding."
        library.problems.insert(0, Problem(0, "", Code.GUESSED_ENCODING, message))
    return library


def _numbered(problem: Problem) -> Problem:
    return replace(problem, message=" ".join(problem.message.split()))


def _refused(code: Code, message: str) -> Library:
    return Library(problems=[Problem(0, "", code, message)])


def _decoded(data: bytes, encoding: str) -> tuple[str, str]:
    """Return the text with LF line ends, and the encoding where it had to be guessed."""
    used = ""
    if encoding:
        text = data.decode(encoding, "replace").removeprefix("\ufeff")
    else:
        text, used = decode(data)
        declared = "" if used == "utf-8" else _declared(data)
        if declared:
            text, used = data.decode(declared, "replace"), declared
        used = "" if used == "utf-8" or declared else used
    return text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", ""), used


def _declared(data: bytes) -> str:
    """Return the encoding that the head of the file names, if there is such a one and it is not wide."""
    found = _DECLARED.search(data[:_HEAD])
    if found is None or data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return ""
    try:
        name = codecs.lookup(found[1].decode("ascii", "ignore").strip()).name
    except LookupError:
        return ""
    return "" if name.startswith(("utf", "base64", "hex", "rot", "zlib", "bz2", "quopri", "uu")) else name


def _reader(text: str, extension: str) -> Reader | None:
    """Return what reads the file, by its first characters, else by its name."""
    head = text[:_HEAD].lstrip()
    if head.startswith("<") and _RDF.search(head):
        return _rdf
    if _RIS.search(head):
        return ris.read
    if head.startswith(("{", "[")):
        return items.read_json
    if _ZOTERO_CSV.match(head):
        return items.read_csv
    if _BIBTEX.search(head) or (extension in (".bib", ".bibtex", ".biblatex") and _BIBTEX.search(text)):
        return bibtex.read
    return None


def _rdf(text: str, most: int) -> Library:
    """Read RDF whose declared encoding has been acted upon, so that the XML reader does not do so again."""
    return rdf.read(_XML_ENCODING.sub(r"\1", text.lstrip("\ufeff \t\n"), count=1), most)
