import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus.normalise import matching_form, visible
from retrieval.graph.extraction.locating import Located


@pytest.mark.parametrize(
    ("text", "name", "words", "start"),
    [
        ("Wet anaerobic\n  digestion runs.", "Anaerobic Digestion", "anaerobic digestion", 4),
        ("An ADVANTAGE of AD.", "ad", "AD", 16),
        ("Levels of IL-60 and IL-6.", "IL-6", "IL-6", 20),
        ("Gas is CH\u2084 here.", "CH4", "CH\u2084", 7),
        ("Cafe\u0301 waste", "caf\u00e9", "Cafe\u0301", 0),
        ("The e\ufb03ciency rose", "efficiency", "e\ufb03ciency", 4),
        ("\u6d88\u5316\u6c7d is gas", "\u6d88\u5316", "\u6d88\u5316", 0),
    ],
)
def test_a_name_is_found_as_the_passage_spells_it(text: str, name: str, words: str, start: int) -> None:
    spot = Located(text).name(name)

    assert spot is not None
    assert (spot.text, spot.start) == (words, start)


@pytest.mark.parametrize("name", ["", " ", "-", "IL-8", "digest", "Wet-digestion", "gas yield fell"])
def test_a_name_that_is_not_there_is_not_found(name: str) -> None:
    assert Located("Wet digestion of IL-80. Gas yield\n\n| fell").name(name) is None


def test_a_quote_is_found_over_line_ends_but_not_in_another_case() -> None:
    located = Located("It fell.\nThe   yield\nrose by 6 %.")

    spot = located.quote("The yield rose by 6 %.")

    assert spot is not None
    assert spot.text == "The yield rose by 6 %."
    assert located.quote("the yield rose by 6 %.") is None
    assert located.quote("") is None


def test_half_of_a_fraction_is_not_a_place() -> None:
    assert Located("Add \u00bd litre").name("1") is None


@given(st.text(alphabet=st.characters(exclude_categories=("Cs",)), max_size=60), st.data())
def test_whatever_is_found_stands_there(text: str, data: st.DataObject) -> None:
    located = Located(text)
    start = data.draw(st.integers(0, len(located.form)))
    wanted = located.form[start : data.draw(st.integers(start, len(located.form)))]

    for spot, asked in ((located.quote(wanted), wanted), (located.name(wanted), visible(wanted))):
        if spot is not None:
            assert matching_form(spot.text).casefold() == matching_form(asked).casefold()
            assert " ".join(text[spot.start :].split()).startswith(spot.text)
