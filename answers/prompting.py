"""The prompt of a model-written answer, from the orders in `domain/prompts/answer.md`. Pure.

Sources are fenced as data by a mark nobody can guess: 128 bits, new for each request. In the copy that
goes into the prompt (never in what is stored or shown) hidden characters and forged fences are taken
out, and the literature's own reference numbers become ⟦12⟧, so that every [12] of the reply is meant as
a citation of ours.
"""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass

from corpus.normalise import visible

LONGEST_SOURCE = 12_000
REFUSAL = "The sources do not answer this question"
_SLOT = re.compile(r"\{\{(nonce|orders|sources|question)\}\}")
_PARTS = re.compile(r"^===(?: orders)?$", re.MULTILINE)
_COMMENT = re.compile(r"\A<!--.*?-->\s*", re.DOTALL)
_FENCE = re.compile(r"<\s*/?\s*source\s*-[^<>\n]{0,200}>?", re.IGNORECASE)
_LONG_HEX = re.compile(r"\b[0-9a-f]{32}\b", re.IGNORECASE)
_OWN_REFERENCE = re.compile(r"\[(\s?\d{1,4}(?:\s?[-,;\u2010-\u2015\u2212]\s?\d{1,4}){0,40}\s?)\]")


class InvalidPrompt(ValueError):
    """A prompt file without the parts or slots it must have."""


@dataclass(frozen=True, slots=True)
class Template:
    """The parts of a prompt file. `sha256` names the version of the file."""

    system: str
    user: str
    orders: str
    sha256: str


@dataclass(frozen=True, slots=True)
class NumberedSource:
    """A source as the prompt shows it. `status` is empty or says what a reader must know of it."""

    number: int
    title: str
    body: str
    citation: str = ""
    section_path: tuple[str, ...] = ()
    locator: str = ""
    pages: str = ""
    status: str = ""


@dataclass(frozen=True, slots=True)
class Prompt:
    """What is sent. `sha256` is that of both texts with the nonce left out: same input, same hash."""

    system: str
    user: str
    sha256: str


def parse_template(text: str) -> Template:
    """Read a prompt file; raise `InvalidPrompt` when a part or a slot is missing."""
    parts = [part.strip() for part in _PARTS.split(_COMMENT.sub("", text))]
    if len(parts) != 3 or not all(parts):
        raise InvalidPrompt("The prompt needs three parts: system, user and orders.")
    system, user, orders = parts
    for slot in ("nonce", "sources", "question", "orders"):
        if f"{{{{{slot}}}}}" not in user:
            raise InvalidPrompt(f"The user part of the prompt lacks the slot {{{{{slot}}}}}.")
    return Template(system, user, orders, hashlib.sha256(text.encode()).hexdigest())


def build(
    template: Template, *, question: str, sources: Sequence[NumberedSource], nonce: str | None = None
) -> Prompt:
    """Return the prompt of `question` over `sources`. `nonce` is for tests."""
    nonce = nonce or secrets.token_hex(16)
    values = {
        "nonce": nonce,
        "orders": template.orders,
        "sources": "\n\n".join(_fenced(source, nonce) for source in sources),
        "question": visible(question),
    }
    system, user = (_filled(part, values) for part in (template.system, template.user))
    without_nonce = f"{system}\0{user}".replace(nonce, "")
    return Prompt(system, user, hashlib.sha256(without_nonce.encode()).hexdigest())


def _filled(part: str, values: dict[str, str]) -> str:
    # One pass: a slot's name inside a source or a question is text like any other.
    return _SLOT.sub(lambda match: values[match[1]], part)


def _fenced(source: NumberedSource, nonce: str) -> str:
    places = [" > ".join(source.section_path), source.locator, source.pages]
    place = ", ".join(dict.fromkeys(filter(None, places)))
    facts = [
        f"Title: {_line(source.title)}",
        f"Reference: {_line(source.citation)}" if source.citation else "",
        f"Place: {_line(place)}" if place else "",
        f"Status: {_line(source.status)}" if source.status else "",
    ]
    head = "\n".join(filter(None, facts))
    return f'<source-{nonce} number="{source.number}">\n{head}\n\n{_copy(source.body)}\n</source-{nonce}>'


def _line(text: str) -> str:
    return " ".join(_copy(text).split())


def _copy(text: str) -> str:
    """Return the prompt's copy of source text."""
    text = _LONG_HEX.sub("", _FENCE.sub("", visible(text)))
    text = _OWN_REFERENCE.sub(r"⟦\1⟧", text)
    return text if len(text) <= LONGEST_SOURCE else text[:LONGEST_SOURCE] + " ⟦cut here⟧"
