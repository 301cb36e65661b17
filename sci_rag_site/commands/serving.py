"""Site and worker as one: they start together and neither outlives the other."""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator

import click
import structlog
import uvicorn

from corpus.cli_output import CommandFailed

logger = structlog.get_logger(__name__)

GRACE = 15.0
RESTART_PAUSE = 5.0


def listen(host: str, port: int, *, others: int = 0) -> socket.socket:
    """Return a socket bound to `port`, or to one of the `others` after it when that is taken."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    for candidate in range(port, port + others + 1):
        bound = socket.socket(family, socket.SOCK_STREAM)
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            bound.bind((host, candidate))
            bound.listen(2048)
        except OSError as error:
            bound.close()
            if error.errno != errno.EADDRINUSE:
                raise CommandFailed(f"Cannot listen on {host}:{candidate}: {error.strerror}.") from error
        else:
            return bound
    raise CommandFailed(
        f"Port {port} on {host} is in use by another program. Stop it, or choose another with --port."
    )


def address(bound: socket.socket) -> str:
    """Return what to type into a browser."""
    host, port = bound.getsockname()[:2]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}/"


class Worker:
    """The worker process, started again if it ends by itself."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._stopping = threading.Event()
        self._watch = threading.Thread(target=self._keep_running, daemon=True)

    def start(self) -> None:
        self._start_process()
        self._watch.start()

    def _start_process(self) -> None:
        # In a session of its own: Ctrl-C reaches the parent only, which then stops it in order.
        self._process = subprocess.Popen(
            [sys.executable, "-m", "sci_rag_site.worker"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            start_new_session=True,
        )

    def _keep_running(self) -> None:
        while not self._stopping.is_set():
            process = self._process
            code = process.wait() if process else 0
            if self._stopping.is_set():
                return
            logger.error("worker.ended", code=code, again_in_seconds=RESTART_PAUSE)
            if not self._stopping.wait(RESTART_PAUSE):
                self._start_process()

    def stop(self) -> None:
        """Let the running task finish for a while, then end the process and all it started."""
        self._stopping.set()
        process = self._process
        if process is None:
            return
        process.terminate()
        deadline = time.monotonic() + GRACE
        while process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.05)
        with contextlib.suppress(ProcessLookupError):
            _signal_group(process.pid, signal.SIGKILL)
        process.wait()


def _signal_group(pid: int, number: int) -> None:
    os.killpg(pid, number)


@contextlib.contextmanager
def running_worker() -> Iterator[None]:
    worker = Worker()
    worker.start()
    try:
        yield
    finally:
        click.echo("Stopping; a task that runs may take a moment to end.")
        worker.stop()


def serve(bound: socket.socket, *, announce: Callable[[], None]) -> None:
    """Serve the site with its worker until SIGINT or SIGTERM."""
    config = uvicorn.Config(
        "sci_rag_site.asgi:application",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        # An open stream of an answer must not hold up the end.
        timeout_graceful_shutdown=5,
    )
    with running_worker(), bound:
        server = _AnnouncingServer(config, announce)
        # After an orderly end uvicorn repeats the signal that asked for it.
        with contextlib.suppress(KeyboardInterrupt):
            server.run(sockets=[bound])


class _AnnouncingServer(uvicorn.Server):
    """Says so once it really answers."""

    def __init__(self, config: uvicorn.Config, announce: Callable[[], None]) -> None:
        super().__init__(config)
        self._announce = announce

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._announce()
