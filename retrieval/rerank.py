"""Order the best passages once more by reading them with the question; off unless the profile says so."""

from __future__ import annotations

import json
import secrets
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol

from corpus.domain_profile import RerankerProfile
from corpus.egress import EVERY_CLASS, Classes
from corpus.gateways.cross_encoder import CrossEncoder, CrossEncoderError, configured_cross_encoder
from corpus.gateways.llm import ChatModel, ModelError, complete, fast_model
from corpus.normalise import visible
from corpus.prompt_files import prompt_file, quoted
from corpus.usage.purposes import Purpose

_LONGEST_PASSAGE = 4_000
_BEST_GRADE = 10
# A reranker that hangs is not waited for; its thread ends with its own timeout.
_threads = ThreadPoolExecutor(4, thread_name_prefix="rerank")


class RerankFailed(RuntimeError):
    """The reranker gave no usable grades; the fused order stands. The message holds no text of anyone."""


class RerankerOff(RuntimeError):
    """The profile asks for a reranker that is not configured here."""


class Reranker(Protocol):
    """Grades passages against a question."""

    @property
    def name(self) -> str: ...

    def readable(self) -> Classes:
        """Return the licence classes whose passages it may read."""

    def grades(
        self, question: str, passages: Sequence[str], *, carries: Classes, seconds: float
    ) -> list[float]:
        """Return one finite number for each passage, higher for better; raise `RerankFailed`.

        `carries` are the licence classes of the passages.
        """


def reranker_of(profile: RerankerProfile, kind: str | None = None) -> Reranker | None:
    """Return the reranker that `kind` names, else the profile's; None for none. Raises `RerankerOff`."""
    wanted = kind or profile.kind
    if wanted == "model":
        model = fast_model()
        if model is None:
            raise RerankerOff("no language model is configured")
        return ModelReranker(model)
    if wanted == "cross_encoder":
        encoder = configured_cross_encoder()
        if encoder is None:
            raise RerankerOff("no cross-encoder is configured")
        return CrossEncoderReranker(encoder)
    return None


class ModelReranker:
    """A language model that grades all passages in one reply of JSON."""

    name = "model"

    def __init__(self, model: ChatModel) -> None:
        self._model = model

    def readable(self) -> Classes:
        """Return the licence classes that may be sent to the model."""
        return self._model.readable(Purpose.RERANKING)

    def grades(
        self, question: str, passages: Sequence[str], *, carries: Classes, seconds: float
    ) -> list[float]:
        """Return the model's grades; anything but as many whole numbers from 0 to 10 is a failure."""
        nonce = secrets.token_hex(16)
        fenced = [
            f"<passage-{nonce} number={number}>\n{quoted(text, longest=_LONGEST_PASSAGE)}\n</passage-{nonce}>"
            for number, text in enumerate(passages, start=1)
        ]
        system, user = prompt_file("rerank").fill(
            {
                "nonce": nonce,
                "count": str(len(passages)),
                "passages": "\n\n".join(fenced),
                "question": visible(question),
            }
        )
        try:
            reply, _ = complete(
                self._model,
                system=system,
                user=user,
                purpose=Purpose.RERANKING,
                carries=carries,
                timeout=seconds,
            )
        except ModelError as error:
            raise RerankFailed(str(error)) from None
        return _read(reply, count=len(passages))


class CrossEncoderReranker:
    """A local model that reads question and passage as one text."""

    name = "cross_encoder"

    def __init__(self, encoder: CrossEncoder) -> None:
        self._encoder = encoder

    def readable(self) -> Classes:
        """Return every class: nothing leaves this machine."""
        return EVERY_CLASS

    def grades(
        self, question: str, passages: Sequence[str], *, carries: Classes, seconds: float
    ) -> list[float]:
        """Return the encoder's scores; what takes longer than `seconds` is a failure."""
        work = _threads.submit(self._encoder.scores, question, passages, seconds=seconds)
        try:
            return work.result(timeout=seconds)
        except TimeoutError:
            raise RerankFailed("took longer than the profile allows") from None
        except CrossEncoderError as error:
            raise RerankFailed(str(error)) from None


def _read(reply: str, *, count: int) -> list[float]:
    try:
        value = json.loads(reply)
    except (ValueError, RecursionError):
        raise RerankFailed("the reply is not JSON") from None
    grades = value.get("grades") if isinstance(value, dict) else None
    if not isinstance(grades, list) or len(grades) != count:
        raise RerankFailed(f"the reply has not {count} grades")
    if not all(type(grade) is int and 0 <= grade <= _BEST_GRADE for grade in grades):
        raise RerankFailed(f"a grade is not a whole number from 0 to {_BEST_GRADE}")
    return [grade / _BEST_GRADE for grade in grades]
