"""Finding words that are spelled alike without comparing all with all. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from itertools import pairwise
from typing import Final

from retrieval.graph.resolution.similarity import likeness

SHORTEST: Final = 5


def alike(words: Iterable[str], *, least: float) -> Iterator[tuple[str, str, float]]:
    """Yield pairs of words whose likeness is at least `least`, each pair once, in order.

    Words begin with the same letter and have `SHORTEST` letters or more. A word is cut into one piece more
    than it may have differences: one piece at least is whole in the other word, near where it was
    (Li, Deng, Wang and Feng, 2011). Nothing is missed.

    >>> list(alike(["digester", "digesters", "digestor", "biogas"], least=0.8))
    [('digester', 'digestor', 0.875), ('digester', 'digesters', 0.8888888888888888)]
    """
    held: dict[tuple[str, int, int, str], list[str]] = defaultdict(list)
    # Shorter ones first: each word looks for those that are there already.
    for word in sorted({word for word in words if len(word) >= SHORTEST}, key=lambda word: (len(word), word)):
        found = {other for place in _looked_for(word, least) for other in held.get(place, ())}
        for other in sorted(found):
            if _may_be_alike(word, other, least) and (score := likeness(word, other)) >= least:
                yield *sorted((word, other)), score  # type: ignore[misc]
        for number, (start, end) in enumerate(_pieces(len(word), least)):
            held[word[0], len(word), number, word[start:end]].append(word)


def _may_be_alike(word: str, other: str, least: float) -> bool:
    """Whether few enough pairs of letters are in one word alone; cheap, and never wrong about a no."""
    # A difference breaks two pairs in each word.
    return (_letters(word) ^ _letters(other)).bit_count() <= 4 * int(len(word) * (1 - least) + 1e-9)


@lru_cache(maxsize=100_000)
def _letters(word: str) -> int:
    mask = 0
    for left, right in pairwise(word):
        mask |= 1 << (ord(left) * 31 + ord(right)) % 251
    return mask


def _most_differences(length: int, least: float) -> int:
    """Return how far a word of `length` may be from an equally long or longer one."""
    longest = int(length / least + 1e-9)
    return int(longest * (1 - least) + 1e-9)


@cache
def _pieces(length: int, least: float) -> list[tuple[int, int]]:
    count = min(_most_differences(length, least) + 1, length)
    cuts = [length * number // count for number in range(count + 1)]
    return list(pairwise(cuts))


@cache
def _places(size: int, least: float) -> list[tuple[int, int, int, int]]:
    """Return where a word of `size` has to be cut to meet shorter ones: length, piece, start, end.

    A piece that is whole in both words has as few differences before it as there are pieces before it, or
    as few behind it as there are behind: it cannot have moved farther.
    """
    places = []
    for length in range(max(SHORTEST, -int(-size * least + 1e-9)), size + 1):
        pieces = _pieces(length, least)
        longer = size - length
        for number, (start, end) in enumerate(pieces):
            behind = len(pieces) - 1 - number
            low = max(0, start - number, start + longer - behind)
            high = min(size - (end - start), start + number, start + longer + behind)
            places += [(length, number, place, place + end - start) for place in range(low, high + 1)]
    return places


def _looked_for(word: str, least: float) -> Iterator[tuple[str, int, int, str]]:
    """Yield where words that `word` may be like are held: by length, and by a piece of it."""
    for length, number, start, end in _places(len(word), least):
        yield word[0], length, number, word[start:end]


def is_slip(one: str, other: str) -> bool:
    """Whether two words differ as a slip of the pen makes them: a letter doubled or two letters swapped.

    >>> is_slip("accommodation", "acommodation"), is_slip("fermenation", "fermentation")
    (True, False)
    >>> is_slip("lignocellulose", "lignocelluloes"), is_slip("hematotoxicity", "hepatotoxicity")
    (True, False)
    """
    if _undoubled(one) == _undoubled(other):
        return True
    places = [place for place, (left, right) in enumerate(zip(one, other, strict=False)) if left != right]
    if len(one) != len(other) or len(places) != 2 or places[1] != places[0] + 1:
        return False
    first, second = places
    return one[first] == other[second] and one[second] == other[first]


def _undoubled(word: str) -> str:
    return "".join(letter for place, letter in enumerate(word) if place == 0 or word[place - 1] != letter)
