"""Accounts and roles in the admin, and how far an administrator may go."""

import pytest
from django.contrib.auth.models import Group, User
from django.urls import reverse

from corpus import ceilings
from corpus.models import AccountEvent, GroupCeilingEvent, MembershipEvent
from corpus.rights import LicenseClass

pytestmark = pytest.mark.django_db

PASSWORD = "a long and uncommon phrase"


@pytest.fixture(autouse=True)
def _signed_in(client, administrator):
    client.force_login(administrator)


def _groups(*names):
    return [Group.objects.get(name=name).pk for name in names]


def test_an_account_made_with_a_role_may_do_what_the_role_says(client):
    response = client.post(
        reverse("admin:auth_user_add"),
        {
            "username": "new",
            "usable_password": "true",
            "password1": PASSWORD,
            "password2": PASSWORD,
            "groups": _groups("librarian"),
        },
    )

    assert response.status_code == 302
    user = User.objects.get(username="new")
    assert user.has_perm("corpus.change_license")
    assert user.is_staff
    assert not user.is_superuser


def test_taking_the_curating_role_away_takes_the_admin_away(client, librarian):
    response = client.post(
        reverse("admin:auth_user_change", args=[librarian.pk]),
        {"username": "librarian", "is_active": "on", "groups": _groups("asker")},
    )

    assert response.status_code == 302
    librarian = User.objects.get(pk=librarian.pk)
    assert not librarian.is_staff
    client.force_login(librarian)
    assert client.get(reverse("admin:index"), follow=True).status_code == 403


def test_a_short_or_common_password_is_refused(client):
    for password in ("short", "password1234"):
        response = client.post(
            reverse("admin:auth_user_add"),
            {"username": "new", "usable_password": "true", "password1": password, "password2": password},
        )
        assert response.status_code == 200
    assert not User.objects.filter(username="new").exists()


def test_an_administrator_cannot_become_superuser_by_adding_the_field_to_the_form(client, administrator):
    client.post(
        reverse("admin:auth_user_change", args=[administrator.pk]),
        {
            "username": "administrator",
            "is_active": "on",
            "is_superuser": "on",
            "groups": _groups("administrator"),
        },
    )

    assert not User.objects.get(pk=administrator.pk).is_superuser


def test_a_superusers_account_and_password_are_out_of_an_administrators_reach(client):
    root = User.objects.create_superuser("root", password=PASSWORD)

    changed = client.post(
        reverse("admin:auth_user_change", args=[root.pk]), {"username": "mine", "is_active": "on"}
    )
    password = client.post(
        reverse("admin:auth_user_password_change", args=[root.pk]),
        {"usable_password": "true", "password1": "another " + PASSWORD, "password2": "another " + PASSWORD},
    )

    assert (changed.status_code, password.status_code) == (403, 403)
    root.refresh_from_db()
    assert root.username == "root"
    assert root.check_password(PASSWORD)


def test_an_administrator_deletes_no_account(client, librarian):
    assert (
        client.post(reverse("admin:auth_user_delete", args=[librarian.pk]), {"post": "yes"}).status_code
        == 403
    )
    assert User.objects.filter(pk=librarian.pk).exists()


def test_changing_a_ceiling_takes_effect_at_once_and_is_recorded_with_who_did_it(
    client, asker, administrator
):
    group = asker.groups.get()

    response = client.post(
        reverse("admin:auth_group_change", args=[group.pk]),
        {
            "name": "asker",
            "permissions": list(group.permissions.values_list("pk", flat=True)),
            "ceiling-TOTAL_FORMS": "1",
            "ceiling-INITIAL_FORMS": "1",
            "ceiling-0-id": group.ceiling.pk,
            "ceiling-0-group": group.pk,
            "ceiling-0-license_classes": ["public"],
            "ceiling-0-buckets": "local\nusda-reports",
        },
    )

    assert response.status_code == 302
    ceiling = ceilings.of(User.objects.get(pk=asker.pk))
    assert ceiling.license_classes == (LicenseClass.PUBLIC,)
    assert ceiling.buckets == ("local", "usda-reports")
    event = GroupCeilingEvent.objects.select_related("pgh_context").latest("pgh_id")
    assert event.license_classes == ["public"]
    assert event.pgh_context.metadata["user"] == administrator.pk


def test_a_new_role_sees_nothing_until_it_is_told_what(client):
    response = client.post(
        reverse("admin:auth_group_add"),
        {"name": "guests", "ceiling-TOTAL_FORMS": "1", "ceiling-INITIAL_FORMS": "0"},
    )

    assert response.status_code == 302
    user = User.objects.create_user("guest")
    user.groups.add(Group.objects.get(name="guests"))
    assert ceilings.of(user).license_classes == ()


def test_membership_and_account_changes_are_recorded_even_when_done_past_the_admin(librarian):
    librarian.groups.clear()
    User.objects.filter(pk=librarian.pk).update(is_superuser=True)

    assert MembershipEvent.objects.filter(pgh_label="member.removed", user=librarian).count() == 1
    assert AccountEvent.objects.filter(pgh_obj_id=librarian.pk, is_superuser=True).count() == 1


def test_signing_in_does_not_fill_the_history(client, librarian):
    before = AccountEvent.objects.count()

    client.post(reverse("login"), {"username": "librarian", "password": "correct horse battery"})

    assert AccountEvent.objects.count() == before
