"""A database of its own for a benchmark, gone when the benchmark ends."""

from __future__ import annotations

import atexit
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

# A directory with a database that is set up: those of benchmarks that run in a row are copies of it.
PREPARED = "SCI_RAG_BENCHMARK_DATABASE"


def start(directory: Path | None = None) -> None:
    """Set Django up on a new, empty, migrated database. Call it before importing any model.

    With `directory` the database is there, is kept, and may be one that an earlier run has filled.
    """
    if directory is None:
        directory = _temporary()
    os.environ |= {
        "SCI_RAG_VAR_DIR": str(directory),
        "DATABASE_URL": "",
        "DJANGO_SETTINGS_MODULE": "sci_rag_site.settings",
    }

    import django
    from django.core.management import call_command

    django.setup()
    call_command("migrate", verbosity=0)


def set_on_server(**values: str) -> None:
    """Set parameters of the server and start it anew, so that all of them hold."""
    from django.conf import settings
    from django.db import connection

    with connection.cursor() as cursor:
        for name, value in values.items():
            cursor.execute(f"ALTER SYSTEM SET {name} = %s", [value])
    connection.close()
    connection.close_pool()  # type: ignore[attr-defined]
    settings.EMBEDDED_POSTGRES.release()


def _temporary() -> Path:
    parent = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # noqa: S108 - memory, where there is some
    folder = tempfile.mkdtemp(prefix="sci-rag-bench-", dir=parent)
    Path(folder).chmod(0o755)
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    if PREPARED in os.environ:
        subprocess.run(["/bin/cp", "-a", f"{os.environ[PREPARED]}/.", folder], check=True)
    return Path(folder)
