"""Load what the first question would wait for, while nobody asks yet."""

from __future__ import annotations

import threading

import structlog

from sci_rag_site.body_limit import Application, Receive, Scope, Send

logger = structlog.get_logger(__name__)


class WarmedAtStart:
    """Loads the models in a thread when a server starts the application, and not when it is imported.

    A failure shows again, and properly, when they are used.
    """

    def __init__(self, application: Application) -> None:
        self._application = application

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request, or a server's start and end."""
        if scope["type"] != "lifespan":
            await self._application(scope, receive, send)
            return
        await receive()
        threading.Thread(target=_warm, name="warming", daemon=True).start()
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await send({"type": "lifespan.shutdown.complete"})


def _warm() -> None:
    from corpus import connections, vectors
    from corpus.egress import NOTHING_HELD
    from corpus.gateways import llm

    try:
        embedder = vectors.active_embedder()
        connections.release()
        embedder.embed(["warm"], task="query", carries=NOTHING_HELD)
        llm.warm_up()
    except Exception as error:  # noqa: BLE001 - whatever it is, the site serves without it for now
        logger.warning("models.not_warm", kind=type(error).__name__)
