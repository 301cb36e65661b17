"""Language models behind one protocol. What a model returns is untrusted text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol


class ModelError(RuntimeError):
    """The provider failed. `code` is one of: unavailable, timeout, rate_limited, rejected, garbage."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens and cost of one call, as the provider reports them; None when it does not."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cost_usd: float | None = None


class ChatModel(Protocol):
    """One configured model. No tools, no functions: text in, text out."""

    @property
    def name(self) -> str: ...

    def stream(self, *, system: str, user: str, timeout: float) -> Iterator[str | Usage]:
        """Yield pieces of text as they arrive and last the usage; raise `ModelError`."""
