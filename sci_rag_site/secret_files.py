"""Secrets that the site makes for itself: written once, readable by their owner only."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable
from pathlib import Path


def read_or_create(path: Path, make: Callable[[], str]) -> str:
    """Return the secret kept at `path`; make it first if there is none.

    Of several processes that find none, one makes it and the others read that one.
    """
    try:
        return path.read_text()
    except FileNotFoundError:
        pass
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "w") as handle:
            handle.write(make())
            handle.flush()
            os.fsync(handle.fileno())
        if os.geteuid() == 0:
            owner = path.parent.stat()
            os.chown(draft, owner.st_uid, owner.st_gid)
        try:
            os.link(draft, path)
        except FileExistsError:
            return path.read_text()
    finally:
        draft.unlink(missing_ok=True)
    return path.read_text()
