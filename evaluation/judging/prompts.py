"""What a judge is asked. What is not a parameter here cannot reach it.

The pass against the sources takes no reference, the pass against the reference takes no sources, and
neither takes anything that tells how the answer came about.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass

from corpus.prompt_files import prompt_file, quoted

GROUNDING_FILE = "judge_grounding"
CORRECTNESS_FILE = "judge_correctness"
_LONGEST_SOURCE = 12_000
_LONGEST_TEXT = 20_000
_LONGEST_LINE = 300


@dataclass(frozen=True, slots=True)
class Source:
    """A numbered source as a judge reads it."""

    number: int
    title: str
    place: str
    body: str
    license_class: str


@dataclass(frozen=True, slots=True)
class Asked:
    """Both parts of a request to a judge, and the hash of the file they were made from."""

    system: str
    user: str
    sha256: str


def grounding(*, question: str, answer: str, sources: Sequence[Source]) -> Asked:
    """Return the request to hold an answer against its sources."""
    nonce = secrets.token_hex(16)
    values = {
        "nonce": nonce,
        "count": _count(len(sources)),
        "sources": "\n\n".join(_fenced(source, nonce) for source in sources),
        "question": _text(question),
        "answer": _text(answer),
    }
    return _filled(GROUNDING_FILE, values)


def correctness(*, question: str, answer: str, reference: str) -> Asked:
    """Return the request to hold an answer against the reference."""
    values = {
        "nonce": secrets.token_hex(16),
        "question": _text(question),
        "reference": _text(reference),
        "answer": _text(answer),
    }
    return _filled(CORRECTNESS_FILE, values)


def _filled(name: str, values: dict[str, str]) -> Asked:
    prompt = prompt_file(name)
    system, user = prompt.fill(values)
    return Asked(system, user, prompt.sha256)


def _count(number: int) -> str:
    if number == 0:
        return "No source was found for the question."
    return f"The numbered sources that were found for the question, {number} in all:"


def _fenced(source: Source, nonce: str) -> str:
    head = [f"Title: {_line(source.title)}", f"Place: {_line(source.place)}" if source.place else ""]
    return (
        f'<source-{nonce} number="{source.number}">\n'
        + "\n".join(filter(None, head))
        + f"\n\n{quoted(source.body, longest=_LONGEST_SOURCE)}\n</source-{nonce}>"
    )


def _line(text: str) -> str:
    return " ".join(quoted(text, longest=_LONGEST_LINE).split())


def _text(text: str) -> str:
    return quoted(text, longest=_LONGEST_TEXT)
