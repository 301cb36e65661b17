"""A key is let through as often as it may be within any minute: exactly, however many ask at once."""

import os
import subprocess
import sys
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.utils import timezone

from corpus.keys import throttling
from corpus.keys.authentication import authenticate
from corpus.keys.models import ApiKey, KeyUse
from corpus.keys.throttling import RateLimited
from tests.factories.keys import make_key

# Processes, threads of each, uses of each, and how many of them are let through.
CROWDS = [pytest.param(3, 20, 5, 90), pytest.param(4, 50, 1, 20, marks=pytest.mark.long)]


def let_through(secret: str, times: int) -> int:
    passed = 0
    for _ in range(times):
        try:
            throttling.count(authenticate(secret))
            passed += 1
        except RateLimited:
            pass
    return passed


def pass_time(seconds: float) -> None:
    """Let all that was counted be so many seconds longer ago."""
    for use in KeyUse.objects.all():
        use.moments = [moment - timedelta(seconds=seconds) for moment in use.moments]
        use.save()


@pytest.mark.django_db
class TestCounting:
    def test_a_key_is_let_through_as_often_as_it_may(self, asker: User) -> None:
        secret = make_key(asker, requests_per_minute=5).secret.reveal()

        assert let_through(secret, 12) == 5

    def test_a_refusal_says_how_long_to_wait_and_counts_nothing(self, asker: User) -> None:
        secret = make_key(asker, requests_per_minute=2).secret.reveal()
        let_through(secret, 2)
        pass_time(50)

        with pytest.raises(RateLimited) as refused:
            throttling.count(authenticate(secret))

        assert 8 <= refused.value.retry_after <= 10
        pass_time(refused.value.retry_after)
        assert let_through(secret, 5) == 2

    def test_no_minute_holds_more_wherever_it_begins(self, asker: User) -> None:
        secret = make_key(asker, requests_per_minute=4).secret.reveal()

        passed = []
        for _ in range(12):
            passed.append(let_through(secret, 2))
            pass_time(20)

        # Three steps of twenty seconds are a minute.
        assert all(sum(passed[at : at + 3]) <= 4 for at in range(len(passed) - 2))
        assert sum(passed) == 4 * 4

    def test_keys_are_counted_apart(self, asker: User) -> None:
        first, second = (make_key(asker, requests_per_minute=3).secret.reveal() for _ in range(2))

        assert let_through(first, 10) == 3
        assert let_through(second, 10) == 3

    def test_a_lower_limit_holds_at_once_and_a_higher_one_too(self, asker: User) -> None:
        made = make_key(asker, requests_per_minute=6)
        secret = made.secret.reveal()
        assert let_through(secret, 6) == 6

        ApiKey.objects.update(requests_per_minute=3)
        assert let_through(secret, 2) == 0
        ApiKey.objects.update(requests_per_minute=8)
        assert let_through(secret, 9) == 2

    def test_the_row_stays_as_long_as_the_limit(self, asker: User) -> None:
        secret = make_key(asker, requests_per_minute=3).secret.reveal()
        for _ in range(5):
            let_through(secret, 3)
            pass_time(61)

        assert len(KeyUse.objects.get().moments) == 3

    def test_a_clock_that_was_set_back_lets_nobody_through_more_often(self, asker: User) -> None:
        secret = make_key(asker, requests_per_minute=2).secret.reveal()
        let_through(secret, 2)

        pass_time(-3600)

        assert let_through(secret, 3) == 0

    def test_the_last_use_is_noted_once_a_minute(self, asker: User) -> None:
        secret = make_key(asker).secret.reveal()
        let_through(secret, 1)
        first = ApiKey.objects.get().last_used_at
        let_through(secret, 3)

        assert first is not None
        assert abs(timezone.now() - first) < timedelta(minutes=1)
        assert ApiKey.objects.get().last_used_at == first

    def test_a_key_that_is_gone_is_refused_and_not_an_error(self, asker: User) -> None:
        made = make_key(asker)
        caller = authenticate(made.secret.reveal())
        made.key.delete()

        with pytest.raises(RateLimited):
            throttling.count(caller)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(("processes", "threads", "uses", "limit"), CROWDS)
def test_threads_of_several_processes_pass_exactly_as_often_as_one(
    asker: User, processes: int, threads: int, uses: int, limit: int
) -> None:
    key = make_key(asker, requests_per_minute=limit).key
    arguments = [str(connection.settings_dict["NAME"]), *map(str, (key.pk, limit, threads, uses))]
    running = [
        subprocess.Popen(
            [sys.executable, "-m", "tests.integration.corpus.keys.spend", *arguments],
            env=os.environ | {"DJANGO_SETTINGS_MODULE": "tests.settings"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(processes)
    ]
    for process in running:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"

    for process in running:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    passed = [int(process.communicate(timeout=120)[0]) for process in running]

    assert processes * threads * uses > limit
    assert sum(passed) == limit
