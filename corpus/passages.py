"""Passages side by side: what each repeats of its neighbour is shown once."""

from __future__ import annotations

from collections.abc import Sequence

# Shorter agreements are chance, not the chunker's overlap.
SHORTEST_OVERLAP = 24


def overlap(earlier: str, later: str) -> int:
    """Return how many characters at the end of `earlier` stand again at the start of `later`.

    Takes time proportional to both lengths: the prefix function of Knuth, Morris and Pratt.
    """
    reach = min(len(earlier), len(later))
    text = [*later[:reach], None, *earlier[len(earlier) - reach :]]
    border = [0] * len(text)
    for index in range(1, len(text)):
        length = border[index - 1]
        while length and text[index] != text[length]:
            length = border[length - 1]
        border[index] = length + (text[index] == text[length])
    return border[-1] if text and border[-1] >= SHORTEST_OVERLAP else 0


def joined(bodies: Sequence[str], paths: Sequence[tuple[str, ...]], *, keep: int | None = None) -> list[str]:
    """Return the bodies without repetition inside a section; the one at `keep` stays whole.

    What two passages share stays with the earlier one, except before the kept passage, where the
    kept one has it.
    """
    texts = list(bodies)
    for later in range(1, len(bodies)):
        if paths[later] != paths[later - 1]:
            continue
        shared = overlap(bodies[later - 1], bodies[later])
        if later == keep:
            texts[later - 1] = texts[later - 1][: max(len(texts[later - 1]) - shared, 0)].rstrip()
        else:
            texts[later] = texts[later][shared:].lstrip()
    return texts
