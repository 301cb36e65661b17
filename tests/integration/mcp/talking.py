"""The protocol's official client, over both transports, from tests that are not asynchronous."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

import httpx2
from django.db import connection
from mcp import StdioServerParameters
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client

from tests.factories.keys import bearer

T = TypeVar("T")
ROOT = Path(__file__).resolve().parents[3]
Talk = Callable[[Client], Awaitable[T]]


def over_http(site: str, secret: str, talk: Talk[T], *, mode: str = "auto", **headers: str) -> T:
    """Return what `talk` makes of a client that is connected by HTTP."""

    async def run() -> T:
        async with httpx2.AsyncClient(headers=bearer(secret) | headers, timeout=60) as http:
            transport = streamable_http_client(f"{site}/mcp", http_client=http)
            async with Client(transport, mode=mode) as client:  # type: ignore[arg-type]
                return await talk(client)

    return asyncio.run(run())


def over_stdio(arguments: list[str], talk: Talk[T], *, secret: str = "", model: str = "") -> T:
    """Return what `talk` makes of a client that started the command."""

    async def run() -> T:
        async with _started(arguments, secret, model) as client:
            return await talk(client)

    return asyncio.run(run())


def parameters(arguments: list[str], secret: str, model: str = "") -> StdioServerParameters:
    """Return how the command is started on the tests' database."""
    database = str(connection.settings_dict["NAME"])
    env = {**os.environ, "DJANGO_SETTINGS_MODULE": "tests.settings", "PYTHONPATH": str(ROOT)}
    env.pop("SCI_RAG_API_KEY", None)
    return StdioServerParameters(
        command=sys.executable,
        args=["-m", "tests.loopback.mcp_process", database, model, *arguments],
        env=env | ({"SCI_RAG_API_KEY": secret} if secret else {}),
        cwd=ROOT,
    )


@asynccontextmanager
async def _started(arguments: list[str], secret: str, model: str) -> AsyncIterator[Client]:
    async with Client(parameters(arguments, secret, model)) as client:
        yield client


async def call(client: Client, name: str, **arguments: Any) -> dict[str, Any]:
    """Return what a tool answered; fail for a tool error."""
    result = await client.call_tool(name, arguments)
    assert not result.is_error, result.structured_content
    assert result.structured_content is not None
    return result.structured_content


async def refusal(client: Client, name: str, **arguments: Any) -> dict[str, Any]:
    """Return how a tool refused; fail when it did not."""
    result = await client.call_tool(name, arguments)
    assert result.is_error, result.structured_content
    assert result.structured_content is not None
    return result.structured_content
