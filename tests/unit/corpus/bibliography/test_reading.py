"""A library's format and encoding are found by its content."""

from pathlib import Path

import pytest

from corpus.bibliography import reading
from corpus.bibliography.reading import read
from corpus.bibliography.records import Code

ENTRY = "@book{k,\n title = {Größe}\n}\n"


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (ENTRY.encode(), False),
        (b"\xef\xbb\xbf" + ENTRY.encode(), False),
        (ENTRY.replace("\n", "\r\n").encode(), False),
        (ENTRY.replace("\n", "\r").encode(), False),
        (ENTRY.encode("utf-16"), True),
        (b"% Encoding: ISO8859_1\n" + ENTRY.encode("latin-1"), False),
        (("@book{x, title={Die Größe der Bäume überprüfen}}\n" + ENTRY).encode("latin-1"), True),
    ],
)
def test_text_is_read_in_its_encoding_and_a_guess_is_told(tmp_path: Path, data: bytes, told: bool) -> None:
    path = tmp_path / "x.bib"
    path.write_bytes(data)

    library = read(path)

    assert library.records[-1].title == "Größe"
    assert (Code.GUESSED_ENCODING in [problem.code for problem in library.problems]) is told


def test_the_librarian_knows_the_encoding_better(tmp_path: Path) -> None:
    path = tmp_path / "x.bib"
    path.write_bytes("@book{k, title = {期刊}}".encode("gbk"))

    assert read(path, encoding="gbk").records[0].title == "期刊"


@pytest.mark.parametrize(
    ("name", "text", "form"),
    [
        ("x.txt", "@book{a, title={A}}", "bibtex"),
        ("x.txt", "TY  - BOOK\r\nTI  - A\r\nER  - \r\n", "ris"),
        ("x.bib", '[{"type": "book", "title": "A"}]', "csl-json"),
        ("x.txt", '{"items": [{"itemType": "book", "title": "A"}]}', "zotero-json"),
        ("x.txt", '"Key","Item Type","Title"\n"K","book","A"\n', "zotero-csv"),
        ("x.bib", "prose\n" * 5_000 + "@book{a, title={A}}", "bibtex"),
    ],
)
def test_the_content_decides_the_format(tmp_path: Path, name: str, text: str, form: str) -> None:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")

    library = read(path)

    assert (library.format, library.records[0].title) == (form, "A")


def test_what_is_no_library_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.bib"
    for data in (b"", b"\0\1\2", b"%PDF-1.4", b"just words"):
        path.write_bytes(data)
        assert [problem.code for problem in read(path).problems] == [Code.UNKNOWN_FORMAT]
    assert [problem.code for problem in read(tmp_path).problems] == [Code.UNREADABLE]
    monkeypatch.setattr(reading, "MAX_BYTES", 3)
    assert [problem.code for problem in read(path).problems] == [Code.TOO_LARGE]
