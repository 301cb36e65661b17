"""How long a migration waits for a table that others use: briefly, since everybody waits behind it."""

from __future__ import annotations

from typing import Any, Final

from django.db import DEFAULT_DB_ALIAS, connections

PATIENCE: Final = "2s"


def wait_briefly(*, using: str = DEFAULT_DB_ALIAS, **_: Any) -> None:
    """Have a migration that gets its lock not within two seconds fail, whole, to be run again."""
    with connections[using].cursor() as cursor:
        cursor.execute("SELECT set_config('lock_timeout', %s, false)", [PATIENCE])


def wait_as_usual(*, using: str = DEFAULT_DB_ALIAS, **_: Any) -> None:
    """Give the connection back as it was."""
    with connections[using].cursor() as cursor:
        cursor.execute("RESET lock_timeout")
