"""The litellm library, loaded at its first use: importing it takes seconds and hundreds of megabytes."""

from __future__ import annotations

import logging
import os
import threading
import warnings
from functools import cache
from typing import Any

import httpx

# Threads that need the library first may all set it up, to the same; of the pool there is to be one.
_making = threading.Lock()


@cache
def litellm() -> Any:
    """Return the library, with everything off that would call out, print, retry or log on its own."""
    # Read at import: without it litellm fetches a price list from the network.
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import litellm as library

    # It builds types at its first call, and prints values it finds odd: both are nobody's business here.
    for message in ("Items? .* using the `ReadOnly` qualifier", "Pydantic serializer warnings"):
        warnings.filterwarnings("ignore", message=message, category=UserWarning)
    library.suppress_debug_info = True
    library.telemetry = False
    library.turn_off_message_logging = True
    # Its log would start an event loop in another thread for every piece of text that arrives.
    library.disable_streaming_logging = True
    library.num_retries = 0
    # One pool of connections for all its clients, of which it would leave some open unseen. A provider that
    # sends its callers elsewhere is not followed: what the prompt holds was meant for this address alone.
    with _making:
        if library.client_session is None or library.client_session.is_closed:
            library.client_session = httpx.Client(
                follow_redirects=False,
                limits=httpx.Limits(max_connections=None, max_keepalive_connections=20),
            )
    # For embeddings it takes a `max_retries` of 0 for none given, and falls back to this.
    library.DEFAULT_MAX_RETRIES = 0  # type: ignore[attr-defined]
    library.drop_params = True
    # Counting tokens for some models would fetch their tokenizer from the network.
    library.disable_hf_tokenizer_download = True
    for hooks in ("callbacks", "input_callback", "success_callback", "failure_callback", "service_callback"):
        setattr(library, hooks, [])
    # Its error texts repeat what the provider said, and providers repeat keys and prompts.
    for name in ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy"):
        logger = logging.getLogger(name)
        logger.handlers.clear()
        logger.setLevel(logging.CRITICAL + 1)
        logger.propagate = False
    return library
