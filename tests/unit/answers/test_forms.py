"""The scope as a browser sends it: no restriction and nothing are kept apart."""

import pytest
from django.http import QueryDict

from answers.forms import AskForm, ScopeForm, pairs
from corpus.rights import LicenseClass
from corpus.scope import RetrievalScope, scope


def requested(query: str) -> RetrievalScope:
    form = ScopeForm(QueryDict(query))
    assert form.is_valid(), form.errors
    return form.requested()


def test_an_empty_query_restricts_nothing_but_leaves_out_retracted_work() -> None:
    assert requested("") == RetrievalScope(exclude_retracted=True)


def test_boxes_do_not_count_while_all_classes_are_asked_for() -> None:
    assert requested("rights=all&license_class=public").license_classes is None


def test_chosen_with_no_box_ticked_allows_nothing() -> None:
    found = requested("rights=chosen")

    assert found.license_classes == ()
    assert found.denied


def test_chosen_classes_are_the_ones_ticked() -> None:
    found = requested("rights=chosen&license_class=public&license_class=open_commercial")

    assert found.license_classes == (LicenseClass.PUBLIC, LicenseClass.OPEN_COMMERCIAL)


def test_no_collection_chosen_allows_nothing() -> None:
    assert requested("collections=chosen").buckets == ()
    assert requested("collections=all&bucket=a").buckets is None


def test_a_collection_that_does_not_exist_is_taken_like_any_other() -> None:
    assert requested("collections=chosen&bucket=nowhere").buckets == ("nowhere",)


@pytest.mark.parametrize(
    "query",
    [
        "rights=some",
        "rights=chosen&license_class=cc-by-xyz",
        "year_min=abc",
        "year_min=99999",
        "year_min=2020&year_max=2010",
        "as_of=2019-13",
        "as_of=last+year",
        "as_of=0",
        "collections=chosen&bucket=a%00b",
    ],
)
def test_what_makes_no_sense_is_refused_rather_than_widened(query: str) -> None:
    assert not ScopeForm(QueryDict(query)).is_valid()


@pytest.mark.parametrize(
    "wanted",
    [
        RetrievalScope(exclude_retracted=True),
        RetrievalScope(),
        scope(license_classes=[], exclude_retracted=True),
        scope(license_classes=["public", "unknown"], buckets=["b & c", "ä"], year_min=1990),
        scope(buckets=[], year_max=2001),
        scope(as_of="2019-05", exclude_retracted=True),
    ],
)
def test_a_scope_survives_the_query_string(wanted: RetrievalScope) -> None:
    query = QueryDict(mutable=True)
    for name, value in pairs(wanted):
        query.appendlist(name, value)

    assert requested(query.urlencode()) == wanted


@pytest.mark.parametrize("question", ["", "   ", "?!", "\u200b\u200e", "x" * 2001, "a\0b"])
def test_a_question_must_be_one(question: str) -> None:
    assert not AskForm({"question": question}).is_valid()
