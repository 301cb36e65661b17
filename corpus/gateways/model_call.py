"""One streamed request to a provider, bounded in time and length, its failures named without its words."""

from __future__ import annotations

import contextlib
import math
import queue
import threading
import time
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from typing import Any, Final

from corpus.gateways import costs
from corpus.gateways.litellm_library import litellm
from corpus.gateways.metering import Meter, Tokens
from corpus.gateways.raw_stream import arrivals

LONGEST_REPLY: Final = 16_000
CONNECT_SECONDS: Final = 10.0
# A provider may be faster than the reader; what waits in between is bounded.
_MOST_WAITING = 256
# Twelve times a second is as good as at once to somebody who reads; where many read, less often will do.
_BETWEEN_PIECES = 0.08
_PIECES_A_SECOND = 150
_WHOLE: Final = object()
_underway: set[object] = set()
_UNWANTED_ENDS = {"length": "cut_off", "content_filter": "rejected"}


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens and cost of one call, as the provider reports or litellm counts them; None when unknown."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cost_usd: float | None = None


class ProviderFailure(Exception):
    """What went wrong with one request, named by class and status only.

    `passes` says that another try may succeed, `wait` how long the provider asked to be left alone.
    """

    def __init__(self, code: str, *, kind: str = "", passes: bool = False, wait: float | None = None) -> None:
        super().__init__(code)
        self.code = code
        self.kind = kind
        self.passes = passes
        self.wait = wait

    @property
    def counts(self) -> bool:
        """Whether this speaks of the provider's health, and not of our request."""
        return self.code != "rejected"


class ModelCall:
    """One request. It runs in a thread, so that a server that drips bytes cannot hold the caller."""

    def __init__(
        self,
        model: str,
        messages: list[dict[str, str]],
        options: dict[str, Any],
        deadline: float,
        timeout: float,
        *,
        meter: Meter,
    ) -> None:
        self.has_yielded = False
        self._meter = meter
        self._said: list[str] = []
        self._used = Usage()
        self._model = model
        self._messages = messages
        self._options = options
        self._deadline = deadline
        # Constant from call to call: litellm keeps one client, and its connections, for each value.
        self._timeout = timeout
        self._arrivals: queue.Queue[Any] = queue.Queue(_MOST_WAITING)
        self._closed = threading.Event()
        self._ended = threading.Event()
        self._response: Any = None

    def pieces(self) -> Generator[str | Usage, None, None]:
        """Yield text and last the usage; raise `ProviderFailure`. However it ends, the ledger knows of it.

        Tokens that arrive faster than anybody reads are handed over together: each piece costs all who
        pass it on the same, and fifty answers at once are a thousand tokens a second.
        """
        failure = ""
        try:
            with _counted():
                yield from self._pieces()
        except ProviderFailure as failed:
            failure = failed.code
            raise
        finally:
            self._meter.chat_ended(
                Tokens(self._used.prompt_tokens, self._used.completion_tokens),
                messages=self._messages,
                text="".join(self._said),
                failure=failure,
            )

    def _pieces(self) -> Generator[str | Usage, None, None]:
        threading.Thread(target=self._read, name="model-call", daemon=True).start()
        written, end = 0, None
        while end is None:
            *chunks, end = self._arrived_since()
            # Some count up with every piece: the last word counts.
            told = [each.tokens for each in chunks if each.tokens]
            self._used = _usage(told[-1], self._model) if told else self._used
            text = "".join(each.text for each in chunks)
            if text:
                self.has_yielded = True
                self._said.append(text)
                written += len(text)
                if written > LONGEST_REPLY:
                    yield text[: len(text) - (written - LONGEST_REPLY)]
                    raise ProviderFailure("cut_off", kind="TooLong")
                yield text
        if isinstance(end, BaseException):
            raise _described(end) from None
        if not written:
            raise ProviderFailure("garbage", kind="Empty")
        yield self._used

    def close(self) -> None:
        """Stop reading. What still arrives is dropped."""
        self._closed.set()
        _hang_up(self._response)

    def _arrived_since(self) -> list[Any]:
        """Return what has arrived, and last how it ended: None as long as it goes on."""
        if self.has_yielded:
            self._ended.wait(max(_BETWEEN_PIECES, len(_underway) / _PIECES_A_SECOND))
        arrived = [self._next()]
        while not (_is_end(arrived[-1]) or self._arrivals.empty()):
            arrived.append(self._arrivals.get_nowait())
        return arrived if _is_end(arrived[-1]) else [*arrived, None]

    def _next(self) -> Any:
        try:
            return self._arrivals.get(timeout=max(0.0, self._deadline - time.monotonic()))
        except queue.Empty:
            raise ProviderFailure("timeout", kind="Deadline") from None

    def _read(self) -> None:
        try:
            self._response = self._request()
            reason = None
            for arrival in arrivals(self._response):
                if self._closed.is_set():
                    break
                self._arrived(arrival)
                reason = arrival.reason or reason
            if reason in _UNWANTED_ENDS:
                self._arrived(ProviderFailure(_UNWANTED_ENDS[reason], kind=reason))
            self._ended.set()
            self._arrived(_WHOLE)
        except BaseException as error:  # noqa: BLE001 the thread's border: the caller raises it
            self._ended.set()
            self._arrived(error)
        finally:
            if self._closed.is_set():
                _hang_up(self._response)

    def _arrived(self, what: Any) -> None:
        """Hand over what came, unless nobody waits for it any more: then the thread must not either."""
        while not self._closed.is_set():
            with contextlib.suppress(queue.Full):
                self._arrivals.put(what, timeout=1.0)
                return

    def _request(self) -> Any:
        import httpx

        response = litellm().completion(
            model=self._model,
            messages=self._messages,
            stream=True,
            stream_options={"include_usage": True},
            timeout=httpx.Timeout(self._timeout, connect=min(CONNECT_SECONDS, self._timeout)),
            num_retries=0,
            max_retries=0,
            **self._options,
        )
        if response is None:
            # What litellm returns instead of an error for some refusals, 422 among them.
            raise ProviderFailure("rejected", kind="NoReply")
        return response


@contextlib.contextmanager
def _counted() -> Iterator[None]:
    mark = object()
    _underway.add(mark)
    try:
        yield
    finally:
        _underway.discard(mark)


def _is_end(arrival: Any) -> bool:
    return arrival is _WHOLE or isinstance(arrival, BaseException)


def _hang_up(response: Any) -> None:
    close = getattr(response, "close", None)
    if close is not None:
        close()


def _usage(tokens: tuple[Any, Any], model: str) -> Usage:
    prompt, completion = map(_count, tokens)
    return Usage(prompt, completion, _cost(model, prompt, completion))


def _count(value: Any) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return int(value) if 0 <= value < 2**31 else None


def _cost(model: str, prompt: int | None, completion: int | None) -> float | None:
    if prompt is None or completion is None:
        return None
    cost = costs.cost_of(model, prompt=prompt, completion=completion)
    return None if cost is None else float(cost)


_TIMEOUT = {"Timeout", "APITimeoutError", "ReadTimeout", "ConnectTimeout", "TimeoutException"}
_GARBAGE = {
    "APIResponseValidationError",
    "JSONDecodeError",
    "UnicodeDecodeError",
    "JSONSchemaValidationError",
}
_PASSING = {408, 409, 500, 502, 503, 504, 529}


def _described(error: BaseException) -> ProviderFailure:
    """Name a provider's failure by its class and status alone: its text may repeat key and prompt."""
    if isinstance(error, ProviderFailure):
        return error
    kind = type(error).__name__
    statuses = (getattr(link, "status_code", None) for link in _chain(error))
    status = next((status for status in statuses if isinstance(status, int)), None)
    kinds = {type(link).__name__ for link in _chain(error)}
    if kinds & _TIMEOUT or status == 408:
        return ProviderFailure("timeout", kind=kind)
    if status == 429:
        return ProviderFailure("rate_limited", kind=kind, passes=True, wait=_retry_after(error))
    if kinds & _GARBAGE:
        return ProviderFailure("garbage", kind=kind)
    if status is not None and 400 <= status < 500 and status not in _PASSING:
        return ProviderFailure("rejected", kind=kind)
    return ProviderFailure("unavailable", kind=kind, passes=True, wait=_retry_after(error))


def _chain(error: BaseException) -> Iterator[BaseException]:
    link: BaseException | None = error
    for _ in range(8):
        if link is None:
            return
        yield link
        link = link.__cause__ or link.__context__


def _retry_after(error: BaseException) -> float | None:
    headers = getattr(getattr(error, "response", None), "headers", None) or {}
    try:
        seconds = float(headers.get("retry-after", ""))
    except (TypeError, ValueError):
        return None
    return seconds if math.isfinite(seconds) and seconds >= 0 else None
