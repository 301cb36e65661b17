"""Where the tools are found over HTTP: `/mcp`, beside Django."""

from __future__ import annotations

from sci_rag_site.body_limit import Application, Receive, Scope, Send

PATH = "/mcp"


class McpEndpoint:
    """Serves `/mcp` and hands everything else on."""

    def __init__(self, application: Application) -> None:
        self._application = application

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request."""
        if scope["type"] == "http" and scope["path"].rstrip("/") == PATH:
            # Now, so that a site that nobody asks by this protocol never loads it.
            from sci_rag_site.mcp import http

            await http.serve(scope, receive, send)
        else:
            await self._application(scope, receive, send)
