"""Language models behind one protocol. What a model returns is untrusted text."""

from __future__ import annotations

import time
from collections.abc import Generator
from contextlib import closing
from functools import cache
from typing import Any, Final, Protocol

import structlog
from django.conf import settings

from corpus.connections import release_before_outside_call
from corpus.egress import Classes
from corpus.gateways import border
from corpus.gateways.breaker import Breaker
from corpus.gateways.litellm_library import litellm
from corpus.gateways.metering import Meter
from corpus.gateways.model_call import LONGEST_REPLY, ModelCall, ProviderFailure, Usage
from corpus.usage import accounts
from corpus.usage.purposes import Purpose

__all__ = [
    "LONGEST_REPLY",
    "ChatModel",
    "LiteLLMChat",
    "ModelError",
    "Usage",
    "chat_model",
    "complete",
    "fast_model",
    "warm_up",
]

logger = structlog.get_logger(__name__)

MAX_OUTPUT_TOKENS: Final = 4_000
DEADLINE_SECONDS: Final = 120.0
_LONGEST_PAUSE = 5.0
_PAUSE = 0.5

MESSAGES: Final = {
    "unavailable": "The language model could not be reached.",
    "timeout": "The language model did not answer in time.",
    "rate_limited": "The language model is busy. Try again in a moment.",
    "rejected": "The language model refused the request. Check its name, key and limits in the settings.",
    "garbage": "The language model returned something that is not an answer.",
    "cut_off": "The language model stopped before its answer was complete.",
    "withheld": "The licence of a text keeps it from this language model (domain/egress.yaml).",
}


class ModelError(RuntimeError):
    """The provider failed. `code` is one of the keys of `MESSAGES`.

    The message never repeats the provider's words, which may hold the key or the prompt.
    """

    def __init__(self, code: str, message: str = "") -> None:
        super().__init__(message or MESSAGES[code])
        self.code = code


class ChatModel(Protocol):
    """One configured model. No tools, no functions: text in, text out."""

    @property
    def name(self) -> str: ...

    @property
    def parameters(self) -> dict[str, Any]:
        """What shapes the output, for the record of an answer. Holds no secret."""

    def stream(
        self, *, system: str, user: str, purpose: Purpose, carries: Classes, timeout: float
    ) -> Generator[str | Usage, None, None]:
        """Yield pieces of text as they arrive and last the usage; raise `ModelError`.

        `carries` are the licence classes of the documents that `system` and `user` hold text of. Closing
        the generator hangs up. The call is charged to the account of whoever called this, and for this
        purpose.
        """

    def readable(self, purpose: Purpose) -> Classes:
        """Return the licence classes whose text may be sent to it for `purpose`."""


def warm_up() -> None:
    """Load what the configured models need, so that the first question or estimate does not wait for it."""
    if settings.SCI_RAG_LLM_MODEL or settings.SCI_RAG_FAST_MODEL or settings.SCI_RAG_JUDGE_MODEL:
        litellm()


def chat_model() -> ChatModel | None:
    """Return the model of the settings, or None when none is set."""
    if not settings.SCI_RAG_LLM_MODEL:
        return None
    return _configured(
        settings.SCI_RAG_LLM_MODEL, settings.SCI_RAG_LLM_API_BASE, settings.SCI_RAG_LLM_API_KEY
    )


def fast_model() -> ChatModel | None:
    """Return the model for small work such as search probes: the fast one of the settings, else the model.

    Its circuit breaker is its own even then: small work has short deadlines, and what it could not do
    in time must not keep answers from being written.
    """
    name = settings.SCI_RAG_FAST_MODEL or settings.SCI_RAG_LLM_MODEL
    if not name:
        return None
    return _configured(name, settings.SCI_RAG_LLM_API_BASE, settings.SCI_RAG_LLM_API_KEY, for_small_work=True)


def complete(
    model: ChatModel, *, system: str, user: str, purpose: Purpose, carries: Classes, timeout: float
) -> tuple[str, Usage]:
    """Return the whole reply of `model` and what it used; raise `ModelError`."""
    parts: list[str] = []
    usage = Usage()
    asked = model.stream(system=system, user=user, purpose=purpose, carries=carries, timeout=timeout)
    with closing(asked) as stream:
        for piece in stream:
            if isinstance(piece, Usage):
                usage = piece
            else:
                parts.append(piece)
    return "".join(parts), usage


@cache
def _configured(model: str, api_base: str, api_key: str, *, for_small_work: bool = False) -> LiteLLMChat:
    """Return one client, with one circuit breaker, for each model and purpose."""
    use = "small_work" if for_small_work else "answers"
    return LiteLLMChat(model=model, api_base=api_base, api_key=api_key, use=use)


class LiteLLMChat:
    """A model behind litellm: streamed, bounded in time and length, tried twice at most."""

    def __init__(self, *, model: str, api_base: str = "", api_key: str = "", use: str = "answers") -> None:
        self.name = model
        self.parameters = {"temperature": 0, "max_tokens": MAX_OUTPUT_TOKENS}
        self._endpoint = {
            name: value for name, value in (("api_base", api_base), ("api_key", api_key)) if value
        }
        self._where = border.endpoint(model, api_base)
        self._breaker = Breaker(use)

    def __repr__(self) -> str:
        return f"LiteLLMChat({self.name})"

    def readable(self, purpose: Purpose) -> Classes:
        """Return the licence classes whose text may be sent to it for `purpose`."""
        return border.readable(self._where, purpose)

    def stream(
        self,
        *,
        system: str,
        user: str,
        purpose: Purpose,
        carries: Classes,
        timeout: float = DEADLINE_SECONDS,
    ) -> Generator[str | Usage, None, None]:
        """Yield pieces of text as they arrive and last the usage; raise `ModelError`.

        Nothing is waited for longer than `timeout` in all. A failure that passes is tried once more,
        as long as no text has arrived.
        """
        messages = [{"role": "system", "content": system}, {"role": "user", "content": user}]
        # Read here and not in the generator, which may be resumed from anywhere.
        return self._streamed(messages, carries, Meter(self.name, purpose, accounts.current()), timeout)

    def _streamed(
        self, messages: list[dict[str, str]], carries: Classes, meter: Meter, timeout: float
    ) -> Generator[str | Usage, None, None]:
        try:
            border.cross(self._where, meter.purpose, carries)
        except border.Withheld:
            raise ModelError("withheld") from None
        release_before_outside_call()
        litellm()
        if self._breaker.is_open:
            raise ModelError("unavailable")
        deadline = time.monotonic() + timeout
        options = {**self.parameters, **self._endpoint}
        for attempt in (1, 2):
            call = ModelCall(self.name, messages, options, deadline, timeout, meter=meter)
            try:
                yield from call.pieces()
            except ProviderFailure as failure:
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
