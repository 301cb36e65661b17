"""Sentence boundaries of scientific prose."""

from itertools import pairwise
from time import thread_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus.sentences import sentence_spans, sentences


@pytest.mark.parametrize(
    "text",
    [
        "Smith et al. Found nothing of the kind.",
        "See Fig. 3 and Figs. 4-5, e.g. the third panel.",
        "The value (approx. 5 kg, cf. Table 3) is low, i.e. within the error.",
        "Plants of Quercus sp. Linnaeus were kept at No. 5 Kew Road.",
        "It grew on E. coli K12 at pH 7.2 and 37.5 C for 3.5 h in all.",
        "We follow Ref. 12 and Eq. (3) of Sect. 2.1 here.",
    ],
)
def test_abbreviations_and_decimals_do_not_end_a_sentence(text):
    assert sentences(text) == [text]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It held 5.2 mg. The rest was lost.", ["It held 5.2 mg.", "The rest was lost."]),
        ("It took 12 h. Then we stopped.", ["It took 12 h.", "Then we stopped."]),
        ("We added 3 g. No. 5 was used.", ["We added 3 g.", "No. 5 was used."]),
        ("It fell in 2019. Prices rose.", ["It fell in 2019.", "Prices rose."]),
        ("The answer is no. We stopped.", ["The answer is no.", "We stopped."]),
        ("Does it? It does! Good.", ["Does it?", "It does!", "Good."]),
    ],
)
def test_a_number_or_unit_may_end_a_sentence(text, expected):
    assert sentences(text) == expected


def test_a_citation_after_the_full_stop_stays_with_its_sentence():
    assert sentences("The yield was 45%. [12] The next fell. [3, 4]") == [
        "The yield was 45%. [12]",
        "The next fell. [3, 4]",
    ]


@given(st.text(alphabet=st.sampled_from("aB1.?! \n[]()\"'et al.fig"), max_size=200) | st.text(max_size=100))
def test_spans_are_in_order_and_cover_everything_but_white_space(text):
    spans = sentence_spans(text)

    assert all(start < end for start, end in spans)
    assert all(before[1] <= after[0] for before, after in pairwise(spans))
    kept = "".join(text[start:end] for start, end in spans)
    assert "".join(kept.split()) == "".join(text.split())


@pytest.mark.parametrize(
    "piece", [". ", "(", "A. ", "[1", "1.1 ", "a", "5 g. ", "et al. ", "[1,", "[1] ", " ", "\n"]
)
def test_time_grows_no_faster_than_the_text(piece):
    def seconds(length: int) -> float:
        text = piece * (length // len(piece))
        # The least of three: collecting garbage of other tests falls into some of them.
        return min(_timed(text) for _ in range(3))

    def _timed(text: str) -> float:
        start = thread_time()
        sentence_spans(text)
        return thread_time() - start

    sentence_spans("warm")

    # Sixty-four times as long would be quadratic, eight linear; a busy machine lies in between.
    assert seconds(200_000) <= 32 * seconds(25_000) + 0.2
