"""What a question speaks of, named by a fast model: with synonyms and abbreviations it does not spell."""

from __future__ import annotations

import json

from corpus.egress import NOTHING_HELD
from corpus.gateways.llm import ModelError, complete, fast_model
from corpus.normalise import visible
from corpus.prompt_files import prompt_file
from corpus.usage.purposes import Purpose
from retrieval.graph.naming import LONGEST_NAME, key_of

MODEL_SECONDS = 10.0
MOST_NAMES = 12


def named_by_model(question: str) -> tuple[str, ...]:
    """Return names as names are compared; none when no model is configured. Raises `ModelError`.

    They are looked up among the names that passages in scope spell, like words of the question itself, and
    dropped: never shown, stored or logged.
    """
    model = fast_model()
    if model is None:
        return ()
    system, user = prompt_file("name_entities").fill({"question": visible(question)})
    reply, _ = complete(
        model,
        system=system,
        user=user,
        purpose=Purpose.NAMES,
        carries=NOTHING_HELD,
        timeout=MODEL_SECONDS,
    )
    keys = (key_of(name) for name in _names(reply) if len(name) <= LONGEST_NAME)
    return tuple(dict.fromkeys(key for key in keys if len(key) > 1))


def _names(reply: str) -> list[str]:
    try:
        value = json.loads(reply)
    except (ValueError, RecursionError):
        raise ModelError("garbage") from None
    names = value.get("names") if isinstance(value, dict) else None
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise ModelError("garbage")
    return names[:MOST_NAMES]
