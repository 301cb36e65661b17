"""Extension and content must agree."""

from pathlib import Path

import pytest

from corpus.parsing.blocks import ParseFailure
from corpus.parsing.media_types import HTML, JATS, MARKDOWN, PDF, TEXT, detect


def _written(folder: Path, name: str, content: bytes) -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


@pytest.mark.parametrize(
    ("name", "content", "kind"),
    [
        ("a.pdf", b"%PDF-1.7\n...", PDF),
        ("a.PDF", b"\n\njunk before %PDF-1.4", PDF),
        ("a.md", b"# Title", MARKDOWN),
        ("a.md", b"<p align=center>logo</p>", MARKDOWN),
        ("a.txt", b"words", TEXT),
        ("a.txt", "Größe".encode("utf-16"), TEXT),
        ("a.txt", "plain words".encode("utf-16-be"), TEXT),
        ("a.html", b"<!DOCTYPE html><html>", HTML),
        ("a.xml", b"<?xml version='1.0'?><article/>", JATS),
        ("a.nxml", b"\xef\xbb\xbf<!DOCTYPE article PUBLIC 'x'><article/>", JATS),
        ("a.xml", b"<!doctype html><html></html>", HTML),
    ],
)
def test_a_file_that_is_what_it_is_called(tmp_path: Path, name: str, content: bytes, kind: str) -> None:
    assert detect(_written(tmp_path, name, content)) == kind


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.pdf", b"<!DOCTYPE html><html>Sign in</html>"),
        ("a.pdf", b"just words"),
        ("a.pdf", b"PK\x03\x04"),
        ("a.txt", b"%PDF-1.4"),
        ("a.txt", b"\x89PNG\r\n\x1a\n"),
        ("a.txt", bytes(range(256)) * 20),
        ("a.md", b"PK\x03\x04rest"),
        ("a.html", b"\x1f\x8b\x08"),
        ("a.xml", b"just words"),
        ("a.md", b"{\\rtf1"),
    ],
)
def test_a_file_that_is_something_else(tmp_path: Path, name: str, content: bytes) -> None:
    with pytest.raises(ParseFailure) as failure:
        detect(_written(tmp_path, name, content))

    assert failure.value.code == "wrong_signature"


@pytest.mark.parametrize("name", ["a.doc", "a.docm", "a.exe", "noextension", "a.tar.gz"])
def test_an_extension_no_parser_reads(tmp_path: Path, name: str) -> None:
    with pytest.raises(ParseFailure) as failure:
        detect(_written(tmp_path, name, b"words"))

    assert failure.value.code == "unsupported_file_type"


def test_a_declared_type_stands_in_for_the_extension(tmp_path: Path) -> None:
    path = _written(tmp_path, "upload", b"%PDF-1.4")

    assert detect(path, declared="application/pdf; charset=binary") == PDF
    with pytest.raises(ParseFailure):
        detect(path, declared="text/plain")
