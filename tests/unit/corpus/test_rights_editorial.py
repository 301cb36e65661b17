"""The status of a work derives from its events in order."""

from dataclasses import dataclass
from datetime import date

import pytest

from corpus.actions.editorial import EditorialStatus, derive


@dataclass(frozen=True)
class Event:
    kind: str
    year: int
    notice_doi: str = ""

    @property
    def happened_on(self):
        return date(self.year, 1, 1)


RETRACTED = EditorialStatus(is_retracted=True)
CLEAN = EditorialStatus()


@pytest.mark.parametrize("kind", ["retraction", "withdrawal", "removal"])
def test_a_retraction_a_withdrawal_and_a_removal_all_retract(kind):
    assert derive([Event(kind, 2020)]) == RETRACTED


def test_a_work_without_events_is_clean():
    assert derive([]) == CLEAN


def test_a_reinstated_work_is_not_retracted():
    assert derive([Event("retraction", 2018), Event("reinstatement", 2020)]) == CLEAN


def test_the_day_it_happened_counts_not_the_order_of_recording():
    assert derive([Event("reinstatement", 2020), Event("retraction", 2018)]) == CLEAN
    assert derive([Event("retraction", 2021), Event("reinstatement", 2020)]) == RETRACTED


def test_within_one_day_the_order_of_recording_counts():
    assert derive([Event("retraction", 2020), Event("reinstatement", 2020)]) == CLEAN
    assert derive([Event("reinstatement", 2020), Event("retraction", 2020)]) == RETRACTED


def test_a_work_retracted_again_after_a_reinstatement_is_retracted():
    events = [Event("retraction", 2016), Event("reinstatement", 2017), Event("withdrawal", 2019)]

    assert derive(events) == RETRACTED


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_retract_and_replace_leaves_the_old_version_retracted(order):
    events = [Event("retraction", 2020), Event("replacement", 2020)]

    assert derive([events[index] for index in order]) == RETRACTED


def test_the_new_version_of_a_replaced_work_is_usable():
    assert derive([Event("replacement", 2020)]) == CLEAN


def test_concern_and_correction_are_badges_of_their_own():
    events = [Event("expression_of_concern", 2018), Event("correction", 2019)]

    assert derive(events) == EditorialStatus(has_concern=True, is_corrected=True)


def test_a_reinstatement_ends_earlier_concern_but_not_the_correction():
    events = [Event("expression_of_concern", 2018), Event("correction", 2019), Event("reinstatement", 2020)]

    assert derive(events) == EditorialStatus(is_corrected=True)


def test_a_concern_after_a_reinstatement_stands():
    assert derive([Event("reinstatement", 2019), Event("expression_of_concern", 2020)]).has_concern


def test_the_same_notice_reported_late_by_a_second_index_does_not_undo_a_reinstatement():
    events = [
        Event("retraction", 2015, "10.1/notice"),
        Event("reinstatement", 2016),
        Event("retraction", 2017, "10.1/notice"),
    ]

    assert derive(events) == CLEAN


def test_two_retractions_without_a_notice_doi_are_two_retractions():
    events = [Event("retraction", 2015), Event("reinstatement", 2016), Event("retraction", 2017)]

    assert derive(events) == RETRACTED
