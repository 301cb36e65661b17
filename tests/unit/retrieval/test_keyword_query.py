"""What a question asks of full text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.layers.keyword_query import MAX_TERMS, parse


def words(question: str) -> list[str]:
    return [text for text, _ in parse(question).terms]


def test_a_minus_sign_is_not_a_negation() -> None:
    assert words("stored at \u221280 C") == ["stored", "at", "80", "c"]
    assert parse("stored at -80 C").required == ""


def test_a_code_replaces_the_parts_that_say_little() -> None:
    assert words("IL-6R in COVID-19") == ["in", "covid", "il6r", "covid19"]


def test_words_count_as_often_as_they_are_asked() -> None:
    assert dict(parse("rice straw and wheat straw").terms)["straw"] == 2


def test_a_quoted_phrase_is_required_and_an_or_offers_another() -> None:
    assert parse('yield of "rice straw"').required == '"rice straw"'
    assert parse('"rice straw" OR "wheat straw" yield').required == '"rice straw" or "wheat straw"'
    assert parse('"beta-catenin signalling" OR Wnt').required == '"beta catenin signalling" or "wnt"'
    assert parse("\u201crice straw\u201d").required == '"rice straw"'


def test_one_word_in_quotes_an_or_alone_and_an_open_quote_demand_nothing() -> None:
    assert parse('a "smart" sensor').required == ""
    assert parse("adjusted OR for mortality").required == ""
    assert parse('"rice straw').required == ""


def test_an_or_at_the_edge_is_dropped() -> None:
    assert parse('OR "rice straw" OR').required == '"rice straw"'


def test_at_most_64_terms_of_2000_characters_count() -> None:
    assert len(words(" ".join(f"w{number}x" for number in range(300)))) <= MAX_TERMS
    assert words("a" * 1999 + " second third") == ["a" * 1999]


@given(st.text(max_size=300) | st.text(alphabet="\"' OR-a1:&|!()*<>", max_size=80))
def test_what_reaches_the_database_is_words_quotes_and_or(question: str) -> None:
    query = parse(question)

    assert all(text and " " not in text for text, _ in query.terms)
    assert query.required.count('"') % 2 == 0
    assert not set(query.required) & set("-&|!():*<>\\'")


@pytest.mark.parametrize("unit", ['"', '" ', "-", "OR ", '"a b" OR ', "1,"])
def test_long_repetitions_are_read(unit: str) -> None:
    assert len(parse(unit * 5000).terms) <= MAX_TERMS
