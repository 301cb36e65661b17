"""Where words stand in a passage, however an extractor spaced or composed them. Pure."""

from __future__ import annotations

import re

from corpus.normalise import matching_form, visible
from retrieval.graph.extraction.types import Spot

# Plain runs are their own matching form; other characters go with the marks that combine with them.
_MARKS = "\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f"
_PIECE = re.compile(rf"(?P<plain>[!-~]+(?![{_MARKS}]))|(?P<space>\s+)|(?P<other>.[{_MARKS}]*)", re.DOTALL)

# Scripts from here on are written without spaces between words.
_UNSPACED = 0x2E80


class Located:
    """A passage in matching form, which knows where each of its characters comes from.

    What is returned is the passage's own text: an extractor that changes case or composition points at
    the words, it does not spell them.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self.form, self._origins = _with_origins(text)
        self._folded = _folded(self.form)

    def name(self, name: str) -> Spot | None:
        """Return where `name` stands first as words of its own, whatever its case; None when nowhere."""
        wanted = _folded(matching_form(visible(name)))
        if not any(char.isalnum() for char in wanted):
            return None
        start = self._folded.find(wanted)
        while start >= 0:
            end = start + len(wanted)
            spot = self.spot(start, end) if self._stands_alone(start, end) else None
            if spot is not None:
                return spot
            start = self._folded.find(wanted, start + 1)
        return None

    def quote(self, quote: str) -> Spot | None:
        """Return where `quote` stands, case and all; None when it does not."""
        wanted = matching_form(quote)
        start = self.form.find(wanted) if wanted else -1
        return None if start < 0 else self.spot(start, start + len(wanted))

    def spot(self, start: int, end: int) -> Spot | None:
        """Return the passage's words between two offsets of its matching form.

        None when an offset lies inside one character of the passage, such as a fraction.
        """
        first, last = self._origins[start], self._origins[end]
        words = " ".join(self._text[first:last].split())
        return Spot(words, first) if matching_form(words) == self.form[start:end].strip() else None

    def _stands_alone(self, start: int, end: int) -> bool:
        return not (self._joined(start - 1, start) or self._joined(end - 1, end))

    def _joined(self, left: int, right: int) -> bool:
        """Whether the characters at two neighbouring offsets belong to one word."""
        if left < 0 or right >= len(self._folded):
            return False
        return all(
            char.isalnum() and ord(char) < _UNSPACED for char in (self._folded[left], self._folded[right])
        )


def _folded(form: str) -> str:
    """Return `form` in lower case, every character at the place it had."""
    lower = form.lower()
    return lower if len(lower) == len(form) else "".join(_lower(char) for char in form)


def _lower(char: str) -> str:
    lower = char.lower()
    return lower if len(lower) == 1 else char


def _with_origins(text: str) -> tuple[str, list[int] | range]:
    """Return the matching form of `text` and the offset in `text` of each character, and of the end."""
    form = matching_form(text)
    if form == text:
        return form, range(len(text) + 1)
    made: list[str] = []
    origins: list[int] = []
    for piece in _PIECE.finditer(text):
        start, found = piece.start(), piece[0]
        if piece.lastgroup == "plain":
            shown, places = found, range(start, piece.end())
        else:
            shown = " " if found.isspace() else matching_form(found)
            places = [start] * len(shown)  # type: ignore[assignment]
        if shown == " " and (not made or made[-1] == " "):
            continue
        made.extend(shown)
        origins.extend(places)
    if made and made[-1] == " ":
        made.pop()
        origins.pop()
    return "".join(made), [*origins, len(text.rstrip())]
