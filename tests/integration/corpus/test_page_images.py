"""The picture of a page beside its passage: rights, marks, and what is kept on disk."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import LazySettings
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from corpus import page_images, page_views, storage
from corpus.actions import deletion
from corpus.models import Chunk, Document
from tests.factories.corpus import ChunkFactory, DocumentFactory
from tests.unit.corpus.parsing.drawing import Drawing

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def media(settings: LazySettings, tmp_path: Path) -> Path:
    settings.MEDIA_ROOT = tmp_path / "media"
    return tmp_path


@pytest.fixture
def reader(client: Client, asker: User) -> Iterator[Client]:
    client.force_login(asker)
    return client


def paper(folder: Path, **values: object) -> Document:
    """A document of three pages whose original is in the store."""
    drawing = Drawing()
    for number in range(3):
        drawing.prose(50, 780, lines=4, seed=number)
        if number < 2:
            drawing.next_page()
    path = drawing.save(folder / "paper.pdf")
    sha256 = storage.hash_file(path)
    storage.store(path, sha256)
    values = {"media_type": "application/pdf", "page_count": 3, "file_sha256": sha256} | values
    return DocumentFactory(**values)


def picture(document: Document, page: int = 1, width: str = "") -> str:
    address = reverse("page_image", args=[document.id, page])
    return f"{address}?width={width}" if width else address


def passage_of(document: Document, **values: object) -> Chunk:
    boxes = [[2, 0.1, 0.2, 0.9, 0.3], [3, 0.1, 0.05, 0.9, 0.1]]
    defaults = {"boxes": boxes, "page_start": 2, "page_end": 3, "body": "Ash rose. It fell again in May."}
    return ChunkFactory(document=document, ordinal=0, **(defaults | values))


def test_a_page_is_sent_as_a_picture_that_no_cache_keeps(reader: Client, tmp_path: Path) -> None:
    response = reader.get(picture(paper(tmp_path), 2))

    assert response.status_code == 200
    assert response.content[8:12] == b"WEBP"
    assert response.headers["Content-Type"] == "image/webp"
    assert response.headers["Cache-Control"] == "private, no-store"
    assert response.headers["X-Content-Type-Options"] == "nosniff"
    assert response.headers["Content-Security-Policy"] == "sandbox; default-src 'none'"


@pytest.mark.parametrize(
    ("page", "width"),
    [(0, ""), (4, ""), (10**30, ""), (1, "901"), (1, "0"), (1, "-900"), (1, "9e2"), (1, "x")],
)
def test_pages_and_widths_that_do_not_exist_are_not_there(
    reader: Client, tmp_path: Path, page: int, width: str
) -> None:
    assert reader.get(picture(paper(tmp_path), page, width)).status_code == 404


def test_only_a_pdf_has_pictures(reader: Client, tmp_path: Path) -> None:
    document = paper(tmp_path, media_type="text/markdown")

    assert reader.get(picture(document)).status_code == 404
    assert "page-figure" not in reader.get(reverse("passage", args=[passage_of(document).public_id])).text


def test_a_kept_picture_is_not_shown_once_the_rights_are_lowered(reader: Client, tmp_path: Path) -> None:
    document = paper(tmp_path)
    assert reader.get(picture(document)).status_code == 200

    Document.objects.filter(id=document.id).update(license_class="restricted")

    assert reader.get(picture(document)).status_code == 404


def test_a_page_is_drawn_once(reader: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    document = paper(tmp_path)
    first = reader.get(picture(document)).content
    monkeypatch.setattr("corpus.page_images.sandbox.draw", lambda *_, **__: pytest.fail("drawn again"))

    assert reader.get(picture(document)).content == first


def test_a_missing_original_and_a_broken_page_are_named_to_who_may_see_the_document(
    reader: Client, tmp_path: Path
) -> None:
    broken = tmp_path / "broken.pdf"
    broken.write_bytes(b"%PDF-1.7 broken")
    sha256 = storage.hash_file(broken)
    storage.store(broken, sha256)
    document = paper(tmp_path, file_sha256=sha256)
    assert reader.get(picture(document)).status_code == 422

    storage.remove(sha256)
    assert reader.get(picture(document)).status_code == 409
    document.refresh_from_db()
    assert document.fixity == "original_missing"


def test_a_page_of_a_file_that_changed_is_not_drawn_and_the_change_is_kept(
    reader: Client, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    document = paper(tmp_path)
    path = storage.path_of(document.file_sha256)
    content = bytearray(path.read_bytes())
    # Still a PDF that could be drawn: a bit of its last comment.
    content[-2] ^= 1
    path.write_bytes(content)

    refused = reader.get(picture(document))

    assert (refused.status_code, "not the one that was taken in" in refused.text) == (409, True)
    document.refresh_from_db()
    assert document.fixity == "original_changed"
    assert "fixity.changed" in caplog.text
    assert not list(page_images.root().glob("*/*/*"))


def test_a_full_disk_still_shows_the_page(
    reader: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(**_: object) -> None:
        raise OSError(28, "No space left on device")

    document = paper(tmp_path)
    monkeypatch.setattr("corpus.whole_files.tempfile.mkstemp", full)

    assert reader.get(picture(document)).status_code == 200
    assert not list(page_images.root().glob("*/*/*"))


def test_what_is_kept_stays_within_its_limit_and_the_last_looked_at_stay(settings: LazySettings) -> None:
    settings.SCI_RAG_PAGE_CACHE_MB = 1
    folder = page_images.root() / "ab" / "abc"
    folder.mkdir(parents=True)
    for number in range(12):
        path = folder / f"{number}-900.webp"
        path.write_bytes(bytes(100_000))
        os.utime(path, (number, number))

    assert page_images.trim() == 4
    assert not (folder / "3-900.webp").exists()
    assert (folder / "4-900.webp").exists()
    assert page_images.trim() == 0


@pytest.mark.django_db(transaction=True)
def test_deleting_a_document_removes_its_pictures(reader: Client, tmp_path: Path) -> None:
    document = paper(tmp_path)
    reader.get(picture(document))
    assert list(page_images.root().glob("*/*/*.webp"))

    deletion.delete(document_id=document.id)

    assert not list(page_images.root().glob("*/*/*"))


def test_the_passage_opens_on_its_first_marked_page(reader: Client, tmp_path: Path) -> None:
    document = paper(tmp_path)
    text = reader.get(reverse("passage", args=[passage_of(document).public_id])).text

    assert f'src="{picture(document, 2)}?width=900"' in text
    assert '<rect id="mark" x="97" y="197" width="806" height="106"/>' in text
    assert "with the passage marked" in text
    assert "Page 2 of 3" in text
    assert "?page=1&amp;width=900" in text
    assert "?page=3&amp;width=900" in text
    assert "?page=2&amp;width=1200" in text


def test_a_page_without_the_passage_says_where_it_is_marked(reader: Client, tmp_path: Path) -> None:
    passage = passage_of(paper(tmp_path))
    text = reader.get(reverse("passage", args=[passage.public_id]), {"page": "1", "width": "1600"}).text

    assert "<rect" not in text
    assert "it is marked on: 2, 3." in text
    assert "nothing marked" in text


def test_a_passage_that_cannot_be_located_opens_unmarked_and_says_so(reader: Client, tmp_path: Path) -> None:
    passage = passage_of(paper(tmp_path), boxes=[])
    text = reader.get(reverse("passage", args=[passage.public_id])).text

    assert "Page 2 of 3" in text
    assert "<rect" not in text
    assert "is not known, so nothing is marked" in text


@pytest.mark.parametrize(
    "query", [{"page": "99"}, {"page": "-1"}, {"page": "x"}, {"width": "5"}, {"page": "٣"}]
)
def test_a_page_or_width_that_makes_no_sense_shows_the_passage(
    reader: Client, tmp_path: Path, query: dict[str, str]
) -> None:
    text = reader.get(reverse("passage", args=[passage_of(paper(tmp_path)).public_id]), query).text

    assert "Page 2 of 3" in text
    assert "?width=900" in text


def test_boxes_that_make_no_sense_are_left_out(tmp_path: Path) -> None:
    boxes = [
        None, [], [1, 2], "12345", ["x", 0, 0, 1, 1], [9, 0, 0, 1, 1], [1, 0.5, 0.5, 0.5, 0.5],
        [1, 1, 1, 0, 0],
        [2, -3, 0.5, 7, 0.6], [1, "<b>", 0, 1, 1], [1e400, 0, 0, 1, 1],
    ]  # fmt: skip
    passage = Chunk(boxes=boxes, page_start=1)

    view = page_views.of_passage(passage, paper(tmp_path))

    assert view is not None
    assert (view.number, view.pages) == (2, (2,))
    assert view.marks == (page_views.Mark(0, 497, 1000, 106),)


def test_the_cited_sentence_is_marked_inside_the_passage(reader: Client, tmp_path: Path) -> None:
    passage = passage_of(paper(tmp_path))
    address = reverse("passage", args=[passage.public_id])

    text = reader.get(address, {"cited": "0-9"}).text
    assert '<mark class="cited">Ash rose.</mark> It fell again in May.' in text
    assert "&amp;cited=0-9" in text
    for forged in ("1-9", "0-8", "0-999", "x"):
        assert "<mark>Ash rose. It fell again in May.</mark>" in reader.get(address, {"cited": forged}).text
