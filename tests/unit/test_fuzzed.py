"""Twenty thousand random texts, half of them in the grammar of what reads them, through each part that reads
what strangers wrote: nothing fails, nothing takes long, and what comes out keeps its promise.

Hypothesis varies and shrinks them; a run is `long`. A sample of forty runs with every test.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from answers.citations import cited_numbers, find, quotations, without_code
from corpus import manifest
from corpus.chunking import ChunkingLimits, chunk
from corpus.normalise import clean, compose_accents, letter_count, matching_form, one_line, rejoin, visible
from corpus.parsing.blocks import Block, BlockKind
from retrieval.layers.keyword_query import MAX_TERMS, parse
from retrieval.request import MAX_QUESTION, InvalidRequest, checked_question

MANY, FEW = 20_000, 40
# Of a text of at most a few thousand letters, on a machine that does other things too.
MOST_SECONDS = 2.0

ANY = st.text(st.characters(), max_size=400)
_ODD = "\0\x0b\x1b\u00ad\u200b\u200d\u202e\u0301\u00b4`\u2010-\n\r\t \ufb01\ufdfa\ud800\U000e0041"
_SIGNS = st.sampled_from(list(_ODD))
_LETTERS = st.sampled_from(["a", "straw", "é", "\u7a3b", "\u0642", "ß", "I", "\u0130", "10", "2.5"])


def _written(*signs: str) -> st.SearchStrategy[str]:
    """Return texts made of these signs, of odd characters and of words."""
    return st.lists(st.sampled_from(signs) | _SIGNS | _LETTERS, max_size=80).map("".join)


_MARKS = ("[1]", "[2, 3]", "[9", "]", "``", "```\n", "~~~\n", "\u201c", "\u201d", '"', "[1]\u2013[3]", "(1)")
MARKED = ANY | _written(*_MARKS, "\uff3b1\uff3d")
ASKED = ANY | _written('"', "OR ", "-", "AND ", "(", ")", ":", "*", "|", "&", "<->", "\\", "'")
TYPESET = ANY | _written("-\n", "fi-\n", "\u00b4 e", "` a", "\u02c7", "\f", "\u2028", "\ufeff", "\u0301" * 40)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | ANY,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(ANY, inner, max_size=4),
    max_leaves=8,
)
KEYS = st.sampled_from([*manifest.FIELDS, "path", "source", "x", ""])
# As a sender writes it, and as whoever sends it has damaged it.
_DAMAGED = _written("{", "}", '"path": ', '"a.txt"', ",", "[", "#")
LINES = ANY | st.dictionaries(KEYS, VALUES, max_size=6).map(json.dumps) | _DAMAGED
MANIFESTS = st.lists(LINES, max_size=6).map("\n".join)
# Parsers clean what they read.
CLEAN = TYPESET.map(clean)
BLOCKS = st.lists(
    st.builds(
        Block,
        st.sampled_from(list(BlockKind)),
        CLEAN,
        level=st.integers(1, 9),
        page=st.none() | st.integers(1, 5),
        rows=st.lists(st.lists(CLEAN, max_size=4).map(tuple), max_size=6).map(tuple),
        header_rows=st.integers(0, 3),
    ),
    max_size=10,
)
LIMITS = ChunkingLimits(chunk_tokens=40, overlap_tokens=12, table_tokens=60, max_bytes=2_000)
SOURCES = ["Straw gave 230 litres.", "Silage gave more than straw did in every year.", "\u7a3b"]


def normaliser(text: str) -> None:
    cleaned = clean(text)
    assert clean(cleaned) == cleaned
    cleaned.encode()
    assert "\0" not in cleaned
    assert "\n" not in one_line(text)
    assert matching_form(matching_form(text)) == matching_form(text)
    assert letter_count(text) >= 0
    rejoin(cleaned)
    compose_accents(cleaned)
    visible(text).encode()


def chunker(blocks: list[Block]) -> None:
    passages = chunk(blocks, title="A title", count_tokens=lambda text: len(text.split()), limits=LIMITS)
    assert [passage.ordinal for passage in passages] == list(range(len(passages)))
    assert all(passage.body.strip() for passage in passages)


def manifests(text: str) -> None:
    read = manifest.read_text(text, {})
    # None of the files it names has come with it.
    assert read.entries == []
    assert all(problem.message and "\n" not in problem.message for problem in read.problems)
    assert all(problem.line >= 0 for problem in read.problems)


def citations(text: str) -> None:
    found = find(text, SOURCES)
    assert all(0 <= one.start < one.end <= len(text) for one in found)
    assert set(cited_numbers(found)) <= {1, 2, 3}
    assert len(without_code(text)) == len(text)
    quotations(text, SOURCES)


def questions(text: str) -> None:
    try:
        question = checked_question(text)
    except InvalidRequest:
        return
    assert 0 < len(question) <= MAX_QUESTION
    question.encode()
    query = parse(question)
    assert len(query.terms) <= MAX_TERMS
    assert all(term and " " not in term for term, _ in query.terms)
    assert not set(query.required) & set("-&|!():*<>\\'")


PARTS: dict[str, tuple[st.SearchStrategy[object], Callable[..., None]]] = {
    "normaliser": (TYPESET, normaliser),
    "chunker": (BLOCKS, chunker),
    "manifest": (MANIFESTS, manifests),
    "citations": (MARKED, citations),
    "questions": (ASKED, questions),
}


@pytest.mark.parametrize("examples", [FEW, pytest.param(MANY, marks=pytest.mark.long)])
@pytest.mark.parametrize("part", PARTS)
def test_whatever_is_read_nothing_fails_and_nothing_takes_long(part: str, examples: int) -> None:
    texts, read = PARTS[part]

    @settings(
        max_examples=examples, deadline=None, database=None, suppress_health_check=list(HealthCheck),
        phases=(Phase.generate, Phase.shrink), report_multiple_bugs=False,
    )  # fmt: skip
    @given(texts)
    def fuzz(text: object) -> None:
        started = time.thread_time()
        read(text)
        assert time.thread_time() - started < MOST_SECONDS

    fuzz()
