"""Where an attachment's file is: only ever inside the folder of the export, links followed. No database."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

from corpus.bibliography.records import Attachment, Code

_LONGEST = 4_000
_WEB = re.compile(r"https?://", re.IGNORECASE)
_SCHEME = re.compile(r"(storage|attachments|internal-pdf):/*", re.IGNORECASE)
_DRIVE = re.compile(r"[A-Za-z]:[\\/]")
# Where reference managers keep files; what follows these names is the same on every machine.
_STORES = ("storage", "files", "attachments")
_SCHEME_FOLDERS = {
    "storage": ("storage/", "files/", ""),
    "attachments": ("", "attachments/"),
    "internal-pdf": ("", "PDF/"),
}


@dataclass(frozen=True, slots=True)
class NotFound:
    """Why an attachment leads to no file that may be taken in."""

    name: str
    code: Code
    message: str


def locate(attachment: Attachment, folder: Path) -> Path | NotFound:
    """Return the real path of the attachment's file inside `folder`, which is real itself.

    A path of another machine is looked for below the stores of this folder. What lies outside is refused
    without a look at it, so that a library cannot find out which files there are.
    """
    named = attachment.paths[0]
    shown = _shown(named)
    if _WEB.match(named):
        return NotFound(shown, Code.WEB_ADDRESS, "The attachment is a web address, not a file.")
    is_outside = False
    for spelling in attachment.paths:
        for candidate in _candidates(spelling[:_LONGEST], folder):
            path = _real(candidate)
            if path is None:
                continue
            if not path.is_relative_to(folder):
                is_outside = True
            elif _is_file(path):
                return path
    if is_outside:
        return NotFound(shown, Code.OUTSIDE_FOLDER, "The file lies outside the folder of the export.")
    return NotFound(shown, Code.MISSING_FILE, "The file does not exist in the folder of the export.")


def _candidates(spelling: str, folder: Path) -> Iterator[Path]:
    """Yield where the file may be, likeliest first."""
    if "\0" in spelling:
        return
    text = _without_file_scheme(spelling.strip())
    scheme = _SCHEME.match(text)
    if scheme is not None:
        rest = text[scheme.end() :].replace("\\", "/").lstrip("/")
        for below in _SCHEME_FOLDERS[scheme[1].lower()]:
            yield folder / f"{below}{rest}"
        return
    slashed = text.replace("\\", "/")
    is_absolute = slashed.startswith("/") or bool(_DRIVE.match(text))
    if "\\" in text and not is_absolute:
        yield folder / text
    if not _DRIVE.match(text):
        yield Path(slashed) if is_absolute else folder / slashed
    if not is_absolute:
        yield folder / unicodedata.normalize("NFC", slashed)
        yield folder / unicodedata.normalize("NFD", slashed)
        return
    if _DRIVE.match(text):
        # A path of Windows is absolute, wherever it is read.
        yield Path("/") / slashed
    parts = slashed.split("/")
    for place in range(len(parts) - 1, 0, -1):
        if parts[place - 1].lower() in _STORES:
            yield folder.joinpath(*parts[place - 1 :])
    yield folder / parts[-1]


def _without_file_scheme(text: str) -> str:
    if not text.lower().startswith("file:"):
        return text
    try:
        path = unquote(urlsplit(text).path)
    except ValueError:
        return text
    return path[1:] if _DRIVE.match(path[1:]) else path


def _real(path: Path) -> Path | None:
    try:
        return path.resolve()
    except (OSError, RuntimeError, ValueError):
        return None


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def _shown(name: str) -> str:
    """Return the path as it may stand in a report."""
    return "".join(char for char in name if char.isprintable())[:300] or "attachment"
