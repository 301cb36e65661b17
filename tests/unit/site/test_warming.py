"""Models are loaded when a server starts the site, not when somebody imports it."""

import asyncio
import subprocess
import sys
import threading
from typing import Any

import pytest

from sci_rag_site import warming


async def _nothing(*_: Any) -> None:
    raise AssertionError("no request was made")


def test_a_server_that_starts_has_the_models_loaded_and_is_told_of_start_and_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    loading = threading.Event()
    monkeypatch.setattr(warming, "_warm", loading.set)
    says, sent = iter(["lifespan.startup", "lifespan.shutdown"]), []

    async def receive() -> dict[str, str]:
        return {"type": next(says)}

    async def send(message: dict[str, str]) -> None:
        sent.append(message["type"])

    asyncio.run(warming.WarmedAtStart(_nothing)({"type": "lifespan"}, receive, send))

    assert loading.wait(5)
    assert sent == ["lifespan.startup.complete", "lifespan.shutdown.complete"]


def test_importing_the_application_starts_nothing() -> None:
    code = "import sci_rag_site.asgi, threading; print([t.name for t in threading.enumerate()])"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout

    assert said.strip() == "['MainThread']"
