"""A database of its own for a benchmark, gone when the benchmark ends."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from pathlib import Path


def start() -> None:
    """Set Django up on a new, empty, migrated database. Call it before importing any model."""
    parent = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # noqa: S108 - memory, where there is some
    folder = tempfile.mkdtemp(prefix="sci-rag-bench-", dir=parent)
    Path(folder).chmod(0o755)
    os.environ |= {
        "SCI_RAG_VAR_DIR": folder,
        "DATABASE_URL": "",
        "DJANGO_SETTINGS_MODULE": "sci_rag_site.settings",
    }
    atexit.register(shutil.rmtree, folder, ignore_errors=True)

    import django
    from django.core.management import call_command

    django.setup()
    call_command("migrate", verbosity=0)
