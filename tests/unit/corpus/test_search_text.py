"""The scientific normaliser: what is written differently and means the same has one form."""

import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from corpus.search_text import normalise, search_form


@pytest.mark.parametrize(
    "spellings",
    [
        ("IL-6", "IL6", "IL 6", "il\u20116"),
        ("IL-6R", "IL6R", "IL 6R"),
        ("PM2.5", "PM 2.5", "PM-2.5", "PM\u2082.\u2085"),
        ("COVID-19", "covid 19", "Covid\u201319", "COVID19"),
        ("10 mg / kg", "10mg/kg", "10 mg/kg"),
        ("141,000 acres", "141000 acres", "141\u202f000 acres", "141000acres"),
        ("β-catenin", "beta-catenin", "βcatenin"),
        ("TNF-α", "TNFα", "tnf-alpha"),
        ("-80 C", "\u221280 °C", "80℃"),
        ("eﬃcient", "efficient", "effi\u00adcient", "effi\u0002cient"),
        ("5 µm", "5 μm", "5um"),
        ("CO₂", "CO2", "CO 2"),
        ("p < .05", "p<0.05"),
        ("Parkinson\u2019s", "parkinson's", "Parkinson"),
        ("naïve", "naive", "NAI\u0308VE"),
    ],
)
def test_spellings_of_one_thing_have_one_form(spellings: tuple[str, ...]) -> None:
    forms = {search_form(spelling) for spelling in spellings}

    assert len(forms) == 1


def test_words_written_apart_share_every_word_with_the_hyphenated_form() -> None:
    assert normalise("beta catenin").phrase() == normalise("beta-catenin").phrase()
    assert normalise("co digestion").phrase() == normalise("co-digestion").phrase()


def test_a_compound_is_also_one_code() -> None:
    assert normalise("co-digestion").codes == ("codigestion",)
    assert set(normalise("IL-6-induced").codes) == {"il6", "6induced", "il6induced"}


def test_quantities_and_years_are_not_taken_for_codes() -> None:
    assert normalise("in 2019 about 12 plots at 37 C gave 141000 acres").codes == ()


def test_a_short_part_of_a_code_is_marked_and_a_telling_one_is_not() -> None:
    words = {word.text: word.in_code for word in normalise("IL-6 and COVID-19, β-catenin").words}

    assert words == {
        "il": True, "6": True, "and": False, "covid": False, "19": True, "beta": False, "catenin": False,
    }  # fmt: skip


def test_greek_prose_keeps_its_letters() -> None:
    assert normalise("λέξη").phrase() == "λέξη"


def test_accents_go_from_latin_letters_and_no_mark_cuts_a_word() -> None:
    assert normalise("naïve йод мо\u0301локо cafe\u1037\u0301").phrase() == "naive йод молоко cafe"


@given(st.text(max_size=400))
@example("A\u0300\u1037")
def test_normalising_twice_changes_nothing(text: str) -> None:
    once = normalise(text).phrase()

    assert normalise(once).phrase() == once


@given(st.text(alphabet="aB6.,-' μαβ\u2212\u00ad°/0137kgmil", max_size=60))
def test_normalising_twice_changes_nothing_in_scientific_notation(text: str) -> None:
    once = normalise(text).phrase()

    assert normalise(once).phrase() == once


@given(st.text(max_size=400))
def test_the_form_holds_only_letters_digits_and_single_spaces(text: str) -> None:
    form = search_form(text)

    assert form == " ".join(form.split())
    assert all(not part or part.replace("_", "").isalnum() or not part.isascii() for part in form.split(" "))


@pytest.mark.parametrize(
    "unit",
    ["-", "a-", "1,", "1,000,", "'", "α", "αa", "1.", "a1", "il 6 ", "\u0301", "e\u0301", "point", "1point"],
)
def test_time_grows_with_length_and_not_faster(unit: str) -> None:
    def seconds(length: int) -> float:
        text = unit * (length // len(unit))
        best = 9.0
        for _ in range(3):
            started = time.thread_time()
            normalise(text)
            best = min(best, time.thread_time() - started)
        return best

    assert seconds(80_000) < 20 * seconds(10_000) + 0.05
