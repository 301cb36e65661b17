"""Pages of originals as pictures: drawn once, then kept on disk.

Nothing here knows who asks. Whoever serves a picture checks the reader's rights first, every time, kept
picture or not.
"""

from __future__ import annotations

import os
import shutil
import threading
from pathlib import Path

import structlog
from django.conf import settings

from corpus import connections, storage, whole_files
from corpus.parsing import sandbox
from corpus.parsing.limits import ParseLimits

logger = structlog.get_logger(__name__)

MEDIA_TYPE = "image/webp"
# Pixels across. A fixed list, so that a page is drawn and kept three times at most.
WIDTHS = (900, 1200, 1600)
DEFAULT_WIDTH = WIDTHS[0]

_LIMITS = ParseLimits(wall_seconds=20.0, cpu_seconds=15, max_result_bytes=16_000_000)
_AT_ONCE = 2
_PATIENCE_SECONDS = 25.0
# The cache is cut back when it has grown for a while, to this share of its limit.
_WRITES_BETWEEN_TRIMS = 50
_KEEP = 0.8

_slots = threading.BoundedSemaphore(_AT_ONCE)
_written = 0


class Busy(Exception):
    """Too many pages are being drawn right now."""


class OriginalMissing(Exception):
    """The original file is not in the store."""


class OriginalChanged(Exception):
    """The file in the store is not the one that was taken in."""


def root() -> Path:
    """Return the folder of kept pictures."""
    return Path(settings.MEDIA_ROOT) / "pages"


def page_image(*, file_sha256: str, page: int, width: int) -> bytes:
    """Return a page of the original with this hash as a WebP picture.

    Raises `OriginalMissing`, `OriginalChanged`, `Busy` when it would have to wait long, and `ParseFailure`
    for a page that cannot be drawn. Holds no database connection while it draws.
    """
    kept = _path(file_sha256, page, width)
    try:
        picture = kept.read_bytes()
        os.utime(kept)
    except OSError:
        picture = _draw(file_sha256, page, width)
        _keep(kept, picture)
    return picture


def _path(file_sha256: str, page: int, width: int) -> Path:
    return _folder(file_sha256) / f"{page}-{width}.webp"


def _folder(file_sha256: str) -> Path:
    return root() / file_sha256[:2] / file_sha256


def _draw(file_sha256: str, page: int, width: int) -> bytes:
    original = storage.path_of(file_sha256)
    if not original.is_file():
        raise OriginalMissing(file_sha256)
    connections.release()
    try:
        is_original = storage.hash_file(original) == file_sha256
    except OSError:
        is_original = False
    if not is_original:
        raise OriginalChanged(file_sha256)
    if not _slots.acquire(timeout=_PATIENCE_SECONDS):
        raise Busy
    try:
        return sandbox.draw(original, page=page, width=width, limits=_LIMITS)
    finally:
        _slots.release()


def _keep(path: Path, picture: bytes) -> None:
    """Keep a picture under its name, whole or not at all. A full disk costs the next reader time only."""
    global _written  # noqa: PLW0603 one count per process
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with whole_files.written(path, on_disk=False) as file:
            file.write(picture)
    except OSError as error:
        logger.warning("page_images.not_kept", errno=error.errno)
        return
    _written += 1
    if _written % _WRITES_BETWEEN_TRIMS == 0:
        trim()


def forget(file_sha256: str) -> None:
    """Remove every kept picture of an original."""
    shutil.rmtree(_folder(file_sha256), ignore_errors=True)


def trim() -> int:
    """Remove the pictures nobody looked at for longest once all are larger than the limit; count them."""
    limit = settings.SCI_RAG_PAGE_CACHE_MB * 1_000_000
    found = []
    for path in root().glob("*/*/*"):
        try:
            status = path.stat()
        except OSError:
            continue
        found.append((status.st_mtime, status.st_size, path))
    total = sum(size for _, size, _ in found)
    if total <= limit:
        return 0
    removed = 0
    for _, size, path in sorted(found):
        if total <= limit * _KEEP:
            break
        path.unlink(missing_ok=True)
        total -= size
        removed += 1
    logger.info("page_images.trimmed", removed=removed)
    return removed
