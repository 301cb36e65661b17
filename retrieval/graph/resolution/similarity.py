"""How alike two names are spelled. Pure."""

from __future__ import annotations


def distance(one: str, other: str) -> int:
    """Return the Levenshtein distance: insertions, deletions and replacements of a letter.

    By bits, a column of the table in one number, after Myers (1999) in the form of Hyyrö (2003).

    >>> distance("biogas", "biogass"), distance("kitten", "sitting"), distance("", "abc")
    (1, 3, 3)
    """
    if not one or not other:
        return len(one) + len(other)
    places: dict[str, int] = {}
    for place, letter in enumerate(one):
        places[letter] = places.get(letter, 0) | 1 << place
    full, last = (1 << len(one)) - 1, 1 << (len(one) - 1)
    up, down, score = full, 0, len(one)
    for letter in other:
        match = places.get(letter, 0)
        diagonal = (((match & up) + up) ^ up) | match | down
        rising, falling = down | ~(diagonal | up), up & diagonal
        score += bool(rising & last) - bool(falling & last)
        rising = rising << 1 | 1
        up, down = (falling << 1 | ~(diagonal | rising)) & full, rising & diagonal & full
    return score


def likeness(one: str, other: str) -> float:
    """Return 1 for the same word, 0 for one that shares nothing: the distance as a share of the longer word.

    >>> likeness("pyrolysis", "pyrolysys")
    0.8888888888888888
    """
    longest = max(len(one), len(other))
    return 1.0 - distance(one, other) / longest if longest else 1.0
