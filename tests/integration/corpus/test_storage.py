"""Originals on disk: whole or absent, under the hash of what they hold."""

import os

import pytest

from corpus import storage


@pytest.fixture(autouse=True)
def media(tmp_path, settings):
    settings.MEDIA_ROOT = tmp_path / "media"
    return settings.MEDIA_ROOT


def test_an_original_is_kept_under_its_hash_and_storing_it_again_changes_nothing(tmp_path):
    path = tmp_path / "a b.pdf"
    path.write_bytes(b"bytes")
    sha256 = storage.hash_file(path)

    first = storage.store(path, sha256)
    again = storage.store(path, sha256)

    assert first == again == storage.path_of(sha256)
    assert first.read_bytes() == b"bytes"
    assert first.parts[-4:] == ("originals", sha256[:2], sha256[2:4], sha256)


def test_a_file_that_changed_meanwhile_is_not_stored(tmp_path, media):
    path = tmp_path / "a.txt"
    path.write_bytes(b"before")
    sha256 = storage.hash_file(path)
    path.write_bytes(b"after")

    with pytest.raises(storage.FileChanged):
        storage.store(path, sha256)

    assert [item for item in media.rglob("*") if item.is_file()] == []


def test_a_full_disk_leaves_nothing_behind(tmp_path, media, monkeypatch):
    path = tmp_path / "a.txt"
    path.write_bytes(b"bytes")

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)

    with pytest.raises(OSError, match="No space"):
        storage.store(path, storage.hash_file(path))
    assert [item for item in media.rglob("*") if item.is_file()] == []


def test_links_and_devices_are_not_opened(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "a")
    os.mkfifo(tmp_path / "pipe")

    for name in ("link", "pipe", "nowhere"):
        with pytest.raises(OSError, match=name):
            storage.hash_file(tmp_path / name)


def test_removing_says_whether_there_was_anything(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"bytes")
    sha256 = storage.hash_file(path)
    storage.store(path, sha256)

    assert (storage.remove(sha256), storage.remove(sha256)) == (True, False)
