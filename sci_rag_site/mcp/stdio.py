"""The server on standard input and output, for a program on this machine that starts it."""

from __future__ import annotations

import anyio
from mcp.server.stdio import stdio_server

from sci_rag_site.mcp import server
from sci_rag_site.mcp.callers import Identity


def serve(identity: Identity) -> None:
    """Serve until the input ends. Whatever else is printed meanwhile goes to standard error."""
    anyio.run(_serve, identity)


async def _serve(identity: Identity) -> None:
    built = server.build(identity)
    async with stdio_server() as (incoming, outgoing):
        await built.run(incoming, outgoing, built.create_initialization_options())
