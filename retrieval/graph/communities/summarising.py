"""What is said of a community: by a model that is held to the quotes, or by the quotes themselves."""

from __future__ import annotations

import json
import re
import secrets
from typing import Any, Final, Protocol

from corpus import carrying
from corpus.connections import release
from corpus.gateways.llm import ChatModel, ModelError, complete, fast_model
from corpus.normalise import matching_form, one_line, visible
from corpus.prompt_files import PromptFile, prompt_file, quoted
from corpus.usage.purposes import Purpose
from retrieval.graph.communities.drafting import Draft

EXTRACTIVE: Final = "extractive"

# Count up with every change of what is written.
_EXTRACTIVE_VERSION: Final = 1
_MODEL_VERSION: Final = 1

_LONGEST_EXTRACT = 1_200
_LONGEST_QUOTE = 2_000
_LENGTHS = range(40, 2_001)
_SECONDS = 60.0
_FENCE = re.compile(r"\A\s*```(?:json)?\s*\n(.*)\n\s*```\s*\Z", re.DOTALL)
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


class NotSummarised(Exception):
    """No summary came that may be used. `code` is stable and without content."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


class Summariser(Protocol):
    """Writes what is said of a community."""

    @property
    def name(self) -> str:
        """Who writes: 'extractive' or the model's name."""

    @property
    def basis(self) -> str:
        """In which way: with another one every summary is written again."""

    def write(self, draft: Draft) -> str:
        """Return the summary; raise `NotSummarised`. Holds no database connection while a model works."""


class Extractive:
    """The quotes of the strongest edges, each on a line of its own, verbatim."""

    name = EXTRACTIVE
    basis = f"{EXTRACTIVE} {_EXTRACTIVE_VERSION}"

    def write(self, draft: Draft) -> str:
        """Return the first quotes, as many as there is room for and one at least."""
        lines = [draft.quotes[0]]
        room = _LONGEST_EXTRACT - len(lines[0])
        for quote in draft.quotes[1:]:
            room -= len(quote) + 1
            if room < 0:
                break
            lines.append(quote)
        return "\n".join(lines)


class Modelled:
    """A paragraph by a language model, used when it says nothing that the quotes do not bear out."""

    def __init__(self, model: ChatModel, prompt: PromptFile) -> None:
        self._model = model
        self._prompt = prompt
        self.model_name = model.name
        self.name = model.name[:200]
        self.basis = f"model {_MODEL_VERSION} {prompt.sha256[:12]}"

    def prompt_of(self, draft: Draft) -> tuple[str, str]:
        """Return both parts of what the model is asked."""
        return self._prompt.fill(_values(draft))

    def write(self, draft: Draft) -> str:
        """Return the model's paragraph; raise `NotSummarised` for one that cannot be used."""
        system, user = self.prompt_of(draft)
        carries = carrying.of_documents(draft.documents)
        release()
        try:
            reply, _ = complete(
                self._model,
                system=system,
                user=user,
                purpose=Purpose.COMMUNITIES,
                carries=carries,
                timeout=_SECONDS,
            )
        except ModelError as error:
            raise NotSummarised(error.code) from None
        return checked(reply, draft)


def summariser(*, with_model: bool) -> Summariser:
    """Return the model of the settings when it is wanted and there is one, else the quotes themselves.

    Raises `InvalidPrompt`.
    """
    model = fast_model() if with_model else None
    return Extractive() if model is None else Modelled(model, prompt_file("community_summary"))


def checked(reply: str, draft: Draft) -> str:
    """Return the summary that `reply` holds; raise `NotSummarised`. Untrusted: it is held to the quotes.

    It has to name one of the things, which an apology does not, and no number that stands in no quote.
    """
    summary = one_line(visible(_said(reply)))
    if len(summary) not in _LENGTHS:
        raise NotSummarised("wrong_length")
    form = matching_form(summary).casefold()
    if not any(matching_form(name).casefold() in form for name in draft.names):
        raise NotSummarised("names_nothing")
    given = " ".join((*draft.quotes, *draft.names))
    if not set(_NUMBER.findall(form)) <= set(_NUMBER.findall(matching_form(given))):
        raise NotSummarised("number_not_quoted")
    return summary


def _said(reply: str) -> str:
    fenced = _FENCE.match(reply)
    try:
        value: Any = json.loads(fenced[1] if fenced else reply)
    except (ValueError, RecursionError):
        raise NotSummarised("not_json") from None
    summary = value.get("summary") if isinstance(value, dict) else None
    if not isinstance(summary, str):
        raise NotSummarised("wrong_form")
    return summary


def _values(draft: Draft) -> dict[str, str]:
    nonce = secrets.token_hex(16)
    fenced = [
        f"<quote-{nonce} number={number}>\n{quoted(quote, longest=_LONGEST_QUOTE)}\n</quote-{nonce}>"
        for number, quote in enumerate(draft.quotes, start=1)
    ]
    return {
        "nonce": nonce,
        "names": "\n".join(f"- {quoted(name, longest=300)}" for name in draft.names),
        "count": str(len(fenced)),
        "quotes": "\n\n".join(fenced),
    }
