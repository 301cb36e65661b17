"""Names that the field lists as names of one thing: read from text, looked up by form. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from retrieval.graph.naming import LONGEST_NAME
from retrieval.graph.resolution.spelling import form_of
from retrieval.graph.resolution.types import Method

_MOST_NAMES = 200
_MOST_PROBLEMS = 20
CONFIDENCE: Final = {Method.ONTOLOGY: 0.98, Method.THESAURUS: 0.95}


class InvalidThesaurus(ValueError):
    """A list of names that cannot be used. One line per problem, each with its place in the file."""


@dataclass(frozen=True, slots=True)
class Listing:
    """One list: on which line each form stands. `method` tells how far the list is trusted."""

    method: Method
    lines: dict[str, int]

    def line(self, form: str) -> int | None:
        """Return the line that has a name of this form."""
        return self.lines.get(form)


@dataclass(frozen=True, slots=True)
class Thesaurus:
    """Several lists, the most trusted first."""

    listings: tuple[Listing, ...] = ()

    def tells_apart(self, one: str, other: str) -> bool:
        """Whether a list has both forms on different lines, and none has them on one.

        >>> names = Thesaurus((listing(Method.THESAURUS, ["ethanol | ethyl alcohol", "methanol"]),))
        >>> names.tells_apart("ethanol", "methanol"), names.tells_apart("ethanol", "ethylalcohol")
        (True, False)
        >>> names.tells_apart("ethanol", "butanol")
        False
        """
        lines = [(listing.line(one), listing.line(other)) for listing in self.listings]
        known = [pair for pair in lines if None not in pair]
        return bool(known) and all(left != right for left, right in known)


def listing(method: Method, groups: Iterable[str]) -> Listing:
    """Return the list of `groups`, each "name | name | name"; a name that stands twice belongs to nothing."""
    lines: dict[str, int] = {}
    twice: set[str] = set()
    for number, group in enumerate(groups):
        for form in {form_of(name) for name in group.split("|")} - {""}:
            if form in lines:
                twice.add(form)
            lines[form] = number
    return Listing(method, {form: line for form, line in lines.items() if form not in twice})


def read(text: str, *, file: str) -> Listing:
    """Return the list in `text`: a line for each thing, its names between bars, comments behind #.

    Raises `InvalidThesaurus` with the line of every problem.
    """
    lines: dict[str, int] = {}
    problems: list[str] = []
    for number, line in enumerate(text.splitlines(), start=1):
        names = [name.strip() for name in line.split("|")] if line.strip() and line[:1] != "#" else []
        problems += (f"{file}, line {number}: {problem}" for problem in _add(names, number, lines))
    if problems:
        more = len(problems) - _MOST_PROBLEMS
        shown = problems[:_MOST_PROBLEMS] + ([f"... and {more} more"] if more > 0 else [])
        raise InvalidThesaurus("\n".join(shown))
    return Listing(Method.THESAURUS, lines)


def _add(names: Sequence[str], number: int, lines: dict[str, int]) -> Iterable[str]:
    if len(names) == 1:
        yield "one name alone says nothing: put the other names of the same thing behind bars (|)"
    if len(names) > _MOST_NAMES:
        yield f"more than {_MOST_NAMES} names"
    for name in names:
        form = form_of(name) if len(name) <= LONGEST_NAME else ""
        if not form:
            yield f"a name needs a letter or a digit and at most {LONGEST_NAME} characters"
        elif lines.setdefault(form, number) != number:
            yield f"'{name}' stands on line {lines[form]} already"
