"""Which version of a work was in force on a day, also where dates are missing."""

from __future__ import annotations

from datetime import date
from uuid import UUID

import pytest

from corpus.days import InvalidDay, last_day_of
from corpus.versions import Standing, Version, newest, standings, works

A, B, C = (UUID(int=number) for number in (1, 2, 3))
DAY = date(2019, 12, 31)


def chain(*starts: date | None) -> dict[UUID, Version]:
    """Versions that follow each other, the last one current."""
    keys = [UUID(int=number) for number in range(1, len(starts) + 1)]
    following = [*keys[1:], None]
    return {
        key: Version(key, successor, start, is_superseded=successor is not None)
        for key, successor, start in zip(keys, following, starts, strict=True)
    }


def year(number: int) -> date:
    return date(number, 1, 1)


@pytest.mark.parametrize(
    ("starts", "expected"),
    [
        ((year(2016), year(2023)), ("in_force", "not_yet_in_force")),
        ((year(2010), year(2016), year(2023)), ("replaced", "in_force", "not_yet_in_force")),
        ((year(2016), DAY), ("replaced", "in_force")),
        ((year(2016), date(2020, 1, 1)), ("in_force", "not_yet_in_force")),
        ((year(2021), year(2023)), ("not_yet_in_force", "not_yet_in_force")),
        ((None, year(2023)), ("perhaps_in_force", "not_yet_in_force")),
        ((None, year(2016)), ("replaced", "in_force")),
        ((year(2016), None), ("perhaps_in_force", "perhaps_in_force")),
        ((year(2023), None), ("not_yet_in_force", "not_yet_in_force")),
        ((year(2010), None, year(2023)), ("perhaps_in_force", "perhaps_in_force", "not_yet_in_force")),
        ((year(2010), None, year(2016)), ("replaced", "replaced", "in_force")),
        ((None, None), ("perhaps_in_force", "perhaps_in_force")),
        ((year(2016),), ("in_force",)),
    ],
)
def test_a_version_is_in_force_from_its_date_to_that_of_the_next(
    starts: tuple[date | None, ...], expected: tuple[str, ...]
) -> None:
    assert tuple(standings(chain(*starts), DAY).values()) == tuple(map(Standing, expected))


def test_two_versions_may_have_one_successor() -> None:
    versions = {
        A: Version(A, C, year(2010), is_superseded=True),
        B: Version(B, C, year(2012), is_superseded=True),
        C: Version(C, None, year(2016), is_superseded=False),
    }

    assert set(works(versions).values()) == {C}
    assert newest(versions) == {C}
    assert standings(versions, date(2013, 1, 1))[A] is Standing.IN_FORCE


def test_a_circle_that_should_not_be_there_ends() -> None:
    versions = {
        A: Version(A, B, year(2010), is_superseded=True),
        B: Version(B, A, year(2012), is_superseded=True),
    }

    assert set(standings(versions, DAY)) == {A, B}
    assert works(versions).keys() == {A, B}
    assert newest(versions) == frozenset()


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("2019", date(2019, 12, 31)),
        (" 2019-05 ", date(2019, 5, 31)),
        ("2020-02", date(2020, 2, 29)),
        ("2019-05-03", date(2019, 5, 3)),
    ],
)
def test_a_year_and_a_month_stand_for_their_last_day(text: str, day: date) -> None:
    assert last_day_of(text) == day


@pytest.mark.parametrize(
    "text",
    [
        "",
        "19",
        "2019-13",
        "2019-02-30",
        "2019-5-1",
        "0999",
        "3000",
        "20190503",
        "last year",
        "２０１９",
        "2019\0",
    ],
)
def test_what_is_no_day_is_refused_by_name(text: str) -> None:
    with pytest.raises(InvalidDay, match="2019-05-31"):
        last_day_of(text)
