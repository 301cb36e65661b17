"""Numbered sources that their licence keeps from the writing model: what it reads, and what is quoted beside.

Numbers are never given anew. The record of an answer names these sources, and every surface says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from answers import extractive
from answers.extractive import Quote
from answers.prompting import NumberedSource
from corpus.egress import Classes, classes_of
from corpus.rights import LicenseClass
from retrieval.types import Item

RECORD: Final = "withheld"
# A heading and no claim: what follows it is quoted word for word and cited.
HEADING: Final = "### Quoted from sources the model may not read"


def numbers(items: Sequence[Item], readable: Classes) -> tuple[int, ...]:
    """Return the numbers of the sources whose class is not `readable` for the model."""
    return tuple(
        number for number, item in enumerate(items, 1) if LicenseClass(item.license_class) not in readable
    )


def left(sources: Sequence[NumberedSource], kept_back: Sequence[int]) -> list[NumberedSource]:
    """Return the sources that the model reads."""
    return [source for source in sources if source.number not in kept_back]


def carried(items: Sequence[Item], sources: Sequence[NumberedSource]) -> Classes:
    """Return the licence classes of the `sources` in a prompt."""
    return classes_of(items[source.number - 1].license_class for source in sources)


def record(kept_back: Sequence[int]) -> dict[str, Any]:
    """Return what is kept of it with the answer: nothing where nothing was withheld."""
    return {RECORD: list(kept_back)} if kept_back else {}


def withheld(parameters: Mapping[str, Any]) -> tuple[int, ...]:
    """Return the numbers of the withheld sources, by the stored parameters of an answer."""
    return tuple(parameters.get(RECORD, ()))


def beside(quotes: Sequence[Quote]) -> Iterator[str]:
    """Yield the quotations of withheld sources as they follow what the model wrote; nothing for none."""
    if quotes:
        yield f"\n\n{HEADING}\n\n"
        yield from extractive.compose(quotes)
