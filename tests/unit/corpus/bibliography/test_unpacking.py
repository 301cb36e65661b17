"""What a ZIP may do to the machine that unpacks it: nothing but fill a folder, within limits."""

import io
import stat
import struct
import zipfile
from pathlib import Path

import pytest

from corpus.bibliography import unpacking
from corpus.bibliography.unpacking import Unpacked, Unusable, is_archive, unpack

BIB = "@book{a, title = {T}}"
MEGABYTE = 1_000_000


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "unpacked"
    made.mkdir()
    return made


def zipped(tmp_path: Path, *parts: tuple[str | zipfile.ZipInfo, str | bytes]) -> Path:
    path = tmp_path / "export.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts:
            archive.writestr(name, content)
    return path


def taken(archive: Path, folder: Path) -> Unpacked:
    return unpack(archive, folder, largest_file=MEGABYTE, most_bytes=5 * MEGABYTE)


def refused(archive: Path, folder: Path) -> str:
    with pytest.raises(Unusable) as found:
        taken(archive, folder)
    return found.value.code


def files(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def special(name: str, mode: int) -> zipfile.ZipInfo:
    part = zipfile.ZipInfo(name)
    part.create_system = 3
    part.external_attr = (mode | 0o644) << 16
    return part


def test_the_library_is_found_in_the_topmost_folder_with_its_files_beside_it(tmp_path, folder):
    archive = zipped(
        tmp_path,
        ("My Library/", ""),
        ("My Library/My Library.rdf", "<RDF>"),
        ("My Library/files/1/data.csv", "a,b"),
        ("My Library/files/1/a.pdf", "%PDF-"),
        ("__MACOSX/My Library/._My Library.rdf", "x"),
        ("My Library/.DS_Store", "x"),
    )

    found = taken(archive, folder)

    assert found.library == folder.resolve() / "My Library/My Library.rdf"
    assert files(folder) == [
        "My Library/My Library.rdf",
        "My Library/files/1/a.pdf",
        "My Library/files/1/data.csv",
    ]
    assert (found.refused, found.loose) == ({}, [])


def test_data_beside_a_library_is_not_taken_for_another(tmp_path, folder):
    archive = zipped(tmp_path, ("a.bib", BIB), ("table.csv", "a"), ("settings.json", "{}"))

    assert taken(archive, folder).library.name == "a.bib"


@pytest.mark.parametrize(
    ("parts", "code"),
    [
        ([("a.pdf", "x")], "no_library"),
        ([("a.bib", "")], "no_library"),
        ([("a.bib", BIB), ("b.ris", "x")], "several_libraries"),
        ([], "no_library"),
    ],
)
def test_an_archive_without_one_library_is_refused_by_name(tmp_path, folder, parts, code):
    assert refused(zipped(tmp_path, *parts), folder) == code


@pytest.mark.parametrize(
    "name",
    [
        "../evil.md",
        "files/../../evil.md",
        "/etc/evil.md",
        "C:/evil.md",
        "C:\\evil.md",
        "..\\evil.md",
        "a:b/evil.md",
    ],
)
def test_a_name_that_leads_out_is_refused_and_written_nowhere(tmp_path, folder, name):
    found = taken(zipped(tmp_path, ("a.bib", BIB), (name, "evil")), folder)

    assert [part.code for part in found.loose] == ["outside_folder"]
    assert files(tmp_path) == ["export.zip", "unpacked/a.bib"]
    assert not Path("/etc/evil.md").exists()


@pytest.mark.parametrize("mode", [stat.S_IFLNK, stat.S_IFIFO, stat.S_IFCHR, stat.S_IFSOCK])
def test_links_and_devices_are_never_made(tmp_path, folder, mode):
    found = taken(zipped(tmp_path, ("a.bib", BIB), (special("l.md", mode), "/etc/passwd")), folder)

    place = folder.resolve() / "l.md"
    assert found.refused[place].code == "unsafe_archive"
    assert stat.S_ISREG(place.lstat().st_mode)
    assert place.read_bytes() == b""


def test_a_file_below_a_link_or_a_file_is_refused(tmp_path, folder):
    found = taken(
        zipped(tmp_path, ("a.bib", BIB), (special("d", stat.S_IFLNK), "/etc"), ("d/evil.md", "evil")), folder
    )

    assert [part.code for part in found.loose] == ["unsafe_archive"]


def test_what_no_parser_reads_is_not_unpacked_and_leaves_its_place(tmp_path, folder):
    taken(zipped(tmp_path, ("a.bib", BIB), ("bomb.bin", b"0" * 3_000_000)), folder)

    assert (folder / "bomb.bin").stat().st_size == 0


def test_a_file_above_the_limit_is_refused_and_the_others_stay(tmp_path, folder):
    found = taken(
        zipped(tmp_path, ("a.bib", BIB), ("large.pdf", b"x" * (MEGABYTE + 1)), ("small.md", "x")), folder
    )

    assert [part.code for part in found.refused.values()] == ["too_large"]
    assert (folder / "small.md").read_text() == "x"


def test_an_archive_that_declares_a_bomb_is_refused_before_a_byte_is_unpacked(tmp_path, folder):
    archive = zipped(tmp_path, ("a.bib", BIB), *((f"{n}.md", b"0" * 900_000) for n in range(30)))

    assert refused(archive, folder) == "unsafe_archive"
    assert files(folder) == []


def test_an_archive_that_holds_more_than_the_site_takes_is_refused(tmp_path, folder):
    archive = tmp_path / "export.zip"
    with zipfile.ZipFile(archive, "w") as opened:
        opened.writestr("a.bib", BIB)
        for number in range(6):
            opened.writestr(f"{number}.md", b"0" * 900_000)

    assert refused(archive, folder) == "too_large"


def test_an_archive_that_declares_less_than_it_holds_gives_no_more_than_it_declares(tmp_path, folder):
    archive = zipped(tmp_path, ("a.bib", BIB), ("b.md", b"0" * 900_000))
    data = archive.read_bytes().replace(struct.pack("<L", 900_000), struct.pack("<L", 10))
    archive.write_bytes(data)

    found = taken(archive, folder)

    assert [part.code for part in found.refused.values()] == ["damaged"]
    assert (folder / "b.md").stat().st_size == 0


def test_parts_that_share_their_bytes_are_not_unpacked_again_and_again(tmp_path, folder):
    """Overlapping parts: each entry of the directory names the same compressed data."""
    archive = zipped(tmp_path, ("a.bib", BIB), ("b00.md", b"0" * 900_000))
    data = archive.read_bytes()
    end = data.rfind(b"PK\x05\x06")
    first = data.find(b"PK\x01\x02")
    second = data.find(b"PK\x01\x02", first + 4)
    entry = data[second:end]
    copies = [entry.replace(b"b00.md", b"b%02d.md" % n) for n in range(60)]
    directory = data[first:second] + b"".join(copies)
    count = 61
    tail = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, count, count, len(directory), first, 0)
    archive.write_bytes(data[:first] + directory + tail)

    assert refused(archive, folder) == "unsafe_archive"


@pytest.mark.parametrize("kind", ["cut", "noise", "wide", "long"])
def test_a_damaged_or_lying_archive_is_refused_by_name(tmp_path, folder, kind):
    archive = zipped(tmp_path, ("a.bib", BIB), ("b.md", "text"))
    data = archive.read_bytes()
    end = data.rfind(b"PK\x05\x06")
    changed = {
        "cut": data[: end - 10],
        "noise": data[: data.find(b"PK\x01\x02")] + b"\xff" * 40 + data[end:],
        "wide": data[:end] + b"PK\x06\x07" + bytes(16) + data[end:],
        "long": data[: end + 12] + struct.pack("<L", 9_000_000) + data[end + 16 :],
    }[kind]
    archive.write_bytes(changed)

    assert refused(archive, folder) in ("damaged", "unsafe_archive")


def test_a_part_whose_data_is_damaged_is_refused_alone(tmp_path, folder):
    archive = zipped(tmp_path, ("a.bib", BIB), ("b.md", "words " * 400))
    data = bytearray(archive.read_bytes())
    place = data.find(b"b.md") + 8
    data[place : place + 4] = b"\xff\xff\xff\xff"
    archive.write_bytes(bytes(data))

    found = taken(archive, folder)

    assert [part.code for part in found.refused.values()] == ["damaged"]


def test_an_encrypted_archive_is_refused_as_such(tmp_path, folder):
    archive = zipped(tmp_path, ("a.bib", BIB))
    data = bytearray(archive.read_bytes())
    data[data.find(b"PK\x01\x02") + 8] |= 1
    archive.write_bytes(bytes(data))

    assert refused(archive, folder) == "encrypted"


@pytest.mark.parametrize(
    "name", ["n" * 300 + ".md", "/".join("abcdefghijklmnopqrstuvwxyz") + ".md", "\x01.md"]
)
def test_names_that_files_cannot_have_are_refused_or_kept_without_harm(tmp_path, folder, name):
    found = taken(zipped(tmp_path, ("a.bib", BIB), (name, "x")), folder)

    assert {part.code for part in found.loose} <= {"unsafe_archive"}


def test_names_in_utf8_that_do_not_say_so_are_read_as_utf8(tmp_path, folder):
    archive = zipped(tmp_path, ("a.bib", BIB), ("M\u00fcller.md", "x"))
    data = archive.read_bytes()
    first, second = data.find(b"PK\x03\x04", 4), data.rfind(b"PK\x01\x02")
    changed = bytearray(data)
    changed[first + 7] &= ~0x08 & 0xFF
    changed[second + 9] &= ~0x08 & 0xFF
    archive.write_bytes(bytes(changed))

    taken(archive, folder)

    assert "M\u00fcller.md" in files(folder)


def test_two_files_of_one_name_are_one_file_and_a_refusal(tmp_path, folder):
    with pytest.warns(UserWarning, match="Duplicate name"):
        archive = zipped(tmp_path, ("a.bib", BIB), ("b.md", "first"), ("b.md", "second"))

    found = taken(archive, folder)

    assert [part.code for part in found.loose] == ["duplicate_path"]
    assert (folder / "b.md").read_text() == "first"


def test_more_files_than_a_library_has_are_refused(tmp_path, folder, monkeypatch):
    monkeypatch.setattr(unpacking, "MOST_PARTS", 10)

    assert refused(zipped(tmp_path, *((f"{n}.md", "x") for n in range(11))), folder) == "unsafe_archive"


def test_an_archive_is_told_by_its_first_bytes(tmp_path):
    buffer = io.BytesIO()
    zipfile.ZipFile(buffer, "w").close()
    empty, other = tmp_path / "e", tmp_path / "o"
    empty.write_bytes(buffer.getvalue())
    other.write_text(BIB)

    assert is_archive(empty)
    assert not is_archive(other)
