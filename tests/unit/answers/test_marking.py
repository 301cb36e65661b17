"""The sentences of a passage that an answer stands on."""

import pytest

from answers.marking import cited_spans

BODY = (
    "Plots were cut twice a year. Grinding the straw raised the methane yield to 210 L/kg. "
    "The control gave 150 L/kg of methane. Weather was mild throughout the trial."
)


def marked(*citing: str) -> list[str]:
    return [BODY[start:end] for start, end in cited_spans(BODY, citing)]


def test_a_quotation_marks_the_sentence_it_repeats() -> None:
    assert marked("“Grinding the straw raised the methane\nyield to 210 L/kg.” [1]") == [
        "Grinding the straw raised the methane yield to 210 L/kg."
    ]


def test_a_paraphrase_marks_the_sentence_it_tells_of() -> None:
    assert marked("Ground straw yielded 210 L/kg of methane [1].") == [
        "Grinding the straw raised the methane yield to 210 L/kg."
    ]


def test_two_citing_sentences_mark_in_the_order_of_the_passage() -> None:
    assert marked(
        "The control gave 150 L/kg of methane [1].", "Grinding the straw raised the methane yield [1]."
    ) == [
        "Grinding the straw raised the methane yield to 210 L/kg.",
        "The control gave 150 L/kg of methane.",
    ]


@pytest.mark.parametrize("sentence", ["", "[1]", "Yes [1].", "Algae grow in open ponds under lamps [1]."])
def test_a_sentence_that_tells_of_none_marks_nothing(sentence: str) -> None:
    assert marked(sentence) == []


def test_a_passage_without_text_has_nothing_to_mark() -> None:
    assert cited_spans("", ["Anything at all [1]."]) == ()
