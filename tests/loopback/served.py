"""The site's ASGI application on a port of 127.0.0.1, in a thread of this process."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Iterator

import uvicorn

# Imported while tests are collected: it sets Django's logs up anew, which in a test would miss its handlers.
from sci_rag_site.asgi import application


@contextlib.contextmanager
def site() -> Iterator[str]:
    """Serve the site on the tests' database, and yield its address."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        config = uvicorn.Config(
            application, lifespan="off", log_config=None, access_log=False, timeout_graceful_shutdown=5
        )
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]}, name="site", daemon=True)
        thread.start()
        deadline = time.monotonic() + 30
        while not server.started:
            assert thread.is_alive(), "the site ended"
            assert time.monotonic() < deadline, "the site did not start"
            time.sleep(0.01)
        try:
            yield f"http://127.0.0.1:{bound.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join(20)
