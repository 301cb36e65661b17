"""Paths: manifests that point out of their folder, and names and files that are not what they seem."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tests.reliability.hostile.cases import Case

_WORDS = "Straw was stored for ninety days and lost a tenth of its dry matter.\n"
_LONG = 240


def cases() -> Iterator[Case]:
    """Yield the hostile manifests and places."""
    yield from _manifests()
    yield from _files()


def manifest(name: str, *lines: str | bytes | dict[str, Any], refused: str = "") -> Case:
    """Return the case of a manifest beside an honest file `straw.txt`; `refused` is why its one line is."""

    def make(folder: Path) -> Path:
        (folder / "straw.txt").write_text(_WORDS, encoding="utf-8")
        parts = [line if isinstance(line, bytes) else _line(line) for line in lines]
        path = folder / "manifest.jsonl"
        path.write_bytes(b"\n".join(parts) + b"\n")
        return path

    return Case(f"manifest-{name}", make, refused)


def _line(line: str | dict[str, Any]) -> bytes:
    return (line if isinstance(line, str) else json.dumps(line)).encode()


def _manifests() -> Iterator[Case]:
    for name, path in (
        ("parent", "../../../../../../etc/passwd"),
        ("parent-inside", "a/../../straw.txt"),
        ("absolute", "/etc/passwd"),
        ("device", "/dev/zero"),
        ("process", "/proc/self/environ"),
        ("home", "~/.ssh/id_rsa"),
        ("windows", "..\\..\\straw.txt"),
        ("share", "\\\\server\\share\\straw.txt"),
        ("address", "file:///etc/passwd"),
        ("percent", "%2e%2e%2fetc%2fpasswd"),
        ("nul", "straw.txt\0.pdf"),
        ("folder", "."),
        ("long", "a" * 5_000 + ".txt"),
        ("deep", "a/" * 3_000 + "b.txt"),
        ("line-end", "straw.txt\n"),
        ("empty", ""),
        ("surrogate", "\ud800.txt"),
    ):
        yield manifest(name, {"path": path, "title": "Straw"})
    for key, value in (
        ("title", {"a": "b"}),
        ("title", "\0" * 40),
        ("title", "\ud800 lone"),
        ("title", "x" * 150_000),
        ("authors", "x"),
        ("authors", [[["x"]]]),
        ("year", 10**400),
        ("year", -5),
        ("license_class", ["public"]),
        ("license_class", "PUBLIC; DROP TABLE"),
        ("doi", "10." + "9" * 100_000),
        ("supersedes", "../x"),
        ("bucket", "\u202eevil"),
        ("__class__", "x"),
    ):
        yield manifest(f"{key}-odd", {"path": "straw.txt", "title": "Straw", key: value})
    straw = '{"path": "straw.txt", "title": "Straw"'
    yield manifest("deep", straw + ', "x": ' + "[" * 50_000 + "]" * 50_000 + "}")
    yield manifest("not-a-number", straw + ', "year": NaN}', straw + ', "year": 1e999}')
    yield manifest("digits", straw + ', "year": ' + "9" * 100_000 + "}")
    yield manifest("key-twice", straw + ', "license_class": "restricted", "license_class": "public"}')
    yield manifest("not-objects", "[]", "5", '"x"', "null", "true")
    yield manifest("many", *[{"path": "straw.txt", "title": "Straw"}] * 12_000)
    yield manifest("bytes", b"\xff\xfe\x00" * 500)


def _placed(name: str, put: Callable[[Path], None], *, refused: str = "") -> Case:
    def make(folder: Path) -> Path:
        path = folder / name
        put(path)
        return path

    return Case(ascii(name[:40]), make, refused)


def _listens(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as one:
        one.bind(str(path)) if len(str(path)) < 100 else path.mkdir()


def _write(path: Path) -> None:
    path.write_text(_WORDS, encoding="utf-8")


def _files() -> Iterator[Case]:
    yield _placed("link.txt", lambda path: path.symlink_to("/etc/passwd"))
    yield _placed("link-to-itself.txt", lambda path: path.symlink_to(path), refused="missing_file")
    yield _placed("link-nowhere.txt", lambda path: path.symlink_to("/nonexistent"), refused="missing_file")
    yield _placed("device.txt", lambda path: path.symlink_to("/dev/zero"), refused="missing_file")
    yield _placed("pipe.txt", os.mkfifo, refused="missing_file")
    yield _placed("socket.txt", _listens)
    yield _placed("folder.pdf", lambda path: path.mkdir())
    yield _placed("line\nend\x1b[31m.txt", _write)
    yield _placed("\u202egpj.txt", _write)
    yield _placed("n" * _LONG + ".txt", _write)
    yield _placed(os.fsdecode(b"caf\xe9-latin.txt"), _write)
    yield _placed("quote'\";--.txt", _write)
    yield _placed("..hidden.txt", _write)
    yield _placed("two.pdf.exe", _write)
    yield _placed("no-extension", _write)
