"""A directory with a database that is set up, to be copied: setting one up takes ten seconds."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def copy_prepared(var: Path) -> None:
    """Fill an empty directory as a first `migrate` leaves it, its server stopped."""
    subprocess.run(["cp", "-a", f"{_template()}/.", str(var)], check=True)


def _template() -> Path:
    """Return the template of this run of tests, made by whichever of its processes comes first."""
    kept = Path(os.environ["SCI_RAG_TEST_VAR_DIR"])
    finished = kept / "prepared"
    with (kept / "prepared.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not finished.exists():
            made = Path(tempfile.mkdtemp(prefix="preparing-", dir=kept))
            made.chmod(0o755)
            subprocess.run(
                [sys.executable, "manage.py", "migrate", "--verbosity=0"],
                cwd=ROOT,
                check=True,
                env={
                    **os.environ,
                    "DJANGO_SETTINGS_MODULE": "sci_rag_site.settings",
                    "SCI_RAG_VAR_DIR": str(made),
                },
            )
            made.rename(finished)
    return finished
