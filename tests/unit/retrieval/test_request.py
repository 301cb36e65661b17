from __future__ import annotations

import pytest

from retrieval.request import MAX_LIMIT, MAX_QUESTION, InvalidRequest, checked_limit, checked_question


@pytest.mark.parametrize(
    ("typed", "asked"),
    [
        ("  Why? \n", "Why?"),
        ("yield\u00a0of 5\u202f°C", "yield\u00a0of 5\u202f°C"),
        ("rice\rstraw\r\nyield\x0cnow\u2028here", "rice\nstraw\nyield\nnow\nhere"),
        ("me\x00thane\ud800 \u200bhid\u202eden\U000e0041", "methane hidden"),
    ],
)
def test_a_question_keeps_its_words_apart_and_loses_what_cannot_be_seen(typed: str, asked: str) -> None:
    assert checked_question(typed) == asked


@pytest.mark.parametrize("question", ["", "  \n ", "\x00\u200b", "x" * (MAX_QUESTION + 1)])
def test_a_question_that_says_nothing_or_never_ends_is_refused(question: str) -> None:
    with pytest.raises(InvalidRequest):
        checked_question(question)


@pytest.mark.parametrize("limit", [-1, 0, MAX_LIMIT + 1])
def test_a_limit_out_of_bounds_is_refused_and_not_bent(limit: int) -> None:
    with pytest.raises(InvalidRequest):
        checked_limit(limit)
