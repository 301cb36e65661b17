"""The site served by uvicorn as in production, in a thread of the tests, on their database."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn


@contextmanager
def served() -> Iterator[str]:
    """Serve the site; yield its address. For tests whose transactions are real."""
    from sci_rag_site.asgi import application

    listener = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(application, log_config=None, lifespan="off", timeout_graceful_shutdown=5)
    running = uvicorn.Server(config)
    thread = threading.Thread(
        target=lambda: asyncio.run(running.serve(sockets=[listener])), name="test-site", daemon=True
    )
    thread.start()
    while not running.started:
        assert thread.is_alive(), "the server did not start"
        thread.join(0.02)
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        running.should_exit = True
        thread.join(15)
        listener.close()
