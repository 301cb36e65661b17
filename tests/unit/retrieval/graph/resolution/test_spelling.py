"""The words of a name in one spelling, and words that are spelled alike."""

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.graph.resolution.neighbours import SHORTEST, alike
from retrieval.graph.resolution.similarity import distance, likeness
from retrieval.graph.resolution.spelling import form_of, joined, words_of


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("co-digestion", "codigestion"),
        ("Co\u2010digestion", "co digestion"),
        ("microalgae", "microalga"),
        ("bacteria", "bacterium"),
        ("analyses", "analysis"),
        ("viruses", "virus"),
        ("fatty acids", "fatty acid"),
        ("CNTs", "CNT"),
        ("haemorrhage", "hemorrhage"),
        ("anaesthesia", "anesthesia"),
        ("diarrhoea", "diarrhea"),
        ("hydrogen sulphide", "hydrogen sulfide"),
        ("methanisation", "methanization"),
        ("fibre", "fiber"),
        ("modelling", "modeling"),
        ("\u03b2-glucosidase", "beta-glucosidase"),
        ("Parkinson\u2019s disease", "Parkinson disease"),
        ("type II reactor", "type 2 reactor"),
    ],
)
def test_spellings_of_one_name_have_one_form(one: str, other: str) -> None:
    assert form_of(one) == form_of(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("AIDS", "aid"),
        ("gas", "ga"),
        ("1-3", "13"),
        ("phase 1 2", "phase 12"),
        ("hydrolysis", "hydrolysi"),
        ("aerobic", "erobic"),
        ("5'-amine", "5-amine"),
        ("vitamin C", "vitamin 100"),
        ("aneurysm", "aneurysmal"),
    ],
)
def test_other_names_have_other_forms(one: str, other: str) -> None:
    assert form_of(one) != form_of(other)


def test_a_name_without_letters_and_digits_has_no_form() -> None:
    assert form_of(" -- ") in ("", "--")
    assert form_of("") == ""


@given(st.text(max_size=40))
def test_the_form_is_the_words_run_together_whatever_the_text(name: str) -> None:
    assert form_of(name) == joined(words_of(name))
    assert " " not in form_of(name)


@given(st.text("abc", max_size=12), st.text("abc", max_size=12))
def test_the_distance_is_that_of_the_table(one: str, other: str) -> None:
    row = list(range(len(other) + 1))
    for above, left in enumerate(one, start=1):
        new = [above]
        for place, right in enumerate(other, start=1):
            new.append(min(row[place] + 1, new[-1] + 1, row[place - 1] + (left != right)))
        row = new

    assert distance(one, other) == distance(other, one) == row[-1]


@given(st.sets(st.text("abde", min_size=3, max_size=16), max_size=25))
def test_the_index_finds_what_comparing_all_finds(words: set[str]) -> None:
    expected = {
        pair: likeness(*pair)
        for pair in combinations(sorted(words), 2)
        if pair[0][0] == pair[1][0] and min(map(len, pair)) >= SHORTEST and likeness(*pair) >= 0.8
    }

    assert {(one, other): score for one, other, score in alike(words, least=0.8)} == expected
