"""An answer as it is written: its events in their order. Closing the stream stops the model."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any

import httpx

from sci_rag_site.client.problems import BadAnswer, StreamBroken, TimedOut

ENDINGS = ("done", "error")


@dataclass(frozen=True, slots=True)
class Event:
    """One step of an answer, by the name that the API's description gives it."""

    name: str
    data: dict[str, Any] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """The piece of text that a `delta` brings; empty for others."""
        return str(self.data.get("text", "")) if self.name == "delta" else ""


class AnswerStream:
    """Iterate for the events; use as a context manager, or close, to stop early.

    An `error` event ends the stream like `done` does: what was written before it is kept.
    """

    def __init__(self, response: httpx.Response) -> None:
        self._response = response
        self.request_id = response.headers.get("x-request-id", "")
        self.text = ""
        """What has been written so far."""
        self.ending: Event | None = None
        """How it ended, once it has."""

    def __enter__(self) -> AnswerStream:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Hang up. A model that is still writing is stopped, and the answer kept as cancelled."""
        self._response.close()

    def __iter__(self) -> Iterator[Event]:
        for event in _events(self._lines()):
            self.text += event.text
            if event.name in ENDINGS:
                self.ending = event
            yield event
        if self.ending is None:
            raise StreamBroken(f"The stream broke off (request {self.request_id}).")

    def _lines(self) -> Iterator[str]:
        try:
            yield from _of_bytes(self._response.iter_bytes())
        except httpx.TimeoutException:
            raise TimedOut(f"Nothing came for too long (request {self.request_id}).") from None
        except httpx.HTTPError as error:
            kind = type(error).__name__
            raise StreamBroken(f"The stream broke off: {kind} (request {self.request_id}).") from None


def _of_bytes(pieces: Iterator[bytes]) -> Iterator[str]:
    """Split at line feeds alone: text may hold every other sign that Python takes for the end of a line."""
    rest = b""
    for piece in pieces:
        *lines, rest = (rest + piece).split(b"\n")
        for line in lines:
            yield line.decode("utf-8").removesuffix("\r")


def _events(lines: Iterator[str]) -> Iterator[Event]:
    name = ""
    data: list[str] = []
    for line in lines:
        if not line:
            if data:
                yield _event(name, "\n".join(data))
            name, data = "", []
        elif not line.startswith(":"):
            field_name, _, value = line.partition(":")
            value = value.removeprefix(" ")
            if field_name == "event":
                name = value
            elif field_name == "data":
                data.append(value)


def _event(name: str, text: str) -> Event:
    try:
        data = json.loads(text)
    except ValueError:
        raise BadAnswer("An event of the stream is no JSON.") from None
    return Event(name, data if isinstance(data, dict) else {"value": data})
