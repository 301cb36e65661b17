"""The door to parsing: a document or one named reason."""

from pathlib import Path

import pytest

from corpus.parsing.blocks import ParseFailure
from corpus.parsing.registry import ParseLimits, parse


def _code(path: Path, **options: object) -> str:
    with pytest.raises(ParseFailure) as failure:
        parse(path, **options)  # type: ignore[arg-type]
    assert "Traceback" not in str(failure.value)
    return failure.value.code


def test_a_text_file_is_parsed_in_another_process(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("A paragraph that is long enough to stay.")

    document = parse(path)

    assert [block.text for block in document.blocks] == ["A paragraph that is long enough to stay."]


def test_files_that_are_missing_empty_or_no_files(tmp_path: Path) -> None:
    (tmp_path / "empty.txt").touch()

    assert _code(tmp_path / "absent.pdf") == "missing_file"
    assert _code(tmp_path / "empty.txt") == "empty_file"
    assert _code(tmp_path) == "missing_file"


def test_a_file_over_the_limit_is_refused_unread(tmp_path: Path) -> None:
    path = tmp_path / "large.txt"
    with path.open("wb") as file:
        file.truncate(200_000_000)

    assert _code(path) == "too_large"


def test_a_page_saved_as_pdf_is_a_wrong_signature(tmp_path: Path) -> None:
    path = tmp_path / "paper.pdf"
    path.write_text("<!DOCTYPE html><html><body>Please sign in</body></html>")

    assert _code(path) == "wrong_signature"


def test_a_result_over_the_limit_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("word " * 20_000)

    assert _code(path, limits=ParseLimits(max_result_bytes=10_000)) == "too_large"


def test_garbage_with_a_pdf_signature_is_damaged(tmp_path: Path) -> None:
    path = tmp_path / "junk.pdf"
    path.write_bytes(b"%PDF-1.7\n" + b"garbage " * 1_000)

    assert _code(path) == "damaged"
