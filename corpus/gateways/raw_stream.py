"""The pieces of a model's reply as they arrive.

Those of the OpenAI protocol are read as the plain JSON they are: litellm and its client build several models
for every token and print them, most of a millisecond of a core, and fifty answers at once are 1,500 tokens
a second. litellm still makes the request, and reads what comes of other protocols.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Arrival:
    """One piece: its text, why the reply ended if it did, and the token counts if they came, unchecked."""

    text: str = ""
    reason: str | None = None
    tokens: tuple[Any, Any] | None = None


def arrivals(response: Any) -> Iterator[Arrival]:
    """Yield what comes of a streamed `response` of litellm; raise what the provider's client raises.

    A stream that ends without saying so is a `ConnectionError`, one that is not JSON a `ValueError`.
    """
    raw = _http_response(response)
    yield from map(_of_litellm, response) if raw is None else _of_lines(raw.iter_lines())


def _http_response(response: Any) -> Any:
    """Return the HTTP response under litellm's, where the OpenAI client would read it; None elsewhere."""
    stream = getattr(response, "completion_stream", None)
    is_plain = type(stream).__name__ == "Stream" and type(stream).__module__.partition(".")[0] == "openai"
    return getattr(stream, "response", None) if is_plain else None


def _of_lines(lines: Iterator[str]) -> Iterator[Arrival]:
    is_open, is_done = False, False
    for line in lines:
        data = line[5:].strip() if line.startswith("data:") else ""
        # What follows the end is read and left, so that the connection can serve again.
        is_done = is_done or data == "[DONE]"
        if data and not is_done:
            arrival = _of_json(json.loads(data))
            is_open = arrival.reason is None and (is_open or arrival.tokens is None)
            yield arrival
    if is_open and not is_done:
        raise ConnectionError("the stream broke off")


def _of_json(value: Any) -> Arrival:
    if not isinstance(value, dict):
        raise json.JSONDecodeError("not an object", "", 0)
    if value.get("error"):
        raise ConnectionError("the provider reported an error")
    choices = value.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    choice = choice if isinstance(choice, dict) else {}
    delta = choice.get("delta")
    text = delta.get("content") if isinstance(delta, dict) else None
    reason = choice.get("finish_reason")
    usage = value.get("usage")
    counts = (usage.get("prompt_tokens"), usage.get("completion_tokens")) if isinstance(usage, dict) else None
    return Arrival(text if isinstance(text, str) else "", reason if isinstance(reason, str) else None, counts)


def _of_litellm(chunk: Any) -> Arrival:
    usage = getattr(chunk, "usage", None)
    counts = (getattr(usage, "prompt_tokens", None), getattr(usage, "completion_tokens", None))
    try:
        choice = chunk.choices[0]
        text, reason = choice.delta.content, choice.finish_reason
    except (AttributeError, IndexError, TypeError):
        text = reason = None
    return Arrival(
        text if isinstance(text, str) else "",
        reason if isinstance(reason, str) else None,
        None if usage is None else counts,
    )
