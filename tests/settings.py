"""The site's settings, on a throw-away database server and without anything from the user's `.env`."""

import atexit
import os
import shutil
import tempfile
from pathlib import Path

from sci_rag_site.embedded_postgres import EmbeddedPostgres

PREFIX = "sci-rag-test-"


def _memory_backed() -> str | None:
    """Return a directory in memory where there is one with room: the server's fsync then costs nothing."""
    shared = "/dev/shm"  # noqa: S108
    return shared if os.access(shared, os.W_OK) and shutil.disk_usage(shared).free > 2e9 else None


def _remove(directory: Path) -> None:
    """Stop the server of a test run that nobody uses any more, and remove all that run left."""
    if EmbeddedPostgres(directory / "postgres").stop_if_unused():
        shutil.rmtree(directory, ignore_errors=True)


if "SCI_RAG_TEST_VAR_DIR" not in os.environ:
    _parent = Path(_memory_backed() or tempfile.gettempdir())
    # What runs that were killed left behind.
    for _left in _parent.glob(f"{PREFIX}*/postgres/users.lock"):
        if os.access(_left, os.W_OK):
            _remove(_left.parents[1])
    _directory = Path(tempfile.mkdtemp(prefix=PREFIX, dir=_parent))
    _directory.chmod(0o755)
    os.environ["SCI_RAG_TEST_VAR_DIR"] = str(_directory)
    atexit.register(_remove, _directory)

os.environ["SCI_RAG_VAR_DIR"] = os.environ["SCI_RAG_TEST_VAR_DIR"]
for _name in ("DATABASE_URL", "SCI_RAG_LLM_MODEL", "SCI_RAG_LLM_API_BASE", "SCI_RAG_LLM_API_KEY"):
    os.environ[_name] = ""

from sci_rag_site.settings import *  # noqa: E402, F403

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
# Originals lie under their hash: what one process of the tests deletes may be what another has just taken in.
MEDIA_ROOT = MEDIA_ROOT / os.environ.get("PYTEST_XDIST_WORKER", "alone")  # noqa: F405
