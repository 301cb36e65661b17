"""What one request to a model is entered in the ledger as. Every request passes here once, when it ends."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import structlog

from corpus.gateways import costs
from corpus.usage import ledger
from corpus.usage.accounts import Account
from corpus.usage.ledger import NOTHING, Used
from corpus.usage.purposes import Purpose

logger = structlog.get_logger(__name__)

# A provider that could not be reached or that refused has read and written nothing.
_NOTHING_DONE: Final = frozenset({"unavailable", "rejected", "rate_limited"})


@dataclass(frozen=True, slots=True)
class Tokens:
    """What the provider said of a request; None where it said nothing."""

    prompt: int | None = None
    completion: int | None = None


@dataclass(frozen=True, slots=True)
class Meter:
    """Enters the requests of one call to a model: its retries too, each by itself."""

    model: str
    purpose: Purpose
    account: Account

    def chat_ended(
        self, tokens: Tokens, *, messages: list[dict[str, str]], text: str, failure: str = ""
    ) -> None:
        """Enter a request with what came of it; `failure` is its code. Never raises."""
        try:
            ledger.record(
                purpose=self.purpose,
                account=self.account,
                model=self.model,
                used=self._of_chat(tokens, messages, text, failure),
                is_failure=bool(failure),
            )
        except Exception as error:  # noqa: BLE001 - the ledger fails nobody's work
            logger.error("usage.not_entered", error=type(error).__name__)  # noqa: TRY400

    def embedding_ended(self, prompt: int | None, *, texts: list[str], failure: bool, reached: bool) -> None:
        """Enter a request for vectors; `reached`: the provider may have worked on it. Never raises."""
        try:
            ledger.record(
                purpose=self.purpose,
                account=self.account,
                model=self.model,
                used=self._of_embedding(prompt, texts) if reached else NOTHING,
                is_failure=failure,
            )
        except Exception as error:  # noqa: BLE001 - the ledger fails nobody's work
            logger.error("usage.not_entered", error=type(error).__name__)  # noqa: TRY400

    def _of_chat(self, tokens: Tokens, messages: list[dict[str, str]], text: str, failure: str) -> Used:
        if tokens.prompt is not None and tokens.completion is not None:
            return costs.used(
                self.model, prompt=tokens.prompt, completion=tokens.completion, is_estimated=False
            )
        if failure in _NOTHING_DONE and not text:
            return NOTHING
        return costs.used(
            self.model,
            prompt=costs.message_tokens(self.model, messages) if tokens.prompt is None else tokens.prompt,
            completion=(
                costs.text_tokens(self.model, text) if tokens.completion is None else tokens.completion
            ),
            is_estimated=True,
        )

    def _of_embedding(self, prompt: int | None, texts: list[str]) -> Used:
        counted = prompt
        if counted is None:
            counted = sum(costs.text_tokens(self.model, text) for text in texts)
        return costs.used(
            self.model, prompt=counted, completion=0, is_estimated=prompt is None, is_embedding=True
        )
