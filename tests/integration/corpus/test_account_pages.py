"""Sessions and passwords of one's own: how long they last, who ends them, and what ends with them."""

import time
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from corpus import session_store
from corpus.accounts.sessions import PersonSession

pytestmark = pytest.mark.django_db

RIGHT, NEW = "correct horse battery", "a long and uncommon phrase"


def _signed_in(user, **extra):
    visitor = Client(**extra)
    visitor.force_login(user)
    return visitor


def _is_in(visitor):
    return visitor.get("/documents/").status_code == 200


def _move(visitor, **changes):
    session = visitor.session
    session.update(changes)
    session.save()


def test_a_session_ends_after_eight_hours_without_use(asker):
    visitor = _signed_in(asker)
    left = PersonSession.objects.get(person=asker).expire_date - timezone.now()
    assert timedelta(hours=7, minutes=59) < left <= timedelta(hours=8)

    PersonSession.objects.update(expire_date=timezone.now())

    assert not _is_in(visitor)


def test_use_keeps_a_session_alive_but_not_for_longer_than_a_week(asker):
    visitor, now = _signed_in(asker), int(time.time())
    _move(visitor, seen=now - 3600, begun=now - 3600)
    PersonSession.objects.update(expire_date=timezone.now() + timedelta(hours=1))

    response = visitor.get("/documents/")

    row = PersonSession.objects.get(person=asker)
    assert row.expire_date - timezone.now() > timedelta(hours=7)
    assert response.cookies["sessionid"]["httponly"]
    assert response.cookies["sessionid"]["samesite"] == "Lax"
    _move(visitor, seen=now - 3600, begun=now - session_store.LONGEST + 60)
    visitor.get("/documents/")
    assert PersonSession.objects.get(person=asker).expire_date - timezone.now() <= timedelta(seconds=60)
    _move(visitor, begun=now - session_store.LONGEST - 1)
    assert not _is_in(visitor)


def test_a_clock_that_was_put_back_lengthens_no_session(asker):
    visitor = _signed_in(asker)
    _move(visitor, begun=int(time.time()) + 10 * 24 * 3600)

    assert PersonSession.objects.get(person=asker).expire_date - timezone.now() <= timedelta(hours=8)


def test_a_request_writes_the_session_at_most_every_five_minutes(asker, django_assert_num_queries):
    visitor = _signed_in(asker)
    with django_assert_num_queries(0):
        Client().get(reverse("healthz"))
    before = PersonSession.objects.get(person=asker).expire_date

    _is_in(visitor)

    assert PersonSession.objects.get(person=asker).expire_date == before


def test_people_see_their_own_sessions_and_end_them(asker, librarian):
    mine, other, strangers = _signed_in(asker), _signed_in(asker), _signed_in(librarian)
    page = mine.get(reverse("account"))
    rows = [row for row, is_this in page.context["sessions"] if not is_this]
    assert len(rows) == 1
    assert rows[0].session_key not in page.text
    ending = reverse("account_end_session")
    foreign = PersonSession.objects.get(person=librarian)

    for number in (foreign.number, foreign.session_key, "x"):
        mine.post(ending, {"session": str(number)})
    assert _is_in(strangers)
    mine.post(ending, {"session": str(rows[0].number)})

    assert (_is_in(mine), _is_in(other)) == (True, False)


def test_all_other_sessions_end_together(asker):
    mine, others = _signed_in(asker), [_signed_in(asker) for _ in range(3)]

    mine.post(reverse("account_end_session"), {"session": "others"})

    assert _is_in(mine)
    assert not any(map(_is_in, others))
    assert PersonSession.objects.filter(person=asker).count() == 1


def test_a_new_password_ends_every_other_session_and_changes_this_ones_key(asker):
    mine, other = _signed_in(asker), _signed_in(asker)
    before = mine.session.session_key
    wrong = {"old_password": "wrong", "new_password1": NEW, "new_password2": NEW}
    assert mine.post(reverse("account_password"), wrong).status_code == 200
    assert _is_in(other)

    done = mine.post(reverse("account_password"), wrong | {"old_password": RIGHT})

    assert done["Location"] == reverse("account")
    assert (_is_in(mine), _is_in(other)) == (True, False)
    assert mine.session.session_key != before
    assert PersonSession.objects.filter(person=asker).count() == 1
    assert User.objects.get(pk=asker.pk).check_password(NEW)


def test_switching_an_account_off_ends_its_sessions_for_good_however_it_is_done(asker):
    visitor = _signed_in(asker)

    User.objects.filter(pk=asker.pk).update(is_active=False)
    User.objects.filter(pk=asker.pk).update(is_active=True)

    assert not _is_in(visitor)
    assert not PersonSession.objects.filter(person=asker).exists()


def test_who_has_no_password_here_changes_and_connects_none(asker):
    asker.set_unusable_password()
    asker.save()
    visitor = _signed_in(asker)

    assert "Change your password" not in visitor.get(reverse("account")).text
    assert visitor.get(reverse("account_password")).status_code == 404
    assert visitor.post(reverse("account_connect"), {"password": RIGHT}).status_code == 404


def test_the_account_says_what_one_may_see(asker):
    page = _signed_in(asker).get(reverse("account")).text

    assert "Open, non-commercial" in page
    assert "an administrator, by hand" in page
    asker.groups.clear()
    assert "Nothing: no role allows it." in _signed_in(asker).get(reverse("account")).text


@pytest.mark.parametrize(
    "changes",
    [
        {"SCI_RAG_OIDC_ISSUER": "http://login.example"},
        {"SCI_RAG_OIDC_ISSUER": "https://10.0.0.1"},
        {"SCI_RAG_OIDC_CLIENT_ID": ""},
        {"SCI_RAG_OIDC_SCOPES": "profile"},
        {"SCI_RAG_OIDC_CLIENT_SECRET": "geheim\u00e4"},
        {"SCI_RAG_OIDC_GROUPS_CLAIM": " "},
        {"SCI_RAG_OIDC_CHECK_SECONDS": 0},
        {"SCI_RAG_OIDC_CHECK_SECONDS": 86_400},
    ],
)
def test_half_a_provider_is_refused_at_start_with_the_name_of_the_setting(settings, changes):
    from corpus.accounts.checks import provider_is_set_up

    settings.SCI_RAG_OIDC_ISSUER, settings.SCI_RAG_OIDC_CLIENT_ID = "https://login.example.org/x", "sci-rag"
    assert provider_is_set_up(None) == []
    for name, value in changes.items():
        setattr(settings, name, value)

    (found,) = provider_is_set_up(None)

    assert next(iter(changes)) in found.msg
    settings.SCI_RAG_OIDC_ISSUER = ""
    assert provider_is_set_up(None) == []
