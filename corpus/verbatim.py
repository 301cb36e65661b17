"""Taking quotations out of what somebody wrote: runs of words of a text that may not be kept. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

# So many words in a row are a quotation; fewer are how people talk. A shorter passage counts as a whole.
RUN = 8
_SHORTEST = 4
LEFT_OUT = "[…]"
_WORD = re.compile(r"\w+")


def without(texts: Mapping[str, str], passages: Iterable[str]) -> dict[str, str]:
    """Return those of `texts`, by their names, that quote one of `passages`, without the quotations."""
    spans = {
        name: [(word[0].casefold(), *word.span()) for word in _WORD.finditer(text)]
        for name, text in texts.items()
    }
    runs: dict[tuple[str, ...], set[tuple[str, int]]] = {}
    for name, words in spans.items():
        folded = [word for word, _, _ in words]
        for length in range(_SHORTEST, RUN + 1):
            for start in range(len(words) - length + 1):
                runs.setdefault(tuple(folded[start : start + length]), set()).add((name, start))
    quoted: dict[str, set[int]] = {}
    for run in _runs(passages):
        for name, start in runs.get(run, ()):
            quoted.setdefault(name, set()).update(range(start, start + len(run)))
    return {name: _left(texts[name], spans[name], places) for name, places in quoted.items()}


def _runs(passages: Iterable[str]) -> Iterator[tuple[str, ...]]:
    for passage in passages:
        words = [word[0].casefold() for word in _WORD.finditer(passage)]
        if _SHORTEST <= len(words) < RUN:
            yield tuple(words)
        for start in range(len(words) - RUN + 1):
            yield tuple(words[start : start + RUN])


def _left(text: str, words: list[tuple[str, int, int]], quoted: set[int]) -> str:
    parts, at = [], 0
    for place in sorted(quoted):
        _, start, end = words[place]
        if place - 1 not in quoted:
            parts.append(text[at:start] + LEFT_OUT)
        at = end
    return "".join(parts) + text[at:]
