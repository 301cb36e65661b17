"""How files that are sent reach the disk: in pieces, under names of our own, within limits.

Django's own handlers keep small files in memory, name temporary files after the sender's extension and
know no limit. This one serves every form of the site, so that no page can be made to fill the disk.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.core.files.uploadedfile import TemporaryUploadedFile
from django.core.files.uploadhandler import FileUploadHandler, SkipFile

from corpus import storage

MOST_FILES = 20
_FULL = ("disk_full", "There is no room left on the site’s disk.")


@dataclass(frozen=True, slots=True)
class TurnedAway:
    """A file that was not kept. `code` is stable, the sentence is for who sent it."""

    name: str
    code: str
    detail: str


@contextmanager
def none_left_open(request: Any) -> Iterator[None]:
    """While a form is read: of a damaged one Django closes the files that are whole, and not the last."""
    try:
        yield
    except Exception:
        for handler in request.upload_handlers:
            handler.upload_interrupted()
        raise


class BoundedHandler(FileUploadHandler):
    """Writes each file to disk up to the size limit; notes what it turned away on the request."""

    def __init__(self, request: Any = None) -> None:
        super().__init__(request)
        self._file: TemporaryUploadedFile | None = None
        self._files = 0
        self._announced = 0
        self._over = ""
        if request is not None:
            request.turned_away = []

    def handle_raw_input(self, *args: Any, **kwargs: Any) -> None:
        """Note how large the request says it is."""
        _body, _headers, self._announced, *_rest = args

    def new_file(self, *args: Any, **kwargs: Any) -> None:
        """Open the next file, unless there are too many or its sender has sent enough for a day.

        The request is counted when its first file begins: forms without files cost nothing.
        """
        super().new_file(*args, **kwargs)
        self._file = None
        self._files += 1
        if self._files == 1:
            self._over = self._charged()
        if self._over:
            self._turn_away("over_quota", self._over)
        if self._files > MOST_FILES:
            self._turn_away("too_many_files", f"At most {MOST_FILES} files are taken in one request.")
        try:
            with storage.room():
                self._file = TemporaryUploadedFile("file", "", 0, None)
        except storage.NoRoom:
            self._turn_away(*_FULL)
        else:
            self._file.name = self.file_name

    def _charged(self) -> str:
        """Count the request as sent by whoever is signed in; return why it may not be sent now, if so."""
        # Servers read the limits of this module before Django has its models.
        from django.contrib.auth.models import User

        from corpus.actions import upload_quota

        sender = getattr(self.request, "user", None)
        if not isinstance(sender, User):
            return ""
        refusal = upload_quota.charge(by=sender, size=self._announced)
        return "" if refusal is None else str(refusal)

    def receive_data_chunk(self, raw_data: bytes, start: int) -> None:
        """Write a piece; a file that outgrows the limit is dropped."""
        limit = settings.SCI_RAG_MAX_UPLOAD_MB
        if start + len(raw_data) > limit * 1_000_000:
            self._turn_away("too_large", f"The file is larger than {limit:,} MB, the limit of this site.")
        assert self._file is not None  # noqa: S101 - opened by new_file
        try:
            with storage.room():
                self._file.write(raw_data)
        except storage.NoRoom:
            self._turn_away(*_FULL)

    def file_complete(self, file_size: int) -> TemporaryUploadedFile | None:
        """Return the file, complete on disk; None when its last piece found no room there."""
        if self._file is None:
            return None
        try:
            with storage.room():
                self._file.seek(0)
        except storage.NoRoom:
            self._note(*_FULL)
            self._drop()
            return None
        file, self._file = self._file, None
        file.size = file_size
        return file

    def upload_interrupted(self) -> None:
        """Drop what came of a file whose sender went away."""
        self._drop()

    def _turn_away(self, code: str, detail: str) -> None:
        self._drop()
        self._note(code, detail)
        raise SkipFile

    def _note(self, code: str, detail: str) -> None:
        request: Any = self.request
        request.turned_away.append(TurnedAway(self.file_name or "", code, detail))

    def _drop(self) -> None:
        if self._file is not None:
            # What is still to be written finds no room either.
            with suppress(OSError):
                self._file.close()
            self._file = None
