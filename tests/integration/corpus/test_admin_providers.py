"""Groups of the provider in the admin, the page of an account, and ending its sessions there."""

import pytest
from django.contrib.auth.models import Group, User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from corpus.accounts.identities import GroupMapping, Identity
from corpus.accounts.sessions import PersonSession
from corpus.actions import identities
from corpus.models import GroupMappingEvent

pytestmark = pytest.mark.django_db


@pytest.fixture
def ada(db):
    user = User.objects.create_user("ada")
    claimed = ["lab", "library"]
    Identity.objects.create(
        user=user, issuer="https://p.example", subject="1", claimed=claimed, confirmed_at=timezone.now()
    )
    return user


def _add(client, claimed, role, confirmed=None):
    form = {"claimed": claimed, "group": Group.objects.get(name=role).pk}
    if confirmed is not None:
        form["confirmed"] = confirmed
    return client.post(reverse("admin:corpus_groupmapping_add"), form)


def test_a_mapping_shows_what_follows_before_it_does_it_and_is_recorded(client, administrator, ada):
    client.force_login(administrator)
    shown = _add(client, "library", "librarian")

    assert "1 account gets the role at once: ada" in " ".join(shown.text.split())
    assert "This role opens the admin." in shown.text
    assert not GroupMapping.objects.exists()
    done = _add(client, "library", "librarian", confirmed=shown.context["shown"])

    assert done.status_code == 302
    ada.refresh_from_db()
    assert ada.is_staff
    assert ada.groups.get().name == "librarian"
    event = GroupMappingEvent.objects.select_related("pgh_context").get()
    assert (event.claimed, event.pgh_context.metadata["user"]) == ("library", administrator.pk)
    assert "library" in client.get(reverse("admin:corpus_groupmapping_changelist")).text


def test_what_was_changed_after_it_was_shown_is_shown_again(client, administrator, ada):
    client.force_login(administrator)
    shown = _add(client, "lab", "asker")

    again = _add(client, "library", "librarian", confirmed=shown.context["shown"])

    assert again.status_code == 200
    assert not GroupMapping.objects.exists()


@pytest.mark.parametrize("claimed", ["", " lab", "lab\n", "x" * 300, "la\0b"])
def test_a_group_that_no_provider_could_claim_is_refused_in_words(client, administrator, claimed):
    client.force_login(administrator)

    response = _add(client, claimed, "asker")

    assert response.status_code == 422
    assert not GroupMapping.objects.exists()


def test_a_mapping_stands_once(client, administrator):
    GroupMapping.objects.create(claimed="lab", group=Group.objects.get(name="asker"))
    client.force_login(administrator)

    assert "stands for this role already" in _add(client, "lab", "asker").text


def test_removing_a_mapping_names_who_loses_the_role_and_leaves_who_has_it_otherwise(
    client, administrator, ada, expert
):
    asker = Group.objects.get(name="asker")
    lab, _ = (GroupMapping.objects.create(claimed=name, group=asker) for name in ("lab", "other"))
    identities.synchronise(ada.identities.get())
    expert.groups.add(asker)
    client.force_login(administrator)
    page = reverse("admin:corpus_groupmapping_remove", args=[lab.pk])
    assert "1 account loses the role at once: ada" in " ".join(client.get(page).text.split())

    assert client.post(page).status_code == 302

    assert not ada.groups.exists()
    assert expert.groups.filter(name="asker").exists()


def test_only_administrators_map_groups(client, librarian):
    mapping = GroupMapping.objects.create(claimed="lab", group=Group.objects.get(name="asker"))
    client.force_login(librarian)

    assert _add(client, "library", "administrator").status_code == 403
    assert client.post(reverse("admin:corpus_groupmapping_remove", args=[mapping.pk])).status_code == 403
    assert GroupMapping.objects.count() == 1


def test_the_page_of_an_account_says_what_it_may_see_and_by_whom_that_was_granted(client, administrator, ada):
    GroupMapping.objects.create(claimed="lab", group=Group.objects.get(name="asker"))
    identities.synchronise(ada.identities.get())
    ada.groups.add(Group.objects.get(name="expert"))
    client.force_login(administrator)

    page = " ".join(client.get(reverse("admin:auth_user_change", args=[ada.pk])).text.split())

    assert "the provider, for <code>lab</code>" in page
    assert "an administrator, by hand" in page
    assert "Open, non-commercial" in page
    assert "Nowhere" in page


def test_an_administrator_ends_the_sessions_of_others_and_not_of_superusers(client, administrator, asker):
    root = User.objects.create_superuser("root")
    visitors = {user.pk: Client() for user in (asker, root)}
    for user in (asker, root):
        visitors[user.pk].force_login(user)
    client.force_login(administrator)
    asked = {"action": "end_sessions", "_selected_action": [asker.pk, root.pk]}
    page = client.post(reverse("admin:auth_user_changelist"), asked)
    assert "asker: 1 session" in page.text
    assert PersonSession.objects.filter(person=asker).count() == 1

    client.post(reverse("admin:auth_user_changelist"), asked | {"confirmed": "1"})

    assert visitors[asker.pk].get("/documents/").status_code == 302
    assert visitors[root.pk].get("/documents/").status_code == 200
