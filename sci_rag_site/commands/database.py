"""`sci-rag database`: the bundled PostgreSQL as a service of its own."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import threading
from types import FrameType

import click
from django.conf import settings

from corpus.cli_output import CommandFailed
from sci_rag_site.commands import preparation

# How often it is looked whether the server lives; one that is gone is started again.
_LOOK = 2.0


@click.command()
def database() -> None:
    """Run the bundled PostgreSQL, brought up to date, until it is told to stop.

    For machines where the site and its workers are services of their own: without it the first of them
    starts the server, which then ends with that service.
    """
    server = settings.EMBEDDED_POSTGRES
    if server is None:
        raise CommandFailed("DATABASE_URL names a server of your own; there is none to run here.")
    ending = threading.Event()

    def end(_number: int, _frame: FrameType | None) -> None:
        ending.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, end)
    server.ensure_running()
    applied = preparation.migrate()
    click.echo(f"The database is in {server.home}, {applied} migrations were applied (Ctrl-C stops it)")
    tell_service_manager("READY=1")
    while not ending.wait(_LOOK):
        server.ensure_running()
    tell_service_manager("STOPPING=1")
    # For everybody: whoever still holds it starts it again when they need it.
    server.cluster.stop()
    server.release()
    click.echo("Stopped.")


def tell_service_manager(state: str) -> None:
    """Tell systemd how far this service is; nothing where it was not started by one that asks."""
    address = os.environ.get("NOTIFY_SOCKET", "")
    if not address:
        return
    # One that does not listen any more is no reason to go on or to end otherwise.
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as channel:
        channel.connect(address.replace("@", "\0", 1) if address.startswith("@") else address)
        channel.sendall(state.encode())
