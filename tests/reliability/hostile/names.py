"""Sixty names and records of works that break what writes them down: files, authors, years, table formulas.

Names of files are sent as they are, since most of them cannot stand on a disk. What is said of a work stands
in manifests.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tests.reliability.hostile.cases import Case
from tests.reliability.hostile.places import manifest

COUNT = 60


@dataclass(frozen=True, slots=True)
class FileName:
    """What a file is called by its sender, in bytes, and the code of the refusal where it is refused."""

    name: str
    sent: bytes
    codes: tuple[str, ...] = ("",)


WRONG_KIND = "unsupported_file_type"


def file_names() -> list[FileName]:
    """Return the names of files."""
    return [FileName(f"file: {name}", sent, codes) for name, sent, codes in _FILES]


_FILES: tuple[tuple[str, bytes, tuple[str, ...]], ...] = (
    ("a way up", b"../../../../etc/passwd.txt", ("",)),
    ("a way up of Windows", b"..\\..\\..\\boot.txt", ("",)),
    ("from the root", b"/etc/cron.d/job.txt", ("",)),
    ("a drive", b"C:\\autoexec.txt", ("",)),
    ("a share", b"\\\\server\\share\\a.txt", ("",)),
    ("two dots", b"..", (WRONG_KIND, "no_file", "")),
    ("a dot", b".", (WRONG_KIND, "no_file", "")),
    ("an ending alone", b".txt", (WRONG_KIND, "")),
    ("nothing", b"", ("no_file", "files", "")),
    ("spaces", b"   ", (WRONG_KIND, "no_file", "")),
    ("a device of Windows", b"CON.txt", ("",)),
    ("a printer", b"LPT1.txt", ("",)),
    ("a stream", b"a.txt::$DATA", (WRONG_KIND, "")),
    ("4,000 letters", b"n" * 4_000 + b".txt", ("",)),
    ("4,000 dots", b"." * 4_000 + b"txt", (WRONG_KIND, "")),
    ("4,000 letters behind the dot", b"a." + b"t" * 4_000, (WRONG_KIND,)),
    ("percent signs of a line end", b"a%0d%0aX-Evil: 1.txt", ("",)),
    ("a bare line end", b"a\rX-Evil: 1.txt", ("", "malformed_request", WRONG_KIND)),
    ("a zero byte", b"a.txt\0.exe", ("", WRONG_KIND)),
    ("a zero byte before the ending", b"a.exe\0.txt", ("", WRONG_KIND)),
    ("turned around", "\u202etxt.exe".encode(), (WRONG_KIND, "")),
    ("turned around, the other way", "exe.\u202etxt".encode(), (WRONG_KIND, "")),
    ("no text at all", b"\xff\xfe\xfd.txt", ("",)),
    ("too long a form", b"\xc0\xae\xc0\xae\xc0\xafa.txt", ("",)),
    ("half a character", b"\xed\xa0\x80.txt", ("",)),
    ("markup", b"<img src=x onerror=alert(1)>.txt", ("",)),
    ("a template", b"{{7*7}}{% debug %}.txt", ("",)),
    ("a formula", b"=HYPERLINK(1).txt", ("",)),
    ("two endings", b"paper.pdf.exe", (WRONG_KIND,)),
    ("a terminal's orders", b"\x1b]0;evil\x07.txt", ("",)),
)  # fmt: skip


def cases() -> Iterator[Case]:
    """Yield manifests that say of a work what nobody is called and when nothing appeared."""
    for name, fields in _SAID:
        refused = "" if name.startswith(_TAKEN) else "invalid_field"
        yield manifest(f"says-{name}", {"path": "straw.txt", "title": "Straw"} | fields, refused=refused)


# Odd, and yet a text that somebody may have meant.
_TAKEN = ("author-markup", "author-turned", "author-line-end", "formula", "title")


_SAID: tuple[tuple[str, dict[str, Any]], ...] = (
    ("author-markup", {"authors": ["<script>alert(1)</script>", "O'Brien; DROP TABLE x"]}),
    ("author-empty", {"authors": ["", " "]}),
    ("author-turned", {"authors": ["\u202eevil \u2066x"]}),
    ("author-long", {"authors": ["A" * 300, "B" * 301]}),
    ("author-line-end", {"authors": ["A\r\nBcc: x@example.org"]}),
    ("author-zero", {"authors": ["A\0B"]}),
    ("author-half", {"authors": ["A\udc00"]}),
    ("author-numbers", {"authors": [1, None, True]}),
    ("authors-many", {"authors": ["A B"] * 2_001}),
    ("authors-object", {"authors": {"0": "A"}}),
    ("year-minus-one", {"year": -1}),
    ("year-nought", {"year": 0}),
    ("year-million-million", {"year": 10**12}),
    ("year-true", {"year": True}),
    ("year-text", {"year": "2020"}),
    ("year-half", {"year": 2020.5}),
    ("year-far", {"year": 9999}),
    ("year-list", {"year": [2020]}),
    ("formula-sum", {"title": "=1+1", "journal": "=1+1", "bucket": "=1+1"}),
    ("formula-command", {"title": "=cmd|' /C calc'!A0", "version": "@SUM(1)"}),
    ("formula-link", {"title": '=HYPERLINK("http://127.0.0.1:9/?"&A1,"x")'}),
    ("formula-plus", {"title": "+1", "authors": ["+A1", "-A1", "@A1"]}),
    ("formula-minus", {"title": "-2+3", "license_source": "-1+cmd|' /C calc'!A0"}),
    ("formula-at", {"title": "@SUM(A1:A9)", "journal": "@x"}),
    ("formula-tab", {"title": "\t=1+1", "journal": "\r=1+1"}),
    ("formula-space", {"title": "\u00a0 =1+1", "bucket": "\u200b=1+1"}),
    ("formula-wide", {"title": "\uff1d1\uff0b1", "journal": "\uff201"}),
    ("formula-quote", {"title": '"=1+1","=2+2"', "bucket": "'=1"}),
    ("title-many-marks", {"title": "S" + "\u0301" * 900}),
    ("language-odd", {"language": "en-" + "x" * 30}),
)
