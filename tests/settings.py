"""The site's settings, on a throw-away database server and without anything from the user's `.env`."""

import atexit
import os
import shutil
import tempfile
from pathlib import Path

if "SCI_RAG_TEST_VAR_DIR" not in os.environ:
    # Memory-backed where there is such a place: the server's fsync then costs nothing.
    _parent = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # noqa: S108
    _directory = tempfile.mkdtemp(prefix="sci-rag-test-", dir=_parent)
    Path(_directory).chmod(0o755)
    os.environ["SCI_RAG_TEST_VAR_DIR"] = _directory
    atexit.register(shutil.rmtree, _directory, ignore_errors=True)

os.environ["SCI_RAG_VAR_DIR"] = os.environ["SCI_RAG_TEST_VAR_DIR"]
for _name in ("DATABASE_URL", "SCI_RAG_LLM_MODEL", "SCI_RAG_LLM_API_BASE", "SCI_RAG_LLM_API_KEY"):
    os.environ[_name] = ""

from sci_rag_site.settings import *  # noqa: E402, F403

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
