"""PDFs on their way to disk. A file has its name only when it is whole and was checked."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

from django.conf import settings

from corpus import storage, whole_files
from corpus.campaigns.models import Candidate
from corpus.gateways.http import Fetched, Outbound, OutboundError
from corpus.identifiers import fold

MOST_BYTES = 50_000_000
DEADLINE_SECONDS = 120.0
_MEDIA_TYPES = ("application/pdf", "application/x-pdf")
_SIGNATURE = b"%PDF-"
_NO_LETTER = re.compile(r"[^a-z0-9]+")
_LONGEST_NAME = 60
# Longer than any download takes.
_ABANDONED_SECONDS = 3600.0


class Refused(Exception):
    """An address that gave no PDF. `code` is one of `OutboundError`'s, or says what the host answered."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


@dataclass(frozen=True, slots=True)
class Downloaded:
    """A file that is there."""

    sha256: str
    size: int


def folder(campaign: UUID) -> Path:
    """Return where a campaign keeps its files and its manifest."""
    return Path(settings.VAR_DIR) / "campaigns" / str(campaign)


def file_name(number: int, title: str) -> str:
    """Return what the file of a candidate is called: our number and letters of its title, nothing else."""
    words = _NO_LETTER.sub("-", fold(title)).strip("-")[:_LONGEST_NAME].strip("-")
    return f"{number:05d}-{words}.pdf" if words else f"{number:05d}.pdf"


def forget(sha256: str) -> int:
    """Remove what campaigns fetched with this hash; return how many files. Rows say that it was fetched."""
    rows = Candidate.objects.filter(full_text__sha256=sha256).order_by("id")
    count = 0
    for campaign, number, title in rows.values_list("campaign_id", "number", "title"):
        path = folder(campaign) / file_name(number, title)
        if path.is_file() and storage.hash_file(path) == sha256:
            path.unlink(missing_ok=True)
            count += 1
    return count


def most_bytes() -> int:
    """Return how large a PDF may be: no larger than the corpus takes."""
    taken: int = settings.SCI_RAG_MAX_UPLOAD_MB * 1_000_000
    return min(MOST_BYTES, taken)


def download(outbound: Outbound, address: str, target: Path) -> Downloaded:
    """Fetch the PDF at `address` to `target`; raise `Refused`, and then nothing of it is left."""
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        with whole_files.written(target) as file:
            fetched = outbound.save(
                address, file, accept=_MEDIA_TYPES, most_bytes=most_bytes(), signature=_SIGNATURE
            )
            _require_success(fetched)
    except OutboundError as error:
        raise Refused(error.code) from None
    return Downloaded(storage.hash_file(target), target.stat().st_size)


def _require_success(fetched: Fetched) -> None:
    status = fetched.status
    if status == 200:
        return
    if status in {401, 403}:
        raise Refused("access_denied")
    if status in {404, 410}:
        raise Refused("not_found")
    if status == 429:
        raise Refused("rate_limited")
    raise Refused("unavailable" if status >= 500 or status == 408 else "rejected")


def sweep(campaign: UUID) -> int:
    """Remove what a killed process left of files in a campaign's folder; only for who holds its run."""
    return sum(_removed(part) for part in folder(campaign).glob(f"{whole_files.PART}*"))


def sweep_abandoned() -> int:
    """Remove what killed processes left anywhere, once nobody can be at it."""
    limit = time.time() - _ABANDONED_SECONDS
    parts = (Path(settings.VAR_DIR) / "campaigns").glob(f"*/{whole_files.PART}*")
    return sum(_removed(part, before=limit) for part in parts)


def _removed(part: Path, *, before: float | None = None) -> bool:
    try:
        if before is not None and part.stat().st_mtime >= before:
            return False
        part.unlink()
    except FileNotFoundError:
        return False
    return True
