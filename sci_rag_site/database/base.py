"""Django's PostgreSQL backend, starting the embedded server at the first connection."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.db.backends.postgresql import base


class DatabaseWrapper(base.DatabaseWrapper):
    """Start the embedded server only when something really connects, so that `--help` stays quick."""

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        settings.EMBEDDED_POSTGRES.ensure_running()
        return super().get_new_connection(conn_params)
