"""What updates of Crossref records assert, in the words and the directions that occur."""

import json
import re
from datetime import date

import pytest

from corpus.enrichment import updates
from corpus.gateways import crossref
from corpus.gateways.crossref import CrossrefError, Update
from tests.loopback.crossref_server import record, update

PAPER, NOTICE = "10.1000/paper", "10.1000/notice"


def said(kind: str, doi: str, on: date | None = date(2020, 6, 5), source: str = "publisher") -> Update:
    return Update(kind=kind, label="", doi=doi, source=source, on=on)


def reading(doi=PAPER, *, to=(), by=(), published=date(2020, 1, 1)):
    return updates.read(doi=doi, published=published, update_to=to, updated_by=by)


def found(read):
    return [(claim.about, claim.kind, claim.notice) for claim in read.assertions]


@pytest.mark.parametrize(
    ("word", "kind"),
    [
        ("retraction", "retraction"), ("Retraction", "retraction"), ("retracion", "retraction"),
        ("retration", "retraction"), ("withdrawal", "withdrawal"), ("removal", "removal"),
        ("partial_retraction", "expression_of_concern"), ("expression-of-concern", "expression_of_concern"),
        ("Expression of Concern", "expression_of_concern"), ("erratum", "correction"),
        ("Corrigendum", "correction"), ("err", "correction"), ("corrected-article", "correction"),
        ("new_version", None), ("new_edition", None),
        ("addendum", None), ("publisher-note", None), ("unknown", None),
        ("this_is_some_update_23", None), ("", None),
    ],
)  # fmt: skip
def test_a_word_in_use_is_read_as_its_kind(word: str, kind: str | None) -> None:
    assert updates.kind_of(word) == kind


def test_the_label_counts_where_the_word_says_nothing() -> None:
    assert updates.kind_of("unknown", "Retracted") == "retraction"
    assert updates.kind_of("new_version", "Retraction") is None


@pytest.mark.parametrize(
    "word", ["retractoin", "retracton", "Retractions", "withdrawl", "expresion_of_concern"]
)
def test_a_misspelling_nobody_knows_is_a_doubt_and_no_retraction(word: str) -> None:
    read = reading(by=[said(word, NOTICE)])

    assert (found(read), [doubt.reason for doubt in read.doubts]) == ([], ["unknown_word"])


@pytest.mark.parametrize("word", ["article", "print", "tutorial", "interesting_update", "correspondence"])
def test_other_words_nobody_knows_are_nothing(word: str) -> None:
    assert reading(by=[said(word, NOTICE)]) == updates.Reading((), ())


def test_every_word_of_the_wild_is_decided(shared_data) -> None:
    text = (shared_data / "crossref_vocab/update-to_array_type.md").read_text()
    words = [
        word.replace("\\_", "_") for word in re.findall(r"^\| \*\*\d+\*\*\s*\| (\S+)", text, re.MULTILINE)
    ]

    assert len(words) == 41
    assert {word for word in words if updates.kind_of(word) in updates.RETRACTING} == {
        "retraction", "Retraction", "retracion", "retration", "withdrawal", "removal"
    }  # fmt: skip
    assert not any(updates.sounds_grave(word) for word in words)


def test_a_retraction_concerns_the_work_that_is_updated_and_not_the_notice() -> None:
    assert found(reading(by=[said("retraction", NOTICE)])) == [(PAPER, "retraction", NOTICE)]
    assert found(reading(NOTICE, to=[said("retraction", PAPER)])) == [(PAPER, "retraction", NOTICE)]


def test_a_work_may_assert_its_own_retraction_once() -> None:
    own = said("retraction", PAPER)

    assert found(reading(to=[own], by=[own])) == [(PAPER, "retraction", PAPER)]


def test_two_records_that_retract_each_other_are_a_doubt() -> None:
    read = reading(to=[said("retraction", NOTICE)], by=[said("retraction", NOTICE)])

    assert found(read) == []
    assert read.doubts == (updates.Doubt(PAPER, "contradiction", NOTICE),)


def test_retraction_watch_says_which_of_two_is_the_notice() -> None:
    watched, turned = said("retraction", NOTICE, source="retraction-watch"), said("retraction", NOTICE)
    paper = reading(to=[turned], by=[watched])
    notice = reading(
        NOTICE, to=[said("retraction", PAPER, source="retraction-watch")], by=[said("retraction", PAPER)]
    )

    assert found(paper) == found(notice) == [(PAPER, "retraction", NOTICE)]
    assert paper.doubts == notice.doubts == ()


def test_a_retraction_before_the_work_was_there_is_a_doubt() -> None:
    read = reading(NOTICE, by=[said("retraction", PAPER, on=date(2019, 12, 31))])

    assert (found(read), [doubt.reason for doubt in read.doubts]) == ([], ["before_publication"])


def test_a_correction_before_the_work_was_there_is_still_one() -> None:
    read = reading(by=[said("erratum", NOTICE, on=date(2019, 12, 31))])

    assert found(read) == [(PAPER, "correction", NOTICE)]


def record_of(shared_data, name: str) -> crossref.Work:
    message = json.loads((shared_data / "crossref" / name).read_text())
    message = message.get("message", message)
    return crossref.read(message, message["DOI"].lower())


def test_a_real_pair_deposited_both_ways_round_is_read_the_right_way(shared_data) -> None:
    retracted, notice = "10.1016/s0140-6736(20)31180-6", "10.1016/s0140-6736(20)31324-6"
    for name in ("retracted_paper", "retraction_notice"):
        work = record_of(shared_data, f"bibaudit_crossref_reciprocal_{name}.json")
        read = reading(work.doi, to=work.update_to, by=work.updated_by, published=work.published)

        retractions = [claim for claim in found(read) if claim[1] == "retraction"]
        assert retractions == [(retracted, "retraction", notice)]
        assert read.doubts == ()


def test_every_real_record_is_read(shared_data) -> None:
    names = [path.name for path in sorted((shared_data / "crossref").glob("*.json"))]
    works = [record_of(shared_data, name) for name in names]

    assert len(works) > 50
    assert sum(bool(work.update_to or work.updated_by) for work in works) > 15
    assert {"10.1371/journal.pone.0081791"} <= {one.doi for work in works for one in work.update_to}


@pytest.mark.parametrize(
    "title",
    [
        "RETRACTED: Biochar",
        "Retracted: Biochar",
        "[Retracted] Biochar",
        "RETRACTED ARTICLE: Biochar",
        "WITHDRAWN: Biochar",
        "Retracted — Biochar",
        "TEMPORARILY REMOVED: Biochar",
        "[RETRACTED ARTICLE] Biochar",
        "Retracted Article - Biochar",
    ],
)
def test_a_title_of_a_retracted_work_claims_it(title: str) -> None:
    assert updates.claims_retraction(title)


def test_titles_with_the_words_in_another_sense_claim_nothing(shared_data) -> None:
    lines = (shared_data / "retraction/medline_title_word_cases.jsonl").read_text().splitlines()
    titles = [json.loads(line)["title"] for line in lines]

    assert [title for title in titles if updates.claims_retraction(title)] == []
    assert not updates.claims_retraction("Retraction: Biochar")
    assert not updates.claims_retraction("Retracted jets: a survey")
    assert not updates.claims_retraction("Withdrawn-care decisions in ICU")


@pytest.mark.parametrize(
    "broken",
    [
        "retraction",
        {"DOI": NOTICE},
        [NOTICE],
        [None],
        [{}],
        [{"DOI": "no doi", "type": "retraction"}],
        [{"DOI": NOTICE}],
    ],
)
@pytest.mark.parametrize("field", ["update_to", "updated_by"])
def test_updates_that_cannot_be_read_are_no_clean_record(field: str, broken) -> None:
    with pytest.raises(CrossrefError, match="garbage"):
        crossref.read(record(PAPER, **{field: broken}), PAPER)


def test_a_record_of_another_work_is_refused_and_letter_case_does_not_matter() -> None:
    assert crossref.read(record("10.1000/PAPER"), PAPER).doi == PAPER
    with pytest.raises(CrossrefError, match="wrong_work"):
        crossref.read(record("10.1000/other"), PAPER)


ODD = [
    None,
    5,
    "x",
    [],
    {},
    [None],
    [[]],
    {"date-parts": None},
    {"date-parts": [[None]]},
    {"date-parts": [[10**9, 1]]},
]


@pytest.mark.parametrize("odd", ODD, ids=repr)
def test_other_fields_of_an_odd_shape_are_left_out(odd) -> None:
    names = "title container_title publisher issued created is_referenced_by_count license reference".split()
    work = crossref.read(record(PAPER, **dict.fromkeys(names, odd)), PAPER)

    assert (work.published, work.licenses, work.references) == (None, work.licenses, work.references)


def test_texts_come_without_what_no_text_column_takes() -> None:
    references = [
        {"unstructured": "A\0\x01 \ud800b"},
        {"DOI": "10.1000/A", "article-title": "T", "year": "2001"},
        {},
    ]
    work = crossref.read(record(PAPER, title=["\0 Bio\n char"], reference=references), PAPER)

    assert work.title == "Bio char"
    assert [(one.text, one.doi) for one in work.references] == [("A b", ""), ("2001. T", "10.1000/a")]


def test_the_day_of_publication_is_the_earliest_and_a_month_counts_from_its_first() -> None:
    work = crossref.read(
        record(PAPER, issued={"date-parts": [[2020, 6]]}, created={"date-parts": [[2020, 5, 20]]}), PAPER
    )

    assert (work.published, work.year) == (date(2020, 5, 20), 2020)
    element = update("retraction", NOTICE, (2021,))
    (one,) = crossref.read(record(PAPER, updated_by=[element]), PAPER).updated_by
    assert (one.on, one.has_full_date) == (date(2021, 1, 1), False)
