"""Django's PostgreSQL backend, starting the embedded server at the first connection."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.db.backends.postgresql import base

from sci_rag_site.embedded_postgres import EmbeddedPostgres


class DatabaseWrapper(base.DatabaseWrapper):
    """Start the embedded server only when something really connects, so that `--help` stays quick.

    Address and password are asked of the server's supervisor: they are no settings, so nothing that
    shows settings can show them.
    """

    def get_connection_params(self) -> dict[str, Any]:
        parameters: dict[str, Any] = super().get_connection_params()
        return parameters | _server().ensure_running().parameters()

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        # Asked again for a connection from the pool: the server may have been killed since.
        _server().ensure_running()
        return super().get_new_connection(conn_params)


def _server() -> EmbeddedPostgres:
    if settings.EMBEDDED_POSTGRES is None:
        raise ImproperlyConfigured("The backend 'sci_rag_site.database' is for the embedded server only.")
    return settings.EMBEDDED_POSTGRES
