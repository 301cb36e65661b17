"""Load what the first question would wait for, while nobody asks yet."""

from __future__ import annotations

import threading

import structlog

logger = structlog.get_logger(__name__)


def in_background() -> None:
    """Start loading the models in a thread. A failure shows again, and properly, when they are used."""
    threading.Thread(target=_warm, name="warming", daemon=True).start()


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
