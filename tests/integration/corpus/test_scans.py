"""Documents without readable text: their pages are shown to whom their rights allow, nothing else is."""

from pathlib import Path

import pytest
from django.conf import LazySettings
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from corpus import storage
from corpus.models import Document
from tests.factories.corpus import DocumentFactory
from tests.unit.corpus.parsing.drawing import Drawing

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def media(settings: LazySettings, tmp_path: Path) -> None:
    settings.MEDIA_ROOT = tmp_path / "media"


@pytest.fixture
def reader(client: Client, asker: User) -> Client:
    client.force_login(asker)
    return client


def scan(folder: Path, **values: object) -> Document:
    """A document of two pages that nobody could read."""
    drawing = Drawing()
    drawing.prose(50, 780, lines=4)
    drawing.next_page()
    drawing.prose(50, 780, lines=4, seed=1)
    path = drawing.save(folder / "scan.pdf")
    sha256 = storage.hash_file(path)
    storage.store(path, sha256)
    defaults = {
        "title": "A scanned report", "media_type": "application/pdf", "page_count": 2, "file_sha256": sha256,
        "state": "needs_ocr", "state_reason": "no_text", "license_class": "public", "chunk_count": 0,
    }  # fmt: skip
    return DocumentFactory(**(defaults | values))


def test_the_pages_of_a_scan_are_shown_one_by_one(reader: Client, tmp_path: Path) -> None:
    document = scan(tmp_path)
    address = reverse("document", args=[document.id])

    first, second = reader.get(address).text, reader.get(address, {"page": "2", "width": "1200"}).text

    assert "No page has text that can be read" in first
    assert f"{reverse('page_image', args=[document.id, 1])}?width=900" in first
    assert f"{reverse('page_image', args=[document.id, 2])}?width=1200" in second
    assert "Page 2 of 2 of the file." in second
    picture = reader.get(reverse("page_image", args=[document.id, 2]))
    assert picture.content[8:12] == b"WEBP"


@pytest.mark.parametrize("query", [{"page": "9"}, {"page": "x"}, {"width": "7"}])
def test_what_makes_no_sense_counts_as_not_asked_for(
    reader: Client, tmp_path: Path, query: dict[str, str]
) -> None:
    assert "Page 1 of 2" in reader.get(reverse("document", args=[scan(tmp_path).id]), query).text


def test_a_scan_out_of_the_readers_ceiling_is_not_there(reader: Client, tmp_path: Path) -> None:
    document = scan(tmp_path, license_class="restricted")
    missing = reader.get(reverse("document", args=["00000000-0000-4000-8000-000000000000"]))

    page = reader.get(reverse("document", args=[document.id]))

    assert (page.status_code, page.content) == (404, missing.content)
    assert reader.get(reverse("page_image", args=[document.id, 1])).status_code == 404


def test_a_scan_is_in_no_list(reader: Client, tmp_path: Path) -> None:
    scan(tmp_path)

    assert "A scanned report" not in reader.get(reverse("documents"), {"q": "scanned"}).text


def test_a_scan_of_another_format_says_so_without_pages(reader: Client) -> None:
    document = DocumentFactory(
        state="needs_ocr", state_reason="no_text", license_class="public", chunk_count=0
    )

    text = reader.get(reverse("document", args=[document.id])).text

    assert "No page has text that can be read" in text
    assert "page-figure" not in text


@pytest.mark.parametrize("state", ["failed", "parsing", "queued"])
def test_documents_in_no_other_state_are_shown(reader: Client, tmp_path: Path, state: str) -> None:
    document = scan(tmp_path, state=state)

    assert reader.get(reverse("document", args=[document.id])).status_code == 404
    assert reader.get(reverse("page_image", args=[document.id, 1])).status_code == 404
