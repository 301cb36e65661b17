"""A local cross-encoder on ONNX Runtime: one score for a question and a passage read together."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np
from django.conf import settings

_LONGEST = 512  # word pieces of question and passage together


class CrossEncoderError(RuntimeError):
    """The folder holds no usable model, or a score could not be computed."""


def configured_cross_encoder() -> CrossEncoder | None:
    """Return the encoder of the settings, loaded at first use; None when none is set."""
    folder = settings.SCI_RAG_CROSS_ENCODER_DIR
    return _at(folder) if folder else None


@lru_cache(maxsize=1)
def _at(folder: str) -> CrossEncoder:
    return CrossEncoder(Path(folder))


class CrossEncoder:
    """A sequence classifier with one output, exported as `model.onnx` beside its `tokenizer.json`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._loaded: tuple[Any, Any, set[str]] | None = None

    def scores(self, question: str, passages: Sequence[str], *, seconds: float) -> list[float]:
        """Return the score of each passage between 0 and 1; raise `CrossEncoderError`.

        Passages run one by one: a text's score must not depend on its company.
        """
        session, tokenizer, names = self._ready()
        until = monotonic() + seconds
        found = []
        for passage in passages:
            if monotonic() > until:
                raise CrossEncoderError("took longer than the profile allows")
            found.append(_score(session, tokenizer.encode(question, passage), names))
        return found

    def _ready(self) -> tuple[Any, Any, set[str]]:
        if self._loaded is None:
            import onnxruntime
            from tokenizers import Tokenizer

            try:
                tokenizer = Tokenizer.from_file(str(self._folder / "tokenizer.json"))
                tokenizer.enable_truncation(_LONGEST, strategy="only_second")
                session = onnxruntime.InferenceSession(
                    str(self._folder / "model.onnx"), providers=["CPUExecutionProvider"]
                )
            except Exception as error:  # both libraries raise bare exceptions
                raise CrossEncoderError(
                    "SCI_RAG_CROSS_ENCODER_DIR holds no usable model.onnx and tokenizer.json: "
                    f"{type(error).__name__}."
                ) from error
            self._loaded = session, tokenizer, {one.name for one in session.get_inputs()}
        return self._loaded


def _score(session: Any, encoding: Any, names: set[str]) -> float:
    every = {
        "input_ids": encoding.ids,
        "attention_mask": encoding.attention_mask,
        "token_type_ids": encoding.type_ids,
    }
    given = {name: np.array([values], dtype=np.int64) for name, values in every.items() if name in names}
    try:
        logits = np.asarray(session.run(None, given)[0], dtype=np.float64).reshape(-1)
    except Exception as error:
        raise CrossEncoderError(f"the cross-encoder failed: {type(error).__name__}") from error
    if logits.size != 1 or not np.isfinite(logits).all():
        raise CrossEncoderError("the cross-encoder must give one finite score for a pair")
    return 1 / (1 + math.exp(-float(np.clip(logits[0], -500, 500))))
