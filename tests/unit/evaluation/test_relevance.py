"""A passage is relevant when it comes from a reference document or holds an evidence phrase."""

import pytest

from evaluation.questions import SeedQuestion
from evaluation.relevance import from_reference_document, is_relevant, normalise, phrases_found

QUESTION = SeedQuestion(
    id="loss",
    question="How much is lost?",
    reference_answer="18.6 %.",
    reference_documents=("10.5555/demo.2",),
    reference_titles=("Gärreste lagern",),
    evidence_phrases=("lost 18.6 % of its dry matter", "5", "pH"),
)
ELSEWHERE = {"doi": "10.5555/other", "title": "Something else"}


@pytest.mark.parametrize(
    "text",
    [
        "The stack LOST 18.6 %\n of its\u00a0dry matter.",
        "It lost 18.6\u202f% of its dry mat\u00adter.",
        "It lost 18.6 \uff05 of its dry matter.",
    ],
)
def test_case_white_space_and_unicode_form_do_not_matter(text: str) -> None:
    assert phrases_found(QUESTION, text) == ("lost 18.6 % of its dry matter",)


@pytest.mark.parametrize("dash", ["-", "\u2010", "\u2011", "\u2013", "\u2212"])
def test_dashes_are_one_character(dash: str) -> None:
    assert normalise(f"stored at {dash}80 °C") == "stored at -80 °c"


def test_phrases_under_three_characters_are_ignored() -> None:
    assert not is_relevant(QUESTION, **ELSEWHERE, text="The pH was 5.")


def test_a_number_alone_is_not_the_phrase_that_holds_it() -> None:
    assert not is_relevant(QUESTION, **ELSEWHERE, text="Prices rose by 18.6 % in a year.")


@pytest.mark.parametrize("doi", ["10.5555/DEMO.2", "https://doi.org/10.5555/demo.2"])
def test_a_reference_document_is_recognised_by_any_spelling_of_its_doi(doi: str) -> None:
    assert from_reference_document(QUESTION, doi=doi, title="")


def test_a_reference_document_without_a_doi_is_recognised_by_its_title() -> None:
    assert from_reference_document(QUESTION, doi="", title="GARRESTE  lagern")


def test_a_document_without_doi_and_title_is_no_reference_document() -> None:
    assert not from_reference_document(QUESTION, doi="", title="")


def test_nothing_is_relevant_to_an_unanswerable_question() -> None:
    question = SeedQuestion(id="none", question="Who knows?", reference_answer="Nobody.", unanswerable=True)

    assert not is_relevant(question, doi="10.5555/demo.2", title="Anything", text="Nobody.")
