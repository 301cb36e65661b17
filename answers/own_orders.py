"""Whether a model's text repeats the orders it was given, in whatever spelling. Pure.

A source may ask for them, and a model that obeys would show every reader what the operator wrote for the
model alone. Letters and digits are compared, so spaces and signs between them hide nothing.
"""

from __future__ import annotations

import base64
import codecs
import unicodedata
from collections import deque
from functools import lru_cache

# So many letters in a row are no coincidence; the rules name sources and questions as answers do.
TELLING = 28
# From so many on, text waits until it is clear whether it goes on like the orders.
_SUSPICIOUS = 8


class OrdersRepeated(Exception):
    """The text has begun to repeat the orders."""


# Of the same file for every answer, and a few thousand letters in many spellings.
@lru_cache(maxsize=4)
def _compared(orders: str, agreed: tuple[str, ...]) -> tuple[str, frozenset[str]]:
    """Return the letters that a text is held against, and how any few of them begin."""
    for phrase in agreed:
        orders = orders.replace(phrase, "\n\0\n")
    letters = "\0".join(_spellings(orders))
    return letters, frozenset(
        letters[place : place + _SUSPICIOUS] for place in range(len(letters) - _SUSPICIOUS + 1)
    )


class Watch:
    """Lets a text through as it is written, up to where it repeats `orders`.

    `agreed` are phrases of the orders that an answer is asked to use.
    """

    def __init__(self, orders: str, *, agreed: tuple[str, ...] = ()) -> None:
        self._orders, self._beginnings = _compared(orders, agreed)
        self._letters: deque[str] = deque(maxlen=TELLING)
        self._places: deque[int] = deque(maxlen=TELLING)
        self._alike = 0
        self._read = self._shown = 0
        self._waiting = ""

    def through(self, piece: str) -> str:
        """Return what may be shown now that `piece` has come; raise `OrdersRepeated`."""
        for char in piece:
            for letter in _letters(char):
                self._letters.append(letter)
                self._places.append(self._read)
                self._alike = self._as_alike()
                if self._alike >= TELLING:
                    raise OrdersRepeated
            self._read += 1
        self._waiting += piece
        until = self._places[-self._alike] if self._alike >= _SUSPICIOUS else self._read
        free = max(until - self._shown, 0)
        shown, self._waiting = self._waiting[:free], self._waiting[free:]
        self._shown += len(shown)
        return shown

    def rest(self) -> str:
        """Return what waited, now that the text has ended."""
        waited, self._waiting = self._waiting, ""
        return waited

    def _as_alike(self) -> int:
        """Return how many letters at the end stand in the orders like that; 0 for a few."""
        tail = "".join(self._letters)
        if tail[-_SUSPICIOUS:] not in self._beginnings:
            return 0
        alike = min(max(self._alike + 1, _SUSPICIOUS), len(tail))
        while alike > _SUSPICIOUS and tail[-alike:] not in self._orders:
            alike -= 1
        return alike


def _spellings(orders: str) -> list[str]:
    """Return the letters of the orders as they are, backwards, and as encodings make others of them."""
    plain = [_letters(part) for part in orders.split("\0")]
    data = orders.encode()
    encoded = [base64.b64encode(data[skipped:]).decode() for skipped in range(3)]
    encoded += [data.hex(), codecs.encode(orders, "rot13")]
    return [*plain, *(part[::-1] for part in plain), *map(_letters, encoded)]


def _letters(text: str) -> str:
    return "".join(char for char in unicodedata.normalize("NFKC", text).casefold() if char.isalnum())
