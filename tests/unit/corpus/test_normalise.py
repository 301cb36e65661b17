"""Text hygiene and words cut at line ends."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus.normalise import (
    WordForms,
    clean,
    compose_accents,
    legible_name,
    matching_form,
    rejoin,
    unwrap,
)


@pytest.mark.parametrize(
    ("raw", "stored"),
    [
        ("a\x00b", "ab"),
        ("one\r\ntwo\rthree", "one\ntwo\nthree"),
        ("\ufb01ve e\ufb03cient \ufb02ows", "five efficient flows"),
        ("so\u00adft", "soft"),
        ("ligno\u00ad\ncellulosic", "lignocellulosic"),
        ("bad \ud800 surrogate", "bad  surrogate"),
        ("bell\x07 and escape\x1b", "bell and escape"),
        ("page one\fpage two", "page one\fpage two"),
        ("Ko\u0308ln", "K\u00f6ln"),
        ("\ufeffmarked", "marked"),
        ("5 \u00b5m, H\u2082O, x\u00b2", "5 \u00b5m, H\u2082O, x\u00b2"),
    ],
)
def test_cleaning_removes_what_cannot_be_stored_and_keeps_the_authors_characters(
    raw: str, stored: str
) -> None:
    assert clean(raw) == stored


def test_matching_form_makes_compatible_characters_equal() -> None:
    assert matching_form("H\u2082O  at\n10\u207b\u00b3") == matching_form(
        "H2O at 10\u22123".replace("\u2212", "\u2212")
    )


@pytest.mark.parametrize(
    ("cut", "whole"),
    [
        ("ligno-\ncellulosic", "lignocellulosic"),
        ("A long-term effect.\nThe long-\nterm effect", "A long-term effect.\nThe long-term effect"),
        ("SARS-\nCoV-2", "SARS-CoV-2"),
        ("lignocellulosic, then ligno-\ncellulosic", "lignocellulosic, then lignocellulosic"),
        ("a t-\ntest", "a t-test"),
        ("state-of-the-\nart", "state-of-the-art"),
        ("pre-\nand post-treatment", "pre- and post-treatment"),
        ("from 1990\u2013\n1995", "from 1990\u20131995"),
        ("the 2-\nmethyl group", "the 2-methyl group"),
        ("see https://host/some-\nplace/x", "see https://host/some-place/x"),
        ("a dash -\nalone", "a dash -\nalone"),
        ("an end-\n\nnot joined", "an end-\n\nnot joined"),
        ("high pressure and low, the high-\npressure line", "high pressure and low, the high-pressure line"),
    ],
)
def test_words_cut_at_line_ends_take_the_form_the_document_uses(cut: str, whole: str) -> None:
    assert rejoin(cut) == whole


def test_lines_of_a_paragraph_become_running_text() -> None:
    forms = WordForms(["a long-term view"])

    assert unwrap(["The long-", " term pretreat-", "ment of straw", "", "ends here."], forms) == (
        "The long-term pretreatment of straw ends here."
    )


@pytest.mark.parametrize(
    ("apart", "together"),
    [
        ("Me\u00b4 diterrane\u00b4 e", "M\u00e9diterran\u00e9e"),
        ("Ta\u02c6 m", "T\u00e2m"),
        ("M\u00b4erida", "M\u00e9rida"),
        ("x\u02c6 = 3", "x\u02c6 = 3"),
        ("no accents", "no accents"),
    ],
)
def test_accents_beside_their_letters_are_put_on_them(apart: str, together: str) -> None:
    assert compose_accents(apart) == together


@given(st.text(max_size=400))
def test_cleaning_twice_changes_nothing(text: str) -> None:
    assert clean(clean(text)) == clean(text)


@given(st.text(alphabet="ab-\n ", max_size=200))
def test_joining_loses_no_letter(text: str) -> None:
    assert [char for char in rejoin(text) if char.isalpha()] == [char for char in text if char.isalpha()]


PATHOLOGICAL = {
    "one word": "a",
    "hyphens": "-",
    "hyphenated line ends": "ab-\n",
    "soft hyphens": "\u00ad",
    "spaced soft hyphens": "\u00ad \n",
    "combining marks": "\u0301\u0323",
    "spaces": " ",
    "empty lines": "\n",
    "accents": "e\u00b4",
    "carriage returns": "\r",
}


@pytest.mark.parametrize("unit", PATHOLOGICAL.values(), ids=PATHOLOGICAL.keys())
def test_time_grows_no_faster_than_the_text(unit: str) -> None:
    def seconds(size: int) -> float:
        text = unit * (size // len(unit))
        started = time.thread_time()
        rejoin(clean(text))
        compose_accents(text)
        return time.thread_time() - started

    seconds(50_000)

    assert seconds(500_000) < 2.0


def test_a_file_name_that_is_no_text_can_be_stored_and_shown():
    assert legible_name("caf\udce9\0.txt") == "caf\ufffd\ufffd.txt"
    assert legible_name("Stroh-\u00e4hren.txt") == "Stroh-\u00e4hren.txt"
