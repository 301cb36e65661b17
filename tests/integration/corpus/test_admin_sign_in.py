"""Sign-in attempts: throttled by name and address, telling nobody which names exist."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from axes.models import AccessAttempt
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone

pytestmark = pytest.mark.django_db

RIGHT = "correct horse battery"


def _attempt(client, name, password=None, **extra):
    return client.post(reverse("login"), {"username": name, "password": password or "wrong"}, **extra)


def test_ten_failures_pause_the_name_from_that_address_even_with_the_right_password(client, librarian):
    statuses = [_attempt(client, "librarian").status_code for _ in range(10)]

    assert statuses == [200] * 9 + [429]
    locked = _attempt(client, "librarian", RIGHT)
    assert locked.status_code == 429
    assert "15 minutes" in locked.text
    assert "_auth_user_id" not in client.session


def test_nine_failures_and_a_success_start_the_count_anew(client, librarian):
    for _ in range(9):
        _attempt(client, "librarian")

    assert _attempt(client, "librarian", RIGHT).status_code == 302
    assert not AccessAttempt.objects.exists()


def test_another_address_and_another_name_are_not_paused(client, librarian, asker):
    for _ in range(10):
        _attempt(client, "librarian")

    assert _attempt(client, "librarian", RIGHT, REMOTE_ADDR="10.0.0.9").status_code == 302
    assert _attempt(Client(), "asker", RIGHT).status_code == 302


def test_the_pause_ends_after_a_quarter_of_an_hour(client, librarian):
    for _ in range(10):
        _attempt(client, "librarian")
    AccessAttempt.objects.update(attempt_time=timezone.now() - timedelta(minutes=16))

    assert _attempt(client, "librarian", RIGHT).status_code == 302


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
def test_guesses_sent_at_once_are_counted_together(librarian):
    def guess(_):
        try:
            return _attempt(Client(), "librarian").status_code
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as crowd:
        statuses = list(crowd.map(guess, range(40)))

    assert statuses.count(200) <= 12
    assert _attempt(Client(), "librarian", RIGHT).status_code == 429
