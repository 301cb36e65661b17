"""Three hundred records of any signs, written as BibTeX and RIS and read again by other parsers than ours."""

from __future__ import annotations

import random
import re

import rispy
from pybtex.database import parse_string

from answers.exports.bibliography import bibtex, ris
from answers.exports.references import Name, Reference

RECORDS = 300
SIGNS = (
    *"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", *" " * 12,
    *"{}\\@%#$&_^~\"'`,;:.!?=+-*/|<>()[]", "é", "ß", "Ø", "中", "α", "\u2013", "\u00a0", "\n", "\r\n", "\t",
    "TY  - ", "ER  - ", "@article{x,", " and ", "}}",
)  # fmt: skip
LATEX = {
    r"{\textbackslash}": "\\", r"{\textbraceleft}": "{", r"{\textbraceright}": "}",
    r"{\textasciitilde}": "~", r"{\textasciicircum}": "^", "--": "\u2013",
}  # fmt: skip


def _text(choose: random.Random, most: int) -> str:
    return "x" + "".join(choose.choices(SIGNS, k=choose.randint(1, most))).strip()


def _records() -> list[Reference]:
    choose = random.Random(25)  # noqa: S311 - the same every time
    return [
        Reference(
            key=f"key-{number}",
            available=True,
            notes=(_text(choose, 40),),
            title=_text(choose, 80).replace("--", "-"),
            names=tuple(Name(_text(choose, 12), _text(choose, 8)) for _ in range(choose.randint(1, 3))),
            year=choose.randint(1800, 2030),
            journal=_text(choose, 30),
            doi=f"10.1234/{number}.a_b(c)<d>",
            url=f"https://example.org/{number}?a=b&c=%20#d_e",
        )
        for number in range(RECORDS)
    ]


_WRITTEN = re.compile(r"\{\\text[a-z]+\}|--|\\([&%$#_])")


def _plain(text: str) -> str:
    """Return what LaTeX prints, in one pass as LaTeX reads."""
    text = _WRITTEN.sub(lambda found: found[1] or LATEX[found[0]], text)
    return _line(text)


def _line(text: str) -> str:
    return " ".join(text.replace("--", "\u2013").split())


def _bare(text: str) -> str:
    """Return the letters and digits alone, for names, whose parts the other parser orders as it likes."""
    return "".join(sorted(char for char in text if char.isalnum()))


def test_every_record_comes_back_from_bibtex() -> None:
    records = _records()

    entries = parse_string(bibtex(records), "bibtex").entries

    assert list(entries) == [record.key for record in records]
    for record in records:
        fields = entries[record.key].fields
        assert _plain(fields["title"].removeprefix("{").removesuffix("}")) == _line(record.title), record.key
        assert _plain(fields["journal"]) == _line(record.journal)
        assert (fields["year"], fields["doi"], fields["url"]) == (str(record.year), record.doi, record.url)
        people = entries[record.key].persons["author"]
        assert len(people) == len(record.names), record.key
        assert [_bare(_plain(str(one))) for one in people] == [_bare(one.inverted) for one in record.names]


def test_every_record_comes_back_from_ris() -> None:
    records = _records()

    entries = rispy.loads(ris(records))

    assert len(entries) == RECORDS
    for record, entry in zip(records, entries, strict=True):
        assert entry["title"] == " ".join(record.title.split())
        assert entry["authors"] == [" ".join(name.inverted.split()) for name in record.names]
        assert (entry["year"], entry["doi"]) == (str(record.year), record.doi)
        assert entry["urls"] == [record.url]
