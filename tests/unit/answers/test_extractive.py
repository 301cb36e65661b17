"""The engine without a model: what it may quote, what it chooses, when it refuses."""

from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from answers.candidates import Evidence, candidates
from answers.extractive import MOST_QUOTES, compose, extract, rank
from answers.findings import FindingKind, SourceText, check

STRAW = Evidence(
    1,
    "Rice straw was digested for 40 days [12].\nThe methane yield of rice straw was 210 L/kg of\nvolatile "
    "solids. Grinding it to 2 mm raised the yield by 14 %, because hydrolysis was faster.",
    "Methane from rice straw",
    ("3 Results",),
)
TABLE = Evidence(
    2,
    "Table 2. Ash content of residues\n\n"
    "| Residue | Ash (% of dry mass) | Lignin (%) |\n| --- | --- | --- |\n"
    "| Rice straw | 17.3 | 12.1 |\n| Corn stover | 5.8 | 18.6 |",
    "Residues",
    (),
    "Table 2",
)
DIGESTER = Evidence(3, "Thermophilic digesters run at 53 °C. They need care.", "Running a digester")
ALL = [STRAW, TABLE, DIGESTER]


def text_of(question: str, sources: list[Evidence] = ALL) -> str:
    return "".join(compose(extract(question, sources, embed=None).quotes))


def test_the_sentence_that_answers_is_quoted_word_for_word_with_its_citation() -> None:
    assert text_of("What is the methane yield of rice straw?").startswith(
        "“The methane yield of rice straw was 210 L/kg of volatile solids.” [1]"
    )


def test_a_question_for_a_figure_prefers_sentences_that_hold_one() -> None:
    body = "The methane yield of rice straw is high. Nobody knew. Methane yield of rice straw is 210 L/kg."

    answer = text_of("How high is the methane yield of rice straw?", [Evidence(1, body)])

    assert answer.startswith("“Methane yield of rice straw is 210 L/kg.” [1]")


@pytest.mark.parametrize(
    "naming", ["(Fig. 2A)", "[12, 14]", "in T4 phage", "(Han et al., 2007)", "at passage 100", "in one flask"]
)
def test_a_number_that_only_names_something_is_no_figure(naming: str) -> None:
    body = f"Cells at passage 100 keep their chromosomes {naming}. Cells have 37 chromosomes at passage 100."

    best = rank("How many chromosomes do cells have at passage 100?", [Evidence(1, body)], embed=None)[0]

    assert best.candidate.text == "Cells have 37 chromosomes at passage 100."


def test_a_count_in_words_is_a_figure() -> None:
    body = "Plates were kept for long in the dark. Plates were kept for two weeks at home."

    best = rank("How long were plates kept?", [Evidence(1, body)], embed=None)[0]

    assert best.candidate.text == "Plates were kept for two weeks at home."


def test_a_question_for_a_reason_prefers_sentences_that_give_one() -> None:
    assert "because hydrolysis was faster" in text_of("Why did grinding rice straw raise the yield?")


def test_a_row_is_quoted_under_its_head_with_the_tables_place() -> None:
    assert text_of("How much ash does corn stover contain?").split("\n") == [
        "Table 2 [2]:",
        "",
        "| Residue | Ash (% of dry mass) | Lignin (%) |",
        "| --- | --- | --- |",
        "| Corn stover | 5.8 | 18.6 |",
    ]


@pytest.mark.parametrize("question", ["Who won the bridge tournament in Oslo?", "???", "the of and"])
def test_it_refuses_when_the_sources_say_too_little(question: str) -> None:
    assert extract(question, ALL, embed=None).quotes == ()


def test_nothing_is_answered_from_nothing() -> None:
    assert extract("What is the yield?", [], embed=None).quotes == ()


def test_few_quotations_and_none_twice() -> None:
    body = " ".join(
        f"The methane yield of rice straw was {number} L/kg in trial {number}." for number in range(9)
    )
    twins = [Evidence(1, body), Evidence(2, body)]

    quotes = extract("What is the methane yield of rice straw?", twins, embed=None).quotes

    assert 1 <= len(quotes) <= MOST_QUOTES


def test_every_quotation_passes_the_check_of_findings() -> None:
    sources = [SourceText(source.body, f"{source.title} {source.locator}") for source in ALL]
    for question in ("What is the methane yield of rice straw?", "How much ash does corn stover contain?"):
        assert {f.kind for f in check(text_of(question), sources)} == {FindingKind.SUPPORTED}


def test_vectors_find_what_other_words_say() -> None:
    def embed(texts: Sequence[str]) -> NDArray[np.float32]:
        alike = [text.startswith("How hot") or "53 °C" in text for text in texts]
        return np.array([[1, 0] if like else [0, 1] for like in alike], dtype=np.float32)

    found = extract("How hot is a thermophilic plant?", ALL, embed=embed)

    assert "53 °C" in "".join(compose(found.quotes))


def test_what_answers_nothing_is_not_quotable() -> None:
    body = (
        "Is this a question? See below:\n\n2 Methods\n\n"
        "[3] Smith J., Doe A. A study of straw. J. Straw 12 (2019) 34-45, doi: 10.1000/182.\n\n"
        "Contents ................ 7\n\nThe straw was dried at 105 °C for a day."
    )

    assert [c.text for c in candidates([Evidence(1, body)])] == ["The straw was dried at 105 °C for a day."]


def test_list_items_are_quoted_without_their_bullets() -> None:
    body = "Rules for stacks:\n- Bales shall be dry when stacked.\n- Stacks shall be low and far apart."

    assert [c.text for c in candidates([Evidence(1, body)])] == [
        "Bales shall be dry when stacked.",
        "Stacks shall be low and far apart.",
    ]


def test_the_caption_of_a_table_is_no_sentence() -> None:
    assert all(candidate.heads for candidate in candidates([TABLE]))
