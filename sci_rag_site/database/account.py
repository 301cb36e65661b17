"""The account the embedded server runs under. PostgreSQL refuses to run as root."""

from __future__ import annotations

import os
import pwd
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sci_rag_site.database.errors import USE_ANOTHER, EmbeddedPostgresError


@dataclass(frozen=True, slots=True)
class Account:
    """An unprivileged account that children of a root process change to."""

    uid: int
    gid: int

    def own(self, path: Path) -> None:
        """Make the account the owner of `path`."""
        os.chown(path, self.uid, self.gid, follow_symlinks=False)

    def can_enter(self, directory: Path) -> bool:
        """Say whether the account may pass through `directory` and all that it lies in."""
        command = ["/bin/sh", "-c", 'test -x "$1"', "sh", str(directory)]
        return subprocess.run(command, check=False, cwd="/", **spawn_options(self)).returncode == 0  # noqa: S603


def spawn_options(account: Account | None) -> dict[str, Any]:
    """Return what makes `subprocess` start a program under `account`; None is the present one."""
    if account is None:
        return {}
    return {"user": account.uid, "group": account.gid, "extra_groups": []}


def write_as(account: Account | None, path: Path, text: str) -> None:
    """Replace the file at `path` as `account`: root must not follow links in a directory it does not own."""
    draft = path.with_name(f"{path.name}.new")
    script = 'umask 077 && cat > "$1" && mv -f "$1" "$2"'
    command = ["/bin/sh", "-c", script, "sh", str(draft), str(path)]
    result = subprocess.run(  # noqa: S603
        command,
        input=text,
        env={"PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
        cwd="/",
        **spawn_options(account),
    )
    if result.returncode:
        raise EmbeddedPostgresError(f"{path} could not be written: {result.stderr.strip()}")


def server_account(data: Path) -> Account | None:
    """Return the account for the server of `data`, or None when this process's own will do.

    Under root it is the owner of the data directory or of the closest directory that exists, so that
    `sudo` in somebody's checkout leaves files they can use; where that is root too, it is `nobody`.
    """
    if os.geteuid() != 0:
        return None
    closest = next(path for path in (data, *data.parents) if path.exists())
    owner = closest.stat()
    if owner.st_uid != 0 and (closest == data or _has_a_name(owner.st_uid)):
        return Account(owner.st_uid, owner.st_gid)
    try:
        nobody = pwd.getpwnam("nobody")
    except KeyError:
        raise EmbeddedPostgresError(
            "PostgreSQL does not run as root and this machine has no account 'nobody' to run it under. "
            f"Run as another account, {USE_ANOTHER}."
        ) from None
    return Account(nobody.pw_uid, nobody.pw_gid)


def require_a_name() -> None:
    """Refuse an account that is not in the user database: `initdb` looks it up."""
    if os.geteuid() != 0 and not _has_a_name(os.geteuid()):
        raise EmbeddedPostgresError(
            f"The account with the number {os.geteuid()} has no entry in /etc/passwd, which PostgreSQL's "
            f"initdb needs. Add one, run as another account, {USE_ANOTHER}."
        )


def _has_a_name(uid: int) -> bool:
    try:
        pwd.getpwuid(uid)
    except KeyError:
        return False
    return True
