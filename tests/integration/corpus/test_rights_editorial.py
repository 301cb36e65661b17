"""Recording and withdrawing editorial events, and what they do to a work's status."""

from datetime import date

import pytest

from corpus.actions.editorial import record_event, withdraw_event
from corpus.models import EditorialEvent, EditorialEventHistory, Source
from tests.factories.corpus import EditorialEventFactory, SourceFactory

pytestmark = pytest.mark.django_db

DAY = date(2021, 3, 4)


def test_recording_a_retraction_marks_the_work_at_once_and_says_who(librarian):
    source = SourceFactory()

    event = record_event(
        source=source, kind="retraction", origin="manual", happened_on=DAY, by=librarian, note="Letter"
    )

    assert source.is_retracted
    assert Source.objects.get(pk=source.pk).is_retracted
    assert (event.recorded_by, event.note) == (librarian, "Letter")
    history = EditorialEventHistory.objects.select_related("pgh_context").get()
    assert history.pgh_context.metadata == {"user": librarian.pk, "reason": "Letter"}


def test_the_same_assertion_of_the_same_origin_is_recorded_once():
    source = SourceFactory()

    for notice in ("10.1234/N", "https://doi.org/10.1234/n"):
        record_event(source=source, kind="retraction", origin="crossref", happened_on=DAY, notice_doi=notice)

    assert EditorialEvent.objects.get().notice_doi == "10.1234/n"


def test_a_notice_doi_that_is_none_identifies_no_notice():
    event = record_event(
        source=SourceFactory(),
        kind="retraction",
        origin="crossref",
        happened_on=DAY,
        notice_doi="unavailable",
    )

    assert event.notice_doi == ""


def test_the_notice_itself_is_not_a_retracted_work():
    work = SourceFactory()
    notice = SourceFactory(title="Retraction: Work", identifier_value="10.1234/notice")

    record_event(
        source=work, kind="retraction", origin="crossref", happened_on=DAY, notice_doi="10.1234/notice"
    )

    notice.refresh_from_db()
    assert work.is_retracted
    assert not notice.is_retracted


def test_reinstating_a_retracted_work_clears_it():
    source = SourceFactory()
    record_event(source=source, kind="retraction", origin="crossref", happened_on=DAY)

    record_event(source=source, kind="reinstatement", origin="crossref", happened_on=date(2022, 1, 1))

    assert not source.is_retracted


def test_withdrawing_an_event_entered_by_mistake_derives_the_status_anew_and_stays_in_the_history(librarian):
    source = SourceFactory()
    event = record_event(source=source, kind="retraction", origin="manual", happened_on=DAY, by=librarian)

    withdraw_event(event=event, by=librarian)

    assert not Source.objects.get(pk=source.pk).is_retracted
    assert set(EditorialEventHistory.objects.values_list("pgh_label", flat=True)) == {"insert", "delete"}


def test_what_an_index_asserted_may_not_be_withdrawn(librarian):
    event = EditorialEventFactory(origin="crossref")

    with pytest.raises(ValueError, match="crossref may not be withdrawn"):
        withdraw_event(event=event, by=librarian)

    assert EditorialEvent.objects.filter(pk=event.pk).exists()
