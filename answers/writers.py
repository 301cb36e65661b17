"""Who writes an answer: the configured language model, or the extractive engine that needs none."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import closing
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import structlog
from django.conf import settings
from numpy.typing import NDArray

from answers import citations, condensing, evidence, extractive, own_orders, prompting, withholding
from answers.condensing import Condensed
from answers.models import EXTRACTIVE, MODEL, Answer
from corpus import connections, vectors
from corpus.egress import Classes, classes_of
from corpus.gateways.embedding import EmbeddingError, count_tokens, embed_query
from corpus.gateways.llm import DEADLINE_SECONDS, ChatModel, ModelError, Usage, chat_model
from corpus.normalise import visible
from corpus.usage import accounts
from corpus.usage.accounts import Account
from corpus.usage.purposes import Purpose
from retrieval.types import Item

logger = structlog.get_logger(__name__)

NOT_COVERED_TEXT = (
    "The passages found do not answer this question. The nearest ones are listed below; "
    "other words or a wider scope may find more."
)


class EngineUnavailable(ValueError):
    """An engine was asked for that does not exist or is not configured."""


class Draft(Protocol):
    """One answer about to be written. Everything but `pieces` is known before the first word."""

    engine: str
    model: str
    parameters: dict[str, Any]
    prompt_sha256: str

    def pieces(self) -> Generator[str | Usage, None, None]:
        """Yield the text as it is written, perhaps the usage; raise `ModelError`."""

    def finish(self, text: str) -> Answer.Finish:
        """Say how the complete `text` ends: an answer, a refusal, or a text that names no source."""


def choose(engine: str | None) -> str:
    """Return the engine to use: the one asked for, else the model when one is configured.

    Raises `EngineUnavailable` with a message for the asker.
    """
    if engine is None:
        return MODEL if settings.SCI_RAG_LLM_MODEL else EXTRACTIVE
    if engine not in {MODEL, EXTRACTIVE}:
        raise EngineUnavailable(f"There is no engine '{engine}'. Use {MODEL} or {EXTRACTIVE}.")
    if engine == MODEL and not settings.SCI_RAG_LLM_MODEL:
        raise EngineUnavailable("No language model is configured. Set SCI_RAG_LLM_MODEL to use one.")
    return engine


def model_name(engine: str) -> str:
    """Return the name of the model an engine writes with; empty for the extractive one."""
    return settings.SCI_RAG_LLM_MODEL if engine == MODEL else ""


def draft(engine: str, *, question: str, items: Sequence[Item], condensed: Condensed | None = None) -> Draft:
    """Prepare the answer of `question` from `items`, which are numbered from 1 in their order.

    A model reads them as `condensed` has them; everything else is held against the passages themselves.
    What its licence keeps from the model is quoted beside what that writes, or alone where nothing is left.
    """
    model = chat_model() if engine == MODEL else None
    if model is None:
        return ExtractiveDraft(question, items)
    kept_back = withholding.numbers(items, model.readable(Purpose.ANSWER))
    if len(kept_back) == len(items):
        return ExtractiveDraft(question, items, kept_back)
    return ModelDraft(model, question, items, condensed, kept_back)


class ModelDraft:
    """An answer that a language model writes from the numbered sources."""

    engine = MODEL

    def __init__(
        self,
        model: ChatModel,
        question: str,
        items: Sequence[Item],
        condensed: Condensed | None = None,
        kept_back: tuple[int, ...] = (),
    ) -> None:
        orders = template()
        sources = withholding.left(evidence.for_prompt(items, condensed), kept_back)
        self._prompt = prompting.build(orders, question=question, sources=sources)
        self._chat = model
        self._account = accounts.current()
        self._bodies = [item.body for item in items]
        self._carries = withholding.carried(items, sources)
        self._quoted = _Quoted(question, items, kept_back) if kept_back else None
        self._has_quotes = False
        self.model = model.name
        self.parameters = {
            **model.parameters,
            "orders_sha256": orders.sha256,
            **withholding.record(kept_back),
        }
        if condensed is not None:
            unread = withholding.left(evidence.for_prompt(items), kept_back)
            whole = prompting.build(orders, question=question, sources=unread)
            self.parameters[condensing.RECORD] = condensed.record(
                before=_tokens(whole), after=_tokens(self._prompt)
            )
        self.prompt_sha256 = self._prompt.sha256

    def pieces(self) -> Generator[str | Usage, None, None]:
        """Yield the model's text without characters that no store or page should carry, then the usage.

        Quotations of sources that it may not read come last. A text that begins to repeat the orders is no
        answer from there on.
        """
        watch = own_orders.Watch(self._prompt.system, agreed=(prompting.REFUSAL,))
        with accounts.held(self._account):
            written = self._chat.stream(
                system=self._prompt.system,
                user=self._prompt.user,
                purpose=Purpose.ANSWER,
                carries=self._carries,
                timeout=DEADLINE_SECONDS,
            )
        with closing(written) as stream:
            for piece in stream:
                if isinstance(piece, Usage):
                    yield piece
                elif clean := _let_through(watch, visible(piece)):
                    yield clean
        if waited := watch.rest():
            yield waited
        if self._quoted is not None:
            quotes = self._quoted.extraction(self._account).quotes
            self._has_quotes = bool(quotes)
            yield from withholding.beside(quotes)

    def finish(self, text: str) -> Answer.Finish:
        """Return `not_covered` for the agreed refusal and `uncited` for a text that names no source.

        What is quoted beside the model's text is an answer, whatever that says.
        """
        if self._has_quotes:
            return Answer.Finish.STOP
        if text.lstrip(' \n*_“"').startswith(prompting.REFUSAL):
            return Answer.Finish.NOT_COVERED
        cited = citations.cited_numbers(citations.find(text, self._bodies))
        return Answer.Finish.STOP if cited else Answer.Finish.UNCITED


def _let_through(watch: own_orders.Watch, piece: str) -> str:
    try:
        return watch.through(piece)
    except own_orders.OrdersRepeated:
        logger.warning("answer.repeats_orders")
        raise ModelError("garbage") from None


class ExtractiveDraft:
    """An answer of verbatim quotations."""

    engine = EXTRACTIVE
    model = ""
    prompt_sha256 = ""

    def __init__(self, question: str, items: Sequence[Item], kept_back: tuple[int, ...] = ()) -> None:
        self._quoted = _Quoted(question, items, tuple(range(1, len(items) + 1)))
        self._account = accounts.current()
        self._refused = False
        self.parameters: dict[str, Any] = {
            "threshold": extractive.THRESHOLD,
            "weights": dict(extractive.WEIGHTS),
            **withholding.record(kept_back),
        }

    def pieces(self) -> Generator[str | Usage, None, None]:
        """Yield one quotation after another, or the refusal."""
        found = self._quoted.extraction(self._account)
        self.parameters["confidence"] = round(found.confidence, 4)
        self._refused = not found.quotes
        yield from extractive.compose(found.quotes) if found.quotes else [NOT_COVERED_TEXT]

    def finish(self, text: str) -> Answer.Finish:
        """Return `not_covered` when nothing was worth quoting."""
        return Answer.Finish.NOT_COVERED if self._refused else Answer.Finish.STOP


class _Quoted:
    """Numbered sources to be quoted from."""

    def __init__(self, question: str, items: Sequence[Item], numbers: tuple[int, ...]) -> None:
        self._question = question
        self._sources = [source for source in evidence.for_quoting(items) if source.number in numbers]
        self._carries = classes_of(items[number - 1].license_class for number in numbers)

    def extraction(self, account: Account) -> extractive.Extraction:
        """Return the quotations, by words alone where vectors cannot be had."""
        connections.release()
        try:
            with accounts.held(account):
                embed = partial(_vectors, carries=self._carries)
                return extractive.extract(self._question, self._sources, embed=embed)
        except EmbeddingError:
            logger.warning("answer.words_only")
            return extractive.extract(self._question, self._sources, embed=None)


def _vectors(texts: Sequence[str], *, carries: Classes) -> NDArray[np.float32]:
    question, *others = texts
    embedder = vectors.active_embedder()
    connections.release()
    query = embed_query(question, embedder=embedder)
    return np.vstack([query, embedder.embed(others, task="document", carries=carries)])


def _tokens(prompt: prompting.Prompt) -> int:
    """Return the prompt's length in the word pieces passages are measured in; the provider counts its own."""
    return count_tokens(prompt.system) + count_tokens(prompt.user)


def template() -> prompting.Template:
    """Return the prompt of an answer, read again when its file has changed."""
    path = settings.DOMAIN_DIR / "prompts" / "answer.md"
    return _read(path, path.stat().st_mtime_ns)


@lru_cache(maxsize=4)
def _read(path: Path, _changed: int) -> prompting.Template:
    return prompting.parse_template(path.read_text(encoding="utf-8"))
