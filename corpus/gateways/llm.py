"""Language models behind one protocol. What a model returns is untrusted text."""

from __future__ import annotations

import math
import queue
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, Protocol

import structlog
from django.conf import settings

from corpus.gateways.breaker import Breaker
from corpus.gateways.connections import release_connections
from corpus.gateways.litellm_library import litellm

logger = structlog.get_logger(__name__)

LONGEST_REPLY: Final = 16_000
MAX_OUTPUT_TOKENS: Final = 4_000
DEADLINE_SECONDS: Final = 120.0
CONNECT_SECONDS: Final = 10.0
_UNWANTED_ENDS = {"length": "cut_off", "content_filter": "rejected"}
_LONGEST_PAUSE = 5.0
_PAUSE = 0.5

MESSAGES: Final = {
    "unavailable": "The language model could not be reached.",
    "timeout": "The language model did not answer in time.",
    "rate_limited": "The language model is busy. Try again in a moment.",
    "rejected": "The language model refused the request. Check its name, key and limits in the settings.",
    "garbage": "The language model returned something that is not an answer.",
    "cut_off": "The language model stopped before its answer was complete.",
}


class ModelError(RuntimeError):
    """The provider failed. `code` is one of the keys of `MESSAGES`.

    The message never repeats the provider's words, which may hold the key or the prompt.
    """

    def __init__(self, code: str, message: str = "") -> None:
        super().__init__(message or MESSAGES[code])
        self.code = code


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens and cost of one call, as the provider reports or litellm counts them; None when unknown."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cost_usd: float | None = None


class ChatModel(Protocol):
    """One configured model. No tools, no functions: text in, text out."""

    @property
    def name(self) -> str: ...

    @property
    def parameters(self) -> dict[str, Any]:
        """What shapes the output, for the record of an answer. Holds no secret."""

    def stream(self, *, system: str, user: str, timeout: float) -> Iterator[str | Usage]:
        """Yield pieces of text as they arrive and last the usage; raise `ModelError`."""


def warm_up() -> None:
    """Load what the configured model needs, so that the first question does not wait for it."""
    if settings.SCI_RAG_LLM_MODEL:
        litellm()


def chat_model() -> ChatModel | None:
    """Return the model of the settings, or None when none is set."""
    if not settings.SCI_RAG_LLM_MODEL:
        return None
    return _configured(
        settings.SCI_RAG_LLM_MODEL, settings.SCI_RAG_LLM_API_BASE, settings.SCI_RAG_LLM_API_KEY
    )


@cache
def _configured(model: str, api_base: str, api_key: str) -> LiteLLMChat:
    return LiteLLMChat(model=model, api_base=api_base, api_key=api_key)


class LiteLLMChat:
    """A model behind litellm: streamed, bounded in time and length, tried twice at most."""

    def __init__(self, *, model: str, api_base: str = "", api_key: str = "") -> None:
        self.name = model
        self.parameters = {"temperature": 0, "max_tokens": MAX_OUTPUT_TOKENS}
        self._endpoint = {
            name: value for name, value in (("api_base", api_base), ("api_key", api_key)) if value
        }
        self._breaker = Breaker()

    def __repr__(self) -> str:
        return f"LiteLLMChat({self.name})"

    def stream(self, *, system: str, user: str, timeout: float = DEADLINE_SECONDS) -> Iterator[str | Usage]:
        """Yield pieces of text as they arrive and last the usage; raise `ModelError`.

        Nothing is waited for longer than `timeout` in all. A failure that passes is tried once more,
        as long as no text has arrived.
        """
        release_connections()
        litellm()
        if self._breaker.is_open:
            raise ModelError("unavailable")
        deadline = time.monotonic() + timeout
        messages = [{"role": "system", "content": system}, {"role": "user", "content": user}]
        for attempt in (1, 2):
            call = _Call(self.name, messages, {**self.parameters, **self._endpoint}, deadline, timeout)
            try:
                yield from call.pieces()
            except _ProviderFailure as failure:
                if failure.counts:
                    self._breaker.failed()
                logger.warning("model.failed", code=failure.code, error=failure.kind, attempt=attempt)
                pause = min(failure.wait or _PAUSE, _LONGEST_PAUSE)
                again = failure.passes and not call.has_yielded and time.monotonic() + pause < deadline
                if attempt == 2 or not again or self._breaker.is_open:
                    raise ModelError(failure.code) from None
                time.sleep(pause)
            else:
                self._breaker.succeeded()
                return
            finally:
                call.close()


class _ProviderFailure(Exception):
    def __init__(self, code: str, *, kind: str = "", passes: bool = False, wait: float | None = None) -> None:
        super().__init__(code)
        self.code = code
        self.kind = kind
        self.passes = passes
        self.wait = wait

    @property
    def counts(self) -> bool:
        return self.code != "rejected"


class _Call:
    """One request. It runs in a thread, so that a server that drips bytes cannot hold the caller."""

    def __init__(
        self,
        model: str,
        messages: list[dict[str, str]],
        options: dict[str, Any],
        deadline: float,
        timeout: float,
    ) -> None:
        self.has_yielded = False
        self._model = model
        self._messages = messages
        self._options = options
        self._deadline = deadline
        # Constant from call to call: litellm keeps one client, and its connections, for each value.
        self._timeout = timeout
        self._arrivals: queue.Queue[Any] = queue.Queue()
        self._closed = threading.Event()
        self._response: Any = None

    def pieces(self) -> Iterator[str | Usage]:
        """Yield text and last the usage; raise `_ProviderFailure`."""
        threading.Thread(target=self._read, name="model-call", daemon=True).start()
        written, usage = 0, Usage()
        while (arrival := self._next()) is not None:
            if isinstance(arrival, BaseException):
                raise _described(arrival) from None
            usage = _usage(arrival, self._model) or usage
            text = _text(arrival)
            if not text:
                continue
            self.has_yielded = True
            written += len(text)
            if written > LONGEST_REPLY:
                yield text[: len(text) - (written - LONGEST_REPLY)]
                raise _ProviderFailure("cut_off", kind="TooLong")
            yield text
        if not written:
            raise _ProviderFailure("garbage", kind="Empty")
        yield usage

    def close(self) -> None:
        """Stop reading. What still arrives is dropped."""
        self._closed.set()
        _hang_up(self._response)

    def _next(self) -> Any:
        try:
            return self._arrivals.get(timeout=max(0.0, self._deadline - time.monotonic()))
        except queue.Empty:
            raise _ProviderFailure("timeout", kind="Deadline") from None

    def _read(self) -> None:
        try:
            self._response = self._request()
            if self._response is None:
                # What litellm returns instead of an error for some refusals, 422 among them.
                raise _ProviderFailure("rejected", kind="NoReply")
            reason = None
            for chunk in self._response:
                if self._closed.is_set():
                    break
                self._arrivals.put(chunk)
                reason = _finish_reason(chunk) or reason
            if reason in _UNWANTED_ENDS:
                self._arrivals.put(_ProviderFailure(_UNWANTED_ENDS[reason], kind=reason))
            self._arrivals.put(None)
        except BaseException as error:  # noqa: BLE001 the thread's border: the caller raises it
            self._arrivals.put(error)
        finally:
            if self._closed.is_set():
                _hang_up(self._response)

    def _request(self) -> Any:
        import httpx

        return litellm().completion(
            model=self._model,
            messages=self._messages,
            stream=True,
            stream_options={"include_usage": True},
            timeout=httpx.Timeout(self._timeout, connect=min(CONNECT_SECONDS, self._timeout)),
            num_retries=0,
            max_retries=0,
            **self._options,
        )


def _hang_up(response: Any) -> None:
    close = getattr(response, "close", None)
    if close is not None:
        close()


def _text(chunk: Any) -> str:
    try:
        content = chunk.choices[0].delta.content
    except (AttributeError, IndexError, TypeError):
        return ""
    return content if isinstance(content, str) else ""


def _finish_reason(chunk: Any) -> str | None:
    try:
        reason = chunk.choices[0].finish_reason
    except (AttributeError, IndexError, TypeError):
        return None
    return reason if isinstance(reason, str) else None


def _usage(chunk: Any, model: str) -> Usage | None:
    reported = getattr(chunk, "usage", None)
    if reported is None:
        return None
    prompt = _count(getattr(reported, "prompt_tokens", None))
    completion = _count(getattr(reported, "completion_tokens", None))
    return Usage(prompt, completion, _cost(model, prompt, completion))


def _count(value: Any) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return int(value) if 0 <= value < 2**31 else None


def _cost(model: str, prompt: int | None, completion: int | None) -> float | None:
    if prompt is None or completion is None:
        return None
    try:
        paid = litellm().cost_per_token(model=model, prompt_tokens=prompt, completion_tokens=completion)
    except Exception:  # noqa: BLE001 litellm raises a bare Exception for a model without a price
        return None
    total = sum(paid)
    return total if math.isfinite(total) and total > 0 else None


_TIMEOUT = {"Timeout", "APITimeoutError", "ReadTimeout", "ConnectTimeout", "TimeoutException"}
_GARBAGE = {
    "APIResponseValidationError",
    "JSONDecodeError",
    "UnicodeDecodeError",
    "JSONSchemaValidationError",
}
_PASSING = {408, 409, 500, 502, 503, 504, 529}


def _described(error: BaseException) -> _ProviderFailure:
    """Name a provider's failure by its class and status alone: its text may repeat key and prompt."""
    if isinstance(error, _ProviderFailure):
        return error
    kind = type(error).__name__
    statuses = (getattr(link, "status_code", None) for link in _chain(error))
    status = next((status for status in statuses if isinstance(status, int)), None)
    kinds = {type(link).__name__ for link in _chain(error)}
    if kinds & _TIMEOUT or status == 408:
        return _ProviderFailure("timeout", kind=kind)
    if status == 429:
        return _ProviderFailure("rate_limited", kind=kind, passes=True, wait=_retry_after(error))
    if kinds & _GARBAGE:
        return _ProviderFailure("garbage", kind=kind)
    if status is not None and 400 <= status < 500 and status not in _PASSING:
        return _ProviderFailure("rejected", kind=kind)
    return _ProviderFailure("unavailable", kind=kind, passes=True, wait=_retry_after(error))


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
