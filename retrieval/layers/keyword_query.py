"""What a question asks of full text: its terms, and the phrases it insists on. Pure."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

from corpus.search_text import normalise
from retrieval.request import MAX_QUESTION

MAX_TERMS = 64

_UNIT = re.compile(r'"([^"]*)"|([^\s"]+)')
_QUOTES = str.maketrans("\u201c\u201d\u201e\u00ab\u00bb", '"""""')


@dataclass(frozen=True, slots=True)
class KeywordQuery:
    """`terms` are normalised words and codes with how often the question has them, in its order.

    `required` is safe input for `websearch_to_tsquery`: the quoted phrases, and what an OR offers in
    place of one. It is empty when nothing was quoted, since a plain question ranks and does not filter.
    """

    terms: tuple[tuple[str, int], ...]
    required: str


def parse(question: str) -> KeywordQuery:
    """Read `question`, of which at most 2,000 characters and 64 different terms count."""
    units = [
        (phrase is not None, phrase if phrase is not None else bare)
        for phrase, bare in (
            (match.group(1), match.group(2) or "")
            for match in _UNIT.finditer(question[:MAX_QUESTION].translate(_QUOTES))
        )
    ]
    plain = " ".join(text for is_phrase, text in units if is_phrase or text != "OR")
    normal = normalise(plain)
    counted = Counter([word.text for word in normal.words if not word.in_code])
    counted.update(normal.codes)
    return KeywordQuery(tuple(counted.items())[:MAX_TERMS], _required(units))


def _required(units: list[tuple[bool, str]]) -> str:
    # One word in quotes is more often irony than a demand.
    units = [(is_phrase and " " in normalise(text).phrase(), text) for is_phrase, text in units]
    if not any(is_phrase for is_phrase, _ in units):
        return ""
    parts: list[str] = []
    for place, (is_phrase, text) in enumerate(units):
        beside_or = (False, "OR") in units[max(0, place - 1) : place] + units[place + 1 : place + 2]
        if (is_phrase or beside_or) and (words := normalise(text).phrase()):
            parts.append(f'"{words}"')
        elif text == "OR" and parts and parts[-1] != "or":
            parts.append("or")
    return " ".join(parts[:-1] if parts and parts[-1] == "or" else parts)
