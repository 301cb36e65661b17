"""How often a password may be tried, as rules of one count."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from corpus.accounts.guessing import ADDRESS, NAME, PAIR, Count, attempt

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


def tried(times, rule=PAIR, count=None, at=NOON):
    count, through = count or Count(), 0
    for _ in range(times):
        after = attempt(count, rule, at)
        if after is not None:
            count, through = after, through + 1
    return count, through


def test_the_tenth_attempt_begins_a_pause_of_a_quarter_of_an_hour():
    count, through = tried(50)

    assert through == 10
    assert count.until == NOON + 15 * MINUTE


def test_a_pause_that_follows_another_is_longer_up_to_two_hours():
    count, at, lengths = Count(), NOON, []
    for _ in range(6):
        count, through = tried(50, count=count, at=at)
        assert through == 10
        lengths.append((count.until - at) / MINUTE)
        at = count.until

    assert lengths == [15, 30, 60, 120, 120, 120]


def test_after_a_quiet_day_a_pause_is_short_again():
    count, _ = tried(10)
    count, _ = tried(10, count=count, at=count.until)
    later = count.until + timedelta(hours=24)

    count, _ = tried(10, count=count, at=later)

    assert count.until == later + 15 * MINUTE


def test_the_pause_of_a_name_does_not_grow_so_that_nobody_is_kept_out():
    count, at = Count(), NOON
    for _ in range(20):
        count, through = tried(200, NAME, count, at)
        assert through == 50
        assert count.until - at == 15 * MINUTE
        at = count.until


def test_attempts_far_apart_are_not_added_up():
    count = Count()
    for step in range(100):
        count = attempt(count, PAIR, NOON + step * 2 * MINUTE)
        assert count is not None


@given(st.lists(st.integers(0, 3600), max_size=200), st.sampled_from([PAIR, NAME, ADDRESS]))
def test_in_no_stretch_as_long_as_the_window_do_more_than_twice_the_limit_come_through(steps, rule):
    count, at, through = Count(), NOON, []
    for step in steps:
        at += timedelta(seconds=step)
        after = attempt(count, rule, at)
        if after is None:
            assert at < count.until <= at + rule.longest
        else:
            count = after
            through.append(at)

    for first in through:
        assert sum(first <= one < first + rule.window for one in through) <= 2 * rule.most
