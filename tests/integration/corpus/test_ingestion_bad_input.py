"""Files that cannot be taken in: one clear line each, nothing half-stored."""

import os
from io import BytesIO
from pathlib import Path

import pytest
from pypdf import PdfWriter

from corpus.models import Chunk, Document, Source
from corpus.reports import Outcome
from tests.integration.corpus.ingesting import only, take

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def media(tmp_path: Path, settings) -> Path:
    settings.MEDIA_ROOT = tmp_path / "media"
    return settings.MEDIA_ROOT


def encrypted_pdf() -> bytes:
    writer = PdfWriter()
    writer.add_blank_page(100, 100)
    writer.encrypt("a password")
    buffer = BytesIO()
    writer.write(buffer)
    return buffer.getvalue()


REFUSED = [
    ("empty.pdf", b"", "empty_file"),
    ("page.pdf", b"<!doctype html><html><body><p>Not found</p></body></html>", "wrong_signature"),
    ("locked.pdf", encrypted_pdf(), "encrypted"),
    ("broken.pdf", b"%PDF-1.7\n1 0 obj\n<< /Type", "damaged"),
    ("sheet.xls", b"\xd0\xcf\x11\xe0", "unsupported_file_type"),
    ("archive.txt", b"PK\x03\x04" + b"x" * 100, "wrong_signature"),
    ("blank.txt", b" \n\n \n", "no_text"),
    ("big.txt", b"word " * 700_000, "too_large"),
]


@pytest.mark.parametrize(("name", "content", "code"), REFUSED, ids=[name for name, _, _ in REFUSED])
def test_a_file_that_cannot_be_taken_in_is_one_clear_line(tmp_path, media, name, content, code):
    path = tmp_path / name
    path.write_bytes(content)

    item = only(take(path))

    assert (item.outcome, item.reason) == (Outcome.FAILED, code)
    assert item.detail.endswith(".")
    assert "\n" not in item.detail
    assert "Traceback" not in item.detail
    assert [model.objects.count() for model in (Document, Chunk, Source)] == [0, 0, 0]
    assert not media.exists()


def test_a_file_that_is_not_there_is_one_clear_line(tmp_path):
    item = only(take(tmp_path / "nowhere.pdf"))

    assert (item.outcome, item.reason) == (Outcome.FAILED, "missing_file")


def test_a_pipe_does_not_make_the_run_wait(tmp_path):
    os.mkfifo(tmp_path / "pipe.txt")

    assert only(take(tmp_path / "pipe.txt")).reason == "missing_file"


def test_latin_1_text_is_read_and_said_to_be(tmp_path):
    path = tmp_path / "latin.txt"
    path.write_bytes(
        "Die G\xe4rr\xfcckst\xe4nde wurden f\xfcr neunzig Tage gelagert und verloren etwas Stickstoff. "
        "Die \xc4nderung der Masse war gering und die K\xf6rnung blieb gleich.".encode("latin-1")
    )

    item = only(take(path))

    assert item.outcome is Outcome.READY
    assert "G\xe4rr\xfcckst\xe4nde" in Chunk.objects.get().body


@pytest.mark.parametrize("opening", ["[", "(", "> ", "- ", "<div>"])
def test_ten_thousand_nested_brackets_end_with_a_reason_or_a_document(tmp_path, opening):
    suffix = ".html" if opening == "<div>" else ".md"
    path = tmp_path / f"deep{suffix}"
    path.write_text(opening * 10_000 + "The text inside of it all is short.")

    item = only(take(path))

    assert item.outcome in (Outcome.READY, Outcome.FAILED)
    assert item.reason != "internal_error"
    assert (Document.objects.count() == 1) == (item.outcome is Outcome.READY)


def test_a_200_mb_text_file_is_refused_without_reading_it(tmp_path):
    path = tmp_path / "huge.txt"
    with path.open("wb") as file:
        file.truncate(200_000_000)

    item = only(take(path))

    assert item.reason == "too_large"
    assert "200.0 MB" in item.detail
    assert item.seconds < 1
