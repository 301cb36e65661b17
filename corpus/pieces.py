"""The smallest parts a paragraph is cut into: sentences, lines of code, and runs of what is longer. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from corpus.normalise import letter_count
from corpus.parsing.blocks import Block, BlockKind
from corpus.sentences import sentence_spans

# Returns how many tokens a text has. Counts of parts cut at white space must add up.
TokenCounter = Callable[[str], int]

_WORDS = re.compile(r"\s*\S+")
_MARKED = re.compile(
    r"\s*(?:[-*+\u2022\u2023\u25aa\u25cf\u2013\u2014]|\(?[\divxlcIVXLC]{1,5}[.)]|\(?[A-Za-z][.)])\s"
)


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a block that is never cut further. `joint` is what stands before it inside a passage.

    `start` and `end` count the letters of the block before it and up to its end.
    """

    text: str
    joint: str
    tokens: int
    position: int
    is_whole: bool = True
    start: int = 0
    end: int = 0

    @property
    def size(self) -> int:
        """Bytes it takes in a passage."""
        return len(self.joint.encode()) + len(self.text.encode())


def pieces_of(
    block: Block, position: int, count: TokenCounter, *, max_tokens: int, max_bytes: int
) -> list[Piece]:
    """Return the pieces of a block of text, none longer than `max_tokens` or `max_bytes`."""
    found: list[Piece] = []
    for joint, text in _parts(block):
        tokens = count(text)
        if tokens <= max_tokens and len(joint.encode()) + len(text.encode()) <= max_bytes:
            found.append(Piece(text, joint, tokens, position))
        else:
            # Two bytes are left for the joint that comes before the first run.
            runs = runs_of(text, count, max_tokens=max_tokens, max_bytes=max_bytes - 2)
            found += [
                Piece(run, joint[:2] if index == 0 else space, count(run), position, is_whole=False)
                for index, (space, run) in enumerate(runs)
            ]
    return list(_placed(found)) if block.boxes else found


def _placed(pieces: Sequence[Piece]) -> Iterator[Piece]:
    end = 0
    for piece in pieces:
        start, end = end, end + letter_count(piece.text)
        yield replace(piece, start=start, end=end)


def runs_of(text: str, count: TokenCounter, *, max_tokens: int, max_bytes: int) -> list[tuple[str, str]]:
    """Cut `text` between words into runs within both bounds; return what stood before each, and the run.

    A word that is too long by itself is cut between characters.
    """
    runs: list[tuple[str, str]] = []
    start = end = tokens = size = 0
    for match_start, match_end in _words(text, count, max_tokens, max_bytes):
        word_tokens = count(text[match_start:match_end])
        word_size = len(text[match_start:match_end].encode())
        if end > start and (tokens + word_tokens > max_tokens or size + word_size > max_bytes):
            runs.append(_run(text, start, end))
            start, tokens, size = match_start, 0, 0
        end = match_end
        tokens += word_tokens
        size += word_size
    if end > start:
        runs.append(_run(text, start, end))
    return runs


def _run(text: str, start: int, end: int) -> tuple[str, str]:
    run = text[start:end]
    stripped = run.lstrip()
    return (run[:1] if len(stripped) < len(run) else ""), stripped


def _words(text: str, count: TokenCounter, max_tokens: int, max_bytes: int) -> Iterator[tuple[int, int]]:
    """Yield the spans of words with the space before them, over-long ones halved until they fit."""
    for match in _WORDS.finditer(text):
        waiting = [match.span()]
        while waiting:
            start, end = waiting.pop()
            word = text[start:end]
            fits = count(word) <= max_tokens and len(word.encode()) <= max_bytes
            if fits or end - start < 2:
                yield start, end
            else:
                middle = (start + end) // 2
                waiting += [(middle, end), (start, middle)]


def _parts(block: Block) -> Iterator[tuple[str, str]]:
    """Yield the sentences or lines of a block, each with what separates it from the text before."""
    if block.kind is BlockKind.CODE:
        for index, line in enumerate(block.text.strip("\n").split("\n")):
            yield ("\n" if index else "\n\n"), line
        return
    if block.kind is BlockKind.EQUATION:
        yield "\n\n", block.text.strip()
        return
    is_item = block.kind is BlockKind.LIST_ITEM
    text = block.text
    if is_item and not _MARKED.match(text):
        text = "- " + text.lstrip()
    end = 0
    for start, stop in sentence_spans(text):
        yield (text[end:start] if end else ("\n" if is_item else "\n\n")), text[start:stop]
        end = stop
