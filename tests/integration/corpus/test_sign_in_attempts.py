"""Sign-in attempts: throttled by name and address, telling nobody which names exist."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.db.models import F
from django.test import Client
from django.urls import reverse

from corpus.accounts import attempts
from corpus.accounts.attempts import SignInCount

pytestmark = pytest.mark.django_db

RIGHT = "correct horse battery"


def _attempt(client, name, password=None, **extra):
    return client.post(reverse("login"), {"username": name, "password": password or "wrong"}, **extra)


def test_ten_failures_pause_the_name_from_that_address_even_with_the_right_password(client, librarian):
    statuses = [_attempt(client, "librarian").status_code for _ in range(10)]

    assert statuses == [200] * 9 + [429]
    locked = _attempt(client, "librarian", RIGHT)
    until = SignInCount.objects.get(until__isnull=False).until
    assert locked.status_code == 429
    assert "another 15 minutes" in locked.text
    assert f"after {until:%H:%M} UTC" in locked.text
    assert 0 < int(locked["Retry-After"]) <= 900
    assert "_auth_user_id" not in client.session


def test_nine_failures_and_a_success_start_the_count_anew(client, librarian):
    for _ in range(9):
        _attempt(client, "librarian")

    assert _attempt(client, "librarian", RIGHT).status_code == 302
    assert [_attempt(Client(), "librarian").status_code for _ in range(9)] == [200] * 9


def test_another_address_and_another_name_are_not_paused(client, librarian, asker):
    for _ in range(10):
        _attempt(client, "librarian")

    assert _attempt(client, "librarian", RIGHT, REMOTE_ADDR="10.0.0.9").status_code == 302
    assert _attempt(Client(), "asker", RIGHT).status_code == 302


def test_the_pause_ends_after_a_quarter_of_an_hour(client, librarian):
    for _ in range(10):
        _attempt(client, "librarian")
    _minutes_pass(16)

    assert _attempt(client, "librarian", RIGHT).status_code == 302


def _minutes_pass(minutes):
    past = timedelta(minutes=minutes)
    SignInCount.objects.update(since=F("since") - past, until=F("until") - past)


def test_a_pause_grows_and_ends_by_itself_so_that_nobody_is_kept_out_for_good(client, librarian):
    waits = []
    for _ in range(5):
        answers = [_attempt(client, "librarian") for _ in range(11)]
        assert [answer.status_code for answer in answers] == [200] * 9 + [429] * 2
        waits.append(round(int(answers[-1]["Retry-After"]) / 60))
        _minutes_pass(waits[-1])

    assert waits == [15, 30, 60, 120, 120]
    assert _attempt(client, "librarian", RIGHT).status_code == 302


def test_guesses_from_everywhere_pause_the_name_but_not_the_browser_its_owner_knows(client, librarian):
    _attempt(client, "librarian", RIGHT)
    client.post(reverse("logout"))

    statuses = [
        _attempt(Client(), "librarian", REMOTE_ADDR=f"203.0.113.{number // 9}").status_code
        for number in range(60)
    ]

    assert statuses == [200] * 49 + [429] * 11
    assert _attempt(Client(), "librarian", RIGHT, REMOTE_ADDR="198.51.100.1").status_code == 429
    assert _attempt(client, "librarian", RIGHT, REMOTE_ADDR="198.51.100.1").status_code == 302


def test_a_browser_that_knows_one_name_is_unknown_for_another_and_cannot_be_forged(client, asker, librarian):
    _attempt(client, "asker", RIGHT)
    client.post(reverse("logout"))
    for _ in range(10):
        _attempt(Client(), "librarian")

    assert _attempt(client, "librarian", RIGHT).status_code == 429
    client.cookies["known-device"] = f"{attempts.name_key('librarian')}.mine"
    assert _attempt(client, "librarian", RIGHT).status_code == 429


def test_one_address_that_tries_many_names_has_to_wait_and_others_do_not(client, asker):
    statuses = [_attempt(client, f"name-{number}").status_code for number in range(105)]

    assert statuses == [200] * 99 + [429] * 6
    assert _attempt(client, "asker", RIGHT).status_code == 429
    assert _attempt(client, "asker", RIGHT, REMOTE_ADDR="203.0.113.7").status_code == 302


def test_success_does_not_let_an_address_go_on_trying_other_names(client, asker):
    for number in range(95):
        _attempt(client, f"name-{number}")
    assert _attempt(Client(), "asker", RIGHT).status_code == 302

    statuses = [_attempt(client, f"more-{number}").status_code for number in range(6)]

    assert statuses == [200] * 4 + [429] * 2


def test_addresses_of_one_ipv6_network_are_one(client, librarian):
    for number in range(10):
        _attempt(client, "librarian", REMOTE_ADDR=f"2001:db8::{number:x}")

    assert _attempt(client, "librarian", RIGHT, REMOTE_ADDR="2001:db8::ffff").status_code == 429
    assert _attempt(client, "librarian", RIGHT, REMOTE_ADDR="2001:db8:0:1::1").status_code == 302


def test_what_was_typed_is_not_kept(client, db):
    _attempt(client, "my secret password by mistake", "x")

    assert "secret" not in str(list(SignInCount.objects.values()))
    assert SignInCount.objects.count() == 3


@pytest.mark.parametrize("name", ["a" * 5_000, "%ED%A0%80", "%27%20OR%201=1%20--", "%E2%80%AEadmin", "%FF"])
def test_no_name_makes_an_error(client, db, name):
    form = f"username={name}&password=x"

    response = client.post(reverse("login"), form, content_type="application/x-www-form-urlencoded")

    assert response.status_code == 200


def test_counts_that_hold_nobody_back_are_forgotten(client, librarian):
    for _ in range(10):
        _attempt(client, "librarian")
    assert attempts.forget_old() == 0
    _minutes_pass(3 * 24 * 60)

    assert attempts.forget_old() == 3


def test_a_name_that_exists_and_one_that_does_not_get_the_same_answers(db):
    User.objects.create_user("quillon", password=RIGHT)

    def answers(name):
        visitor = Client()
        pages = [_attempt(visitor, name) for _ in range(11)]
        return [(page.status_code, _neutral(page.text, name)) for page in pages]

    assert answers("quillon") == answers("quisling")


def _neutral(page, name):
    return "\n".join(
        line for line in page.replace(name, "NAME").splitlines() if "csrfmiddlewaretoken" not in line
    )


def test_signing_in_gives_a_new_session_key(client, librarian):
    session = client.session
    session["planted"] = True
    session.save()
    before = session.session_key
    client.cookies["sessionid"] = before

    _attempt(client, "librarian", RIGHT)

    assert client.session.session_key != before


def test_the_admin_has_no_second_door(client, librarian):
    response = client.post(
        reverse("admin:login"), {"username": "librarian", "password": RIGHT, "next": "/admin/"}
    )

    assert response.status_code == 302
    assert response["Location"].startswith(reverse("login"))
    assert "_auth_user_id" not in client.session


def test_signing_in_leads_back_to_the_admin_screen_that_was_asked_for(client, librarian):
    wanted = reverse("admin:corpus_document_changelist")

    page = client.get(wanted, follow=True)
    done = client.post(
        page.request["PATH_INFO"], {"username": "librarian", "password": RIGHT, "next": page.context["next"]}
    )

    assert done["Location"] == wanted


@pytest.mark.django_db(transaction=True)
def test_of_guesses_sent_at_once_exactly_ten_are_compared(librarian, asker):
    def guess(_):
        try:
            return _attempt(Client(), "librarian").status_code
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as crowd:
        statuses = list(crowd.map(guess, range(40)))

    # The tenth is compared and told of the pause that begins with it.
    assert statuses.count(200) == 9
    assert _attempt(Client(), "librarian", RIGHT).status_code == 429
    assert _attempt(Client(), "asker", RIGHT).status_code == 302


@pytest.mark.django_db(transaction=True)
def test_twenty_threads_in_each_of_three_processes_get_ten_comparisons_together(librarian, asker):
    crowd = [
        subprocess.Popen(
            [sys.executable, "-m", "tests.loopback.guessing_process", _database(), "librarian", "20"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )
        for _ in range(3)
    ]  # fmt: skip
    assert [process.stdout.readline() for process in crowd] == ["ready\n"] * 3
    for process in crowd:
        process.stdin.write("go\n")
        process.stdin.flush()

    compared = [int(process.communicate(timeout=60)[0]) for process in crowd]

    assert sum(compared) == 10, compared
    assert _attempt(Client(), "librarian", RIGHT).status_code == 429
    assert _attempt(Client(), "asker", RIGHT).status_code == 302


def _database():
    return str(connection.settings_dict["NAME"])
