"""The parsing process: bounded, ignorant of our secrets, replaced when it fails."""

import os
import time
import zlib
from pathlib import Path

import pytest

from corpus.parsing import sandbox
from corpus.parsing.blocks import ParseFailure
from corpus.parsing.limits import ParseLimits
from corpus.parsing.media_types import PDF, TEXT


def _pdf(stream: bytes, *, pages: int) -> bytes:
    """Return a PDF whose pages share one compressed content stream."""
    content = zlib.compress(stream, 9)
    kids = b" ".join(b"%d 0 R" % number for number in range(4, 4 + pages))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Count %d /Kids [%s] >>" % (pages, kids),
        b"<< /Length %d /Filter /FlateDecode >>\nstream\n%s\nendstream" % (len(content), content),
        *[b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 3 0 R >>"] * pages,
    ]
    out, places = bytearray(b"%PDF-1.5\n"), []
    for number, body in enumerate(objects, start=1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % place for place in places)
    out += b"trailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF" % (len(objects) + 1, start)
    return bytes(out)


@pytest.fixture
def operator_bomb(tmp_path: Path) -> Path:
    """A few kilobytes that keep a reader busy for many seconds."""
    path = tmp_path / "bomb.pdf"
    path.write_bytes(_pdf(b"0 0 m 100 0 l S " * 1_000_000, pages=60))
    return path


def test_a_file_that_takes_too_long_is_stopped(operator_bomb: Path) -> None:
    started = time.monotonic()

    with pytest.raises(ParseFailure) as failure:
        sandbox.run(operator_bomb, media_type=PDF, limits=ParseLimits(wall_seconds=1.0))

    assert failure.value.code == "time_limit"
    assert time.monotonic() - started < 5


def test_processor_time_is_bounded_by_itself(operator_bomb: Path) -> None:
    with pytest.raises(ParseFailure) as failure:
        sandbox.run(operator_bomb, media_type=PDF, limits=ParseLimits(cpu_seconds=1, wall_seconds=60))

    assert failure.value.code == "time_limit"


def test_memory_is_bounded(tmp_path: Path) -> None:
    path = tmp_path / "wide.txt"
    path.write_text("a line of words\n\n" * 2_000_000)

    with pytest.raises(ParseFailure) as failure:
        sandbox.run(path, media_type=TEXT, limits=ParseLimits(memory_bytes=200_000_000, max_characters=10**9))

    assert failure.value.code == "memory_limit"


def test_a_failed_process_is_replaced(tmp_path: Path) -> None:
    bad, good = tmp_path / "bad.txt", tmp_path / "good.txt"
    bad.write_text("a line of words\n\n" * 2_000_000)
    good.write_text("A paragraph that is long enough to stay.")
    with pytest.raises(ParseFailure):
        sandbox.run(bad, media_type=TEXT, limits=ParseLimits(memory_bytes=200_000_000, max_characters=10**9))

    document = sandbox.run(good, media_type=TEXT, limits=ParseLimits())

    assert len(document.blocks) == 1


def test_a_killed_process_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("A paragraph that is long enough to stay.")
    sandbox.close_idle()
    sandbox.run(path, media_type=TEXT, limits=ParseLimits())
    child = sandbox._pool.take("text")
    child.kill()
    sandbox._pool.give_back(child, "text")

    assert sandbox.run(path, media_type=TEXT, limits=ParseLimits()).blocks


def test_text_files_share_a_warm_process_and_a_pdf_gets_its_own(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("A paragraph that is long enough to stay.")
    sandbox.close_idle()

    for _ in range(3):
        sandbox.run(path, media_type=TEXT, limits=ParseLimits())
    child = sandbox._pool.take("text")

    assert child.served == 3
    child.kill()


def test_the_process_knows_no_secret_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "canary-key")
    monkeypatch.setenv("DATABASE_URL", "postgres://canary-database")
    child = sandbox.Child()

    environment = Path(f"/proc/{child._process.pid}/environ")
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline and not environment.read_bytes():
        time.sleep(0.01)

    assert b"PYTHONUTF8" in environment.read_bytes()
    assert b"canary" not in environment.read_bytes()
    child.kill()


def test_the_process_does_not_load_django(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("A paragraph that is long enough to stay.")
    child = sandbox.Child(preload=(PDF,))
    child.parse(path, media_type=TEXT, limits=ParseLimits())

    assert b"django" not in Path(f"/proc/{child._process.pid}/maps").read_bytes()
    assert child.is_alive()
    child.kill()


def test_no_process_is_left_behind_a_failure(operator_bomb: Path) -> None:
    before = set(_children())

    with pytest.raises(ParseFailure):
        sandbox.run(operator_bomb, media_type=PDF, limits=ParseLimits(wall_seconds=0.5))

    assert set(_children()) <= before


def _children() -> list[str]:
    return Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read_text().split()
