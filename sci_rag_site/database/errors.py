"""What can be wrong with the embedded server, as messages that say what to do."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.db.utils import OperationalError

USE_ANOTHER = "or set DATABASE_URL to a PostgreSQL server that has pgvector"


class EmbeddedPostgresError(OperationalError):
    """The bundled server cannot be used; the message says why and what to do."""


def no_space(place: Path) -> EmbeddedPostgresError:
    return EmbeddedPostgresError(
        f"There is no space left for the database in {place}. Free at least 200 MB there, or set "
        "SCI_RAG_VAR_DIR to a directory on another disk."
    )


@contextmanager
def explained(place: Path) -> Iterator[None]:
    """Turn the operating system's refusals about `place` into messages that say how to go on."""
    try:
        yield
    except OSError as error:
        if error.errno in {errno.ENOSPC, errno.EDQUOT}:
            raise no_space(place) from error
        if error.errno in {errno.EACCES, errno.EPERM, errno.EROFS}:
            raise EmbeddedPostgresError(
                f"The database directory {place} may not be written by this account ({error.strerror}: "
                f"{error.filename}). Run as its owner, set SCI_RAG_VAR_DIR to a directory of your own, "
                f"{USE_ANOTHER}."
            ) from error
        raise EmbeddedPostgresError(
            f"The database directory {place} cannot be used ({error.strerror}: {error.filename}). Set "
            f"SCI_RAG_VAR_DIR to another directory, {USE_ANOTHER}."
        ) from error
