"""The file of a backup: whole it reads as it was written, and whatever else it is, it is named."""

from __future__ import annotations

import io
import json
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from sci_rag_site.backup import archive, checking, programs, sealing
from sci_rag_site.backup.errors import (
    BackupError,
    Damaged,
    Foreign,
    Newer,
    PassphraseNeeded,
    Truncated,
    Unfit,
    WrongPassphrase,
)

DUMP = bytes(range(256)) * 300
ORIGINALS = {"a" * 64: b"one", "b" * 64: b"", "c" * 64: b"x" * 5_000}
SECRET = b"correct horse battery"


@pytest.fixture(autouse=True)
def quick_scrypt(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sealing, "_COST", 1 << 4)


def quiet(_count: int) -> None:
    """Progress that nobody looks at."""


def written(path: Path, *, passphrase: bytes | None = None, version: int = archive.VERSION) -> Path:
    with path.open("wb") as file:
        header = {"sci_rag": "9.9", "made_at": "now", "version": version}
        with archive.writing(file, header, passphrase=passphrase, progress=quiet) as writer:
            assert writer.add_stream(archive.DATABASE, io.BytesIO(DUMP)) == len(DUMP)
            for name, content in ORIGINALS.items():
                writer.add_file(archive.ORIGINALS + name, io.BytesIO(content), len(content))
            writer.finish({"fingerprint": "f"})
    return path


def read(path: Path, *, passphrase: bytes | None = None) -> tuple[dict[str, bytes], dict[str, object]]:
    with archive.reading(path, passphrase=passphrase, progress=quiet) as reader:
        found = {member.name: member.content.read() for member in reader.members()}
    return found, reader.manifest


@pytest.mark.parametrize("passphrase", [None, SECRET], ids=["open", "sealed"])
def test_what_is_read_is_what_was_written(tmp_path: Path, passphrase: bytes | None) -> None:
    found, manifest = read(written(tmp_path / "b", passphrase=passphrase), passphrase=passphrase)

    assert b"".join(found[name] for name in found if name.startswith(archive.DATABASE)) == DUMP
    assert {n[10:]: c for n, c in found.items() if n.startswith(archive.ORIGINALS)} == ORIGINALS
    assert manifest == {"fingerprint": "f"}


def test_members_that_nobody_reads_are_compared_all_the_same(tmp_path: Path) -> None:
    path = written(tmp_path / "b")
    content = bytearray(path.read_bytes())
    content[content.index(b"x" * 5_000) + 70] ^= 1
    path.write_bytes(content)

    with pytest.raises(Damaged, match=r"c{64} was changed"), archive.reading(
        path, passphrase=None, progress=quiet
    ) as reader:  # fmt: skip
        list(reader.members())


@pytest.mark.parametrize("passphrase", [None, SECRET], ids=["open", "sealed"])
@pytest.mark.parametrize("share", [0.0, 0.0001, 0.001, 0.01, 0.3, 0.5, 0.9, 0.95, 0.99, 0.9999])
def test_a_file_that_breaks_off_anywhere_is_refused(
    tmp_path: Path, share: float, passphrase: bytes | None
) -> None:
    path = written(tmp_path / "b", passphrase=passphrase)
    content = path.read_bytes()
    # The last kilobytes of a tar are zeros: without some of them it is still whole.
    path.write_bytes(content[: int((len(content) - (0 if passphrase else 10_240)) * share)])

    with pytest.raises((Truncated, Foreign)):
        read(path, passphrase=passphrase)


@pytest.mark.parametrize("passphrase", [None, SECRET], ids=["open", "sealed"])
@pytest.mark.parametrize("place", range(0, 100, 4))
def test_a_changed_byte_anywhere_is_noticed(tmp_path: Path, place: int, passphrase: bytes | None) -> None:
    path = written(tmp_path / "b", passphrase=passphrase)
    content = bytearray(path.read_bytes())
    end = content.rindex(b"manifest.sha256") + 512 if passphrase is None else len(content)
    offset = end * place // 100
    content[offset] ^= 0x5A
    path.write_bytes(content)

    try:
        found, manifest = read(path, passphrase=passphrase)
    except BackupError:
        return
    # What a tar says of owners and times says nothing of a backup.
    assert passphrase is None
    assert b"".join(found[name] for name in found if name.startswith(archive.DATABASE)) == DUMP
    assert manifest == {"fingerprint": "f"}


def test_what_was_added_taken_out_or_exchanged_is_noticed(tmp_path: Path) -> None:
    path = written(tmp_path / "b")
    members = [(entry.name, content) for entry, content in _unpacked(path)]
    added = [*members[:2], ("originals/" + "d" * 64, b"more"), *members[2:]]
    without = [one for one in members if not one[0].endswith("a" * 64)]
    after = [*members, ("originals/" + "d" * 64, b"more")]
    link = tarfile.TarInfo("originals/" + "e" * 64)
    link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"

    for changed, words in ((added, "came into"), (without, "missing from"), (after, "was added")):
        with pytest.raises(Damaged, match=words):
            read(_packed(tmp_path / "changed", changed))
    with pytest.raises(Damaged):
        read(_packed(tmp_path / "changed", members[:2], link))


def _unpacked(path: Path) -> list[tuple[tarfile.TarInfo, bytes]]:
    with tarfile.open(path) as tar:
        return [(entry, tar.extractfile(entry).read()) for entry in tar]


def _packed(path: Path, members: list[tuple[str, bytes]], *others: tarfile.TarInfo) -> Path:
    with tarfile.open(path, "w", format=tarfile.GNU_FORMAT) as tar:
        for name, content in members:
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            tar.addfile(entry, io.BytesIO(content))
        for entry in others:
            tar.addfile(entry)
    return path


def _not_a_tar(path: Path) -> Path:
    path.write_bytes(b"%PDF-1.7 " * 400)
    return path


def _another_tar(path: Path) -> Path:
    return _packed(path, [("readme.txt", b"hello")])


def _another_header(path: Path) -> Path:
    return _packed(path, [(archive.HEADER, json.dumps({"format": "other", "version": 1}).encode())])


def _folder(path: Path) -> Path:
    path.mkdir()
    return path


@pytest.mark.parametrize("make", [_not_a_tar, _another_tar, _another_header, _folder])
def test_another_file_is_told_from_a_backup(tmp_path: Path, make: Callable[[Path], Path]) -> None:
    with pytest.raises(Foreign):
        read(make(tmp_path / "b"))


def test_a_file_of_a_newer_version_says_which_one_reads_it(tmp_path: Path) -> None:
    with pytest.raises(Newer, match=r"newer sci-rag \(9\.9\)"):
        read(written(tmp_path / "b", version=archive.VERSION + 1))


def test_a_sealed_file_needs_its_passphrase_and_no_other(tmp_path: Path) -> None:
    path = written(tmp_path / "b", passphrase=SECRET)

    assert archive.is_sealed(path)
    assert DUMP[:64] not in path.read_bytes()
    with pytest.raises(PassphraseNeeded, match="--passphrase-file"):
        read(path)
    with pytest.raises(WrongPassphrase):
        read(path, passphrase=SECRET + b"!")


def test_blocks_of_a_sealed_file_can_neither_be_moved_nor_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sealing, "BLOCK", 1000)
    whole = written(tmp_path / "b", passphrase=SECRET).read_bytes()
    begin, block = len(sealing.MAGIC) + 16 + 7 + 16, 1016
    first, second = whole[begin : begin + block], whole[begin + block : begin + 2 * block]
    moved = whole[:begin] + second + first + whole[begin + 2 * block :]
    cut = whole[: begin + 3 * block]

    for content, error in (
        (moved, Damaged),
        (whole[:begin] + whole[begin + block :], Damaged),
        (cut, Truncated),
    ):
        (tmp_path / "c").write_bytes(content)
        with pytest.raises(error):
            read(tmp_path / "c", passphrase=SECRET)


@pytest.mark.parametrize("content", [b"", b"short\n", b"\ntwelve characters and more"])
def test_a_passphrase_that_protects_nothing_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "p").write_bytes(content)

    with pytest.raises(BackupError, match="twelve"):
        checking.read_passphrase(tmp_path / "p")


def test_programs_older_than_the_server_are_refused_by_name() -> None:
    assert programs.fitting("pg_dump", server=18).major >= 18
    with pytest.raises(Unfit, match="server is PostgreSQL 99, and pg_dump here is of version"):
        programs.fitting("pg_dump", server=99)
    with pytest.raises(Unfit, match="is of version none"):
        programs.fitting("pg_nothing", server=15)
