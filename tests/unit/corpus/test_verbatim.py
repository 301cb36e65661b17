"""Quotations of a text that may not be kept go out of what somebody wrote; their own words stay."""

import time

import pytest

from corpus import verbatim

PASSAGE = "The methane yield of rice straw was 210 litres for each kilogram of volatile solids."


@pytest.mark.parametrize(
    ("written", "left"),
    [
        (f"I read: {PASSAGE} Worth a try.", "I read: […]. Worth a try."),
        ("“The methane yield of rice straw was 210 litres…”", "“[…]…”"),
        ("THE METHANE  yield of rice straw, was 210 litres!", "[…]!"),
        (f"{PASSAGE} Mine. {PASSAGE}", "[…]. Mine. […]."),
    ],
    ids=["whole", "beginning", "other-letters-and-signs", "twice"],
)
def test_what_is_quoted_goes(written: str, left: str) -> None:
    assert verbatim.without({"note": written}, [PASSAGE]) == {"note": left}


@pytest.mark.parametrize(
    "written",
    ["", "Rice straw gave 210 litres.", "The methane yield of rice straw, I think, is low.", "Straw. " * 40],
    ids=["nothing", "own-words", "seven-in-a-row", "other"],
)
def test_what_is_said_in_own_words_stays(written: str) -> None:
    assert verbatim.without({"note": written}, [PASSAGE]) == {}


def test_a_passage_shorter_than_a_run_counts_as_a_whole() -> None:
    short = "Yield fell by half."

    assert verbatim.without({"a": f"So: {short}", "b": "It fell by half."}, [short]) == {"a": "So: […]."}


def test_many_passages_take_time_in_proportion() -> None:
    started = time.process_time()
    verbatim.without({"note": PASSAGE * 20}, (f"{PASSAGE} {number}" for number in range(5_000)))

    assert time.process_time() - started < 5
