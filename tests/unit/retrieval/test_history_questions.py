"""Which questions are about the past, and about which day of it."""

from datetime import date

import pytest

from retrieval.history_questions import Mode, recognise

END_OF_2019 = date(2019, 12, 31)


@pytest.mark.parametrize(
    ("question", "rule", "day"),
    [
        ("As of 2019, up to which moisture could bales be stacked?", "as_of", END_OF_2019),
        ("What was allowed as of May 2019?", "as_of", date(2019, 5, 31)),
        ("What was allowed as of 1 May 2019?", "as_of", date(2019, 5, 1)),
        ("What was allowed as of May 3rd?", None, None),
        ("What was allowed as of May 3, 2019?", "as_of", date(2019, 5, 3)),
        ("What was allowed as of 2019-05-03?", "as_of", date(2019, 5, 3)),
        ("What was allowed as of 2019-02-31?", "as_of", END_OF_2019),
        ("Welche Feuchte war erlaubt, Stand 2019?", "as_of", END_OF_2019),
        ("Welche Feuchte war erlaubt, Stand März 2019?", "as_of", date(2019, 3, 31)),
        ("Which limit held in 2019?", "in_a_year", END_OF_2019),
        ("Which limit held in 2000?", "in_a_year", date(2000, 12, 31)),
        ("In 2000 the limit was which?", "in_a_year", date(2000, 12, 31)),
        ("Which limit held before 2019?", "before_a_day", date(2018, 12, 31)),
        ("Which limit held before May 2019?", "before_a_day", date(2019, 4, 30)),
        ("Which limit held until 2019?", "until_a_day", END_OF_2019),
        ("What does the 2016 edition say of moisture?", "edition_of_a_year", date(2016, 12, 31)),
        ("What does the guideline of 2016 say?", "edition_of_a_year", date(2016, 12, 31)),
        ("What did the guideline (2016) say?", "edition_of_a_year", date(2016, 12, 31)),
        ("What was the limit before the 2023 revision?", "before_the_revision", date(2022, 12, 31)),
        ("moisture limit 2016?", "a_year_alone", date(2016, 12, 31)),
    ],
)
def test_a_question_about_one_day_is_recognised(question: str, rule: str | None, day: date | None) -> None:
    past = recognise(question)

    assert (past and past.mode, past and past.rule, past and past.day) == (rule and Mode.DAY, rule, day)


@pytest.mark.parametrize(
    "question",
    [
        "Before the revision, which moisture was allowed?",
        "Which moisture was allowed prior to the latest edition?",
        "Which moisture was allowed before it was revised?",
        "What did the previous edition say of moisture?",
        "What does the superseded guideline say?",
        "Which moisture used to be allowed?",
        "Welche Feuchte galt vor der Überarbeitung?",
        "Was stand in der alten Fassung?",
    ],
)
def test_a_question_about_an_earlier_edition_names_no_day(question: str) -> None:
    past = recognise(question)

    assert past is not None
    assert (past.mode, past.day) == (Mode.BEFORE, None)
    assert past.words


@pytest.mark.parametrize(
    "question",
    [
        "What has changed since 2016?",
        "How do the 2016 and 2023 editions differ?",
        "What held between 2016 and 2023?",
        "What held in May 2019 and in June 2020?",
    ],
)
def test_a_question_about_several_days_favours_no_version(question: str) -> None:
    past = recognise(question)

    assert past is not None
    assert past.mode is Mode.EVEN


@pytest.mark.parametrize(
    "question",
    [
        "How much methane does rice straw give?",
        "Is a yield of 2019 kg per hectare usual?",
        "Was it heated to 1950 °C?",
        "Does a centrifuge at 1990 rpm suffice?",
        "Were 2,016 samples taken?",
        "Are 20.19 litres enough?",
        "What does 10.5555/demo.guideline.2016 say?",
        "In 2000 samples, how many were wet?",
        "May up to 2000 bales be stacked?",
        "What is used to recommend a dose?",
        "What happens before the change of temperature?",
        "Does PM2.5 rise in May?",
        "What is in file2019?",
        "",
    ],
)
def test_quantities_and_identifiers_are_no_years(question: str) -> None:
    assert recognise(question) is None


def test_a_question_of_hostile_length_is_read_in_a_moment() -> None:
    for piece in ("as of ", "2019 ", "before the ", "in may ", "used to be ", "2019-", "(2019) "):
        recognise(piece * (2_000 // len(piece)))
