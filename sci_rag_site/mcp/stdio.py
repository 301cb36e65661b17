"""The server on standard input and output, for a program on this machine that starts it."""

from __future__ import annotations

import anyio
from mcp.server.stdio import stdio_server

from answers.streaming import wait_for_endings
from sci_rag_site.mcp import server
from sci_rag_site.mcp.callers import Identity

# Whoever started this ends it two seconds after closing its input.
_PATIENCE = 1.5


def serve(identity: Identity) -> None:
    """Serve until the input ends. Whatever else is printed meanwhile goes to standard error."""
    try:
        anyio.run(_serve, identity)
    finally:
        wait_for_endings(_PATIENCE)


async def _serve(identity: Identity) -> None:
    built = server.build(identity)
    async with stdio_server() as (incoming, outgoing):
        await built.run(incoming, outgoing, built.create_initialization_options())
