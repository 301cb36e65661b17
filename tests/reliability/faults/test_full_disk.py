"""A disk without room: what is sent is refused with 507 and leaves no row, and all else goes on."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse
from pytest_django.fixtures import Settings

from corpus import storage
from corpus.enqueueing import enqueue
from corpus.inputs import from_paths
from corpus.models import IngestionItem, IngestionRun, Job
from tests.factories.keys import bearer, secret_of
from tests.integration.corpus.ingesting import paper, write

pytestmark = pytest.mark.django_db

SIZE = 512 * 1024
LARGE = ("# Straw\n\nStraw was stored. " * 40_000).encode()
SMALL = paper("40 days").encode()


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of half a megabyte in memory."""
    place = tmp_path / "small"
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", str(place)]
    if os.geteuid() != 0 or subprocess.run(command, check=False, capture_output=True).returncode:
        pytest.skip("needs the right to mount a small file system")
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)


@pytest.fixture(params=["originals", "arriving"])
def full_disk(request: pytest.FixtureRequest, small_disk: Path, tmp_path: Path, settings: Settings) -> Path:
    """Let the originals, or the files on their way, lie where a large file finds no room."""
    settings.MEDIA_ROOT = (small_disk if request.param == "originals" else tmp_path) / "media"
    arriving = (small_disk if request.param == "arriving" else tmp_path) / "arriving"
    arriving.mkdir()
    settings.FILE_UPLOAD_TEMP_DIR = str(arriving)
    return small_disk


def file(content: bytes) -> SimpleUploadedFile:
    return SimpleUploadedFile("straw.md", content, content_type="text/markdown")


def sent(client: Client, page: str, content: bytes) -> HttpResponse:
    return client.post(reverse(page), {"files": [file(content)]})


def rows() -> tuple[int, int, int]:
    return IngestionRun.objects.count(), IngestionItem.objects.count(), Job.objects.count()


@pytest.mark.parametrize("page", ["upload", "upload_file"])
def test_a_page_says_that_there_is_no_room_and_records_nothing(
    full_disk: Path, client: Client, librarian: User, page: str
) -> None:
    client.force_login(librarian)

    refused = sent(client, page, LARGE)

    assert refused.status_code == 507
    assert "There is no room left" in refused.content.decode()
    assert rows() == (0, 0, 0)
    assert client.get(reverse("documents")).status_code == 200
    assert list(full_disk.rglob(".part-*")) == []

    taken = sent(client, page, SMALL)
    assert (taken.status_code, rows()) == (200, (1, 1, 1))


def test_a_program_is_told_by_a_code_and_nothing_is_recorded(
    full_disk: Path, client: Client, librarian: User
) -> None:
    headers = bearer(secret_of(librarian))
    address = reverse("api_ingest")

    refused = client.post(address, {"files": [file(LARGE)]}, headers=headers)

    assert (refused.status_code, refused.json()["code"], rows()) == (507, "no_room", (0, 0, 0))
    assert client.post(address, {"files": [file(SMALL)]}, headers=headers).status_code == 202


def test_of_files_handed_over_together_none_is_taken_when_one_finds_no_room(
    small_disk: Path, tmp_path: Path, settings: Settings
) -> None:
    settings.MEDIA_ROOT = small_disk / "media"
    folder = tmp_path / "in"
    write(folder, "1.md", SMALL.decode())
    write(folder, "2.md", LARGE.decode())

    with pytest.raises(storage.NoRoom):
        enqueue(from_paths([folder]), by=None)

    assert rows() == (0, 0, 0)
