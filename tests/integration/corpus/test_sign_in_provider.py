"""Signing in through a provider: whose account that is, which roles it brings, and when that ends.

The provider is a real server on the loopback range; the site asks it as it would ask any other.
"""

import logging
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from urllib.parse import urlsplit

import pytest
from django.contrib.auth.models import Group, User
from django.db import connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from corpus import ceilings
from corpus.accounts.identities import GroupMapping, Identity, ProviderGrant, ProviderSession
from corpus.accounts.sessions import PersonSession
from corpus.actions import group_mappings, identities
from corpus.gateways import oidc
from corpus.models import MembershipEvent
from corpus.rights import LicenseClass
from tests.loopback.oidc_server import SECRET, OidcServer

pytestmark = pytest.mark.django_db(transaction=True)

OPEN = {LicenseClass.PUBLIC, LicenseClass.OPEN_COMMERCIAL, LicenseClass.OPEN_NONCOMMERCIAL}


@pytest.fixture
def provider(sign_in_provider: OidcServer) -> OidcServer:
    for claimed, role in (("lab", "asker"), ("library", "librarian")):
        GroupMapping.objects.create(claimed=claimed, group=Group.objects.get(name=role))
    sign_in_provider.add("ada", groups=["lab", "unheard-of"], email="ada@lab.example", given_name="Ada")
    return sign_in_provider


def sign_in(client: Client, provider: OidcServer, *, follow: str = ""):
    begun = client.get(reverse("sign_in_provider"), {"next": follow} if follow else {})
    assert begun.status_code == 302, begun.text
    back = urlsplit(provider.approve(begun["Location"]))
    return client.get(f"{back.path}?{back.query}")


def due() -> None:
    """Let time pass until the provider is to be asked again."""
    ProviderSession.objects.update(checked_at=timezone.now() - timedelta(minutes=10))


def roles(user: User) -> set[str]:
    return set(user.groups.values_list("name", flat=True))


def test_the_groups_claimed_are_the_roles_and_the_roles_are_the_ceiling(client, provider):
    response = sign_in(client, provider, follow="/documents/")

    assert (response.status_code, response["Location"]) == (302, "/documents/")
    user = User.objects.get(username="ada")
    assert roles(user) == {"asker"}
    assert set(ceilings.of(user).license_classes) == OPEN
    assert [user.is_staff, user.is_superuser, user.has_usable_password()] == [False] * 3
    assert (user.first_name, user.email) == ("Ada", "ada@lab.example")
    event = MembershipEvent.objects.select_related("pgh_context").get(user=user)
    assert event.pgh_context.metadata["process"] == "sign-in provider"


def test_signing_in_again_finds_the_same_account_whatever_it_is_called_by_now(client, provider):
    sign_in(client, provider)
    provider.people["ada"] |= {"preferred_username": "countess", "email": "other@lab.example"}

    sign_in(Client(), provider)

    assert Identity.objects.get().user.username == "ada"


def test_who_is_in_no_group_of_a_role_gets_no_account(provider):
    for groups in ([], ["unheard-of"], {"lab": 1}, None, True, [["lab"]], "lab,library", 42):
        provider.people["ada"]["groups"], visitor = groups, Client()

        response = sign_in(visitor, provider)

        assert (response.status_code, "no_role" in response.text) == (403, True), groups
        assert "_auth_user_id" not in visitor.session
    assert not User.objects.filter(username="ada").exists()


def test_a_single_group_may_come_as_a_text_or_a_number(client, provider):
    GroupMapping.objects.create(claimed="4711", group=Group.objects.get(name="expert"))
    provider.people["ada"]["groups"] = "lab"
    sign_in(client, provider)
    provider.add("grace", groups=4711)
    sign_in(Client(), provider)

    assert roles(User.objects.get(username="ada")) == {"asker"}
    assert roles(User.objects.get(username="grace")) == {"expert"}


def test_a_claim_with_too_many_groups_admits_nobody(client, provider):
    provider.people["ada"]["groups"] = ["lab", *(f"g{n}" for n in range(2_000))]

    response = sign_in(client, provider)

    assert response.status_code == 403
    assert "too_many_groups" in response.text


def test_a_group_that_curates_opens_the_admin_and_losing_it_closes_it(client, provider):
    provider.people["ada"]["groups"] = ["lab", "library"]
    sign_in(client, provider)
    assert client.get(reverse("admin:index")).status_code == 200

    provider.people["ada"]["groups"] = ["lab"]
    due()

    assert client.get(reverse("admin:index"), follow=True).status_code == 403
    assert roles(User.objects.get(username="ada")) == {"asker"}


# --- Removal narrows the next request -------------------------------------------------------


def test_a_group_taken_away_at_the_provider_narrows_the_next_request_that_is_checked(client, provider):
    sign_in(client, provider)
    user = User.objects.get(username="ada")
    assert client.get("/documents/").status_code == 200
    asked = provider.asked("/token")
    provider.people["ada"]["groups"] = []
    assert client.get("/documents/").status_code == 200
    assert provider.asked("/token") == asked, "it is asked no more often than is set"
    due()

    client.get("/documents/")

    assert roles(user) == set()
    assert ceilings.of(User.objects.get(pk=user.pk)).license_classes == ()
    assert provider.asked("/token") == asked + 1


def test_a_mapping_taken_away_in_the_admin_narrows_at_once_without_asking_anybody(
    client, provider, administrator
):
    sign_in(client, provider)
    user = User.objects.get(username="ada")
    provider.down = True

    mapping = GroupMapping.objects.get(claimed="lab")
    assert group_mappings.effect_of_removing(mapping).lose == ("ada",)
    group_mappings.remove(mapping=mapping, by=administrator)

    assert ceilings.of(User.objects.get(pk=user.pk)).license_classes == ()


def test_a_role_taken_away_by_hand_stays_away_while_it_is_claimed(client, provider):
    sign_in(client, provider)
    user = User.objects.get(username="ada")

    user.groups.clear()
    due()
    client.get("/documents/")
    sign_in(Client(), provider)

    assert roles(user) == set()
    # Lost at the provider and granted there anew, it is the provider's to grant again.
    provider.people["ada"]["groups"] = []
    sign_in(Client(), provider)
    provider.people["ada"]["groups"] = ["lab"]
    sign_in(Client(), provider)
    assert roles(user) == {"asker"}


def test_a_role_granted_by_hand_stays_when_the_provider_takes_its_own_away(client, provider):
    sign_in(client, provider)
    user = User.objects.get(username="ada")
    user.groups.add(Group.objects.get(name="expert"))
    GroupMapping.objects.create(claimed="experts", group=Group.objects.get(name="expert"))
    provider.people["ada"]["groups"] = ["lab", "experts"]
    sign_in(Client(), provider)

    provider.people["ada"]["groups"] = []
    sign_in(Client(), provider)

    assert roles(user) == {"expert"}
    assert not ProviderGrant.objects.exists()


def test_a_mapping_added_reaches_who_is_in_the_group_already(client, provider, administrator):
    sign_in(client, provider)
    expert = Group.objects.get(name="expert")

    assert group_mappings.effect_of_adding(claimed="unheard-of", group=expert).gain == ("ada",)
    group_mappings.add(claimed="unheard-of", group=expert, by=administrator)

    assert roles(User.objects.get(username="ada")) == {"asker", "expert"}


def test_when_the_provider_cannot_be_asked_nothing_is_shown_and_nobody_is_signed_out(client, provider):
    sign_in(client, provider)
    due()
    provider.down = True

    held = client.get("/documents/")

    assert held.status_code == 503
    assert held["Retry-After"] == "30"
    assert "Lab Login cannot be asked" in held.text
    assert client.post(reverse("account_end_session"), {"session": "others"}).status_code == 503
    provider.down = False
    assert client.get("/documents/").status_code == 200


def test_one_may_sign_out_while_the_provider_is_down(client, provider):
    sign_in(client, provider)
    due()
    provider.down = True

    response = client.post(reverse("logout"))

    assert response["Location"] == reverse("signed_out")
    assert not ProviderSession.objects.exists()


def test_who_is_no_longer_vouched_for_is_signed_out(provider):
    for how in ("revoked", "other_userinfo", "session_row", "wrong_issuer"):
        client = Client()
        sign_in(client, provider)
        due()
        if how == "revoked":
            provider.revoked.add("ada")
        elif how == "session_row":
            ProviderSession.objects.all().delete()
        else:
            provider.faults.add(how)

        response = client.get("/documents/")

        assert response["Location"] == f"{reverse('login')}?ended=provider", how
        assert "_auth_user_id" not in client.session
        assert "Lab Login no longer vouches" in client.get(response["Location"]).text
        provider.revoked.clear()
        provider.faults.clear()


def test_a_fragment_asked_for_by_a_script_leads_the_whole_page_to_the_sign_in(client, provider):
    sign_in(client, provider)
    due()
    provider.revoked.add("ada")

    response = client.get("/documents/", headers={"HX-Request": "true"})

    assert (response.status_code, response["HX-Redirect"]) == (401, f"{reverse('login')}?ended=provider")


def test_requests_at_the_same_moment_ask_once_so_that_no_token_is_used_twice(client, provider):
    sign_in(client, provider)
    due()
    asked, provider.wait = provider.asked("/token"), 0.1
    cookies = client.cookies

    def look(_):
        try:
            visitor = Client()
            visitor.cookies = cookies
            return visitor.get("/documents/").status_code
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as crowd:
        statuses = list(crowd.map(look, range(16)))

    assert statuses == [200] * 16
    assert provider.asked("/token") == asked + 1
    assert provider.revoked == set()


def test_roles_lapse_when_the_provider_has_not_spoken_for_a_week(client, provider):
    sign_in(client, provider)
    user = User.objects.get(username="ada")
    Identity.objects.update(confirmed_at=timezone.now() - timedelta(days=6))
    assert identities.lapse() == 0
    Identity.objects.update(confirmed_at=timezone.now() - timedelta(days=8))

    assert identities.lapse() == 1

    assert roles(user) == set()
    sign_in(Client(), provider)
    assert roles(user) == {"asker"}


# --- Whose account it is --------------------------------------------------------------------


def test_an_account_of_the_same_name_and_address_is_never_taken_over(client, provider):
    for superuser in (False, True):
        name = "root" if superuser else "ada"
        User.objects.create_user(
            name, email="ada@lab.example", password="correct horse battery", is_superuser=superuser
        )
    provider.people["ada"] |= {"email_verified": True}

    sign_in(client, provider)
    provider.add("root", groups=["lab"], email="ada@lab.example", email_verified=True)
    sign_in(Client(), provider)

    assert set(Identity.objects.values_list("user__username", flat=True)) == {"ada-2", "root-2"}
    assert not User.objects.get(username="root-2").is_superuser
    assert User.objects.get(username="ada").check_password("correct horse battery")


def test_an_account_that_became_superuser_or_was_switched_off_is_not_signed_in(client, provider):
    sign_in(client, provider)
    for change in ({"is_superuser": True}, {"is_superuser": False, "is_active": False}):
        User.objects.filter(username="ada").update(**change)
        visitor = Client()

        assert sign_in(visitor, provider).status_code == 403
        assert "_auth_user_id" not in visitor.session


def test_the_owner_of_an_account_connects_it_with_the_password(client, provider, expert):
    client.force_login(expert)
    assert client.get(reverse("sign_in_provider"))["Location"] == reverse("ask")
    wrong = client.post(reverse("account_connect"), {"password": "wrong"})
    assert wrong.status_code == 422
    assert client.post(reverse("account_connect"), {"password": "correct horse battery"}).status_code == 302

    response = sign_in(client, provider)

    assert response["Location"] == reverse("account")
    assert roles(expert) == {"expert", "asker"}
    visitor = Client()
    sign_in(visitor, provider)
    assert visitor.session["_auth_user_id"] == str(expert.pk)


def test_connecting_is_refused_for_superusers_and_for_what_is_somebodys_already(client, provider, expert):
    sign_in(Client(), provider)
    for user in (expert, User.objects.create_superuser("root", password="correct horse battery")):
        visitor = Client()
        visitor.force_login(user)
        visitor.post(reverse("account_connect"), {"password": "correct horse battery"})

        assert sign_in(visitor, provider).status_code == 403
        assert not user.identities.exists()


# --- The attempt ----------------------------------------------------------------------------


def test_a_reply_is_taken_once_and_only_in_the_browser_that_began(client, provider):
    begun = client.get(reverse("sign_in_provider"))
    back = urlsplit(provider.approve(begun["Location"]))
    address = f"{back.path}?{back.query}"

    stranger = Client().get(address)
    first, again = client.get(address), client.get(address)

    assert (stranger.status_code, first.status_code, again.status_code) == (403, 302, 403)
    assert "not_begun_here" in stranger.text
    assert PersonSession.objects.filter(person__isnull=False).count() == 1


FAILURES = {
    "denied": (403, "no_code"),
    "other_iss": (403, "other_issuer"),
    "wrong_nonce": (403, "untrusted"),
    "alg_none": (403, "untrusted"),
    "token_error": (503, "unavailable"),
    "garbage": (503, "unreadable"),
}


def test_what_goes_wrong_there_is_a_page_that_says_so_and_signs_nobody_in(client, provider):
    for fault, (status, code) in FAILURES.items():
        begun = client.get(reverse("sign_in_provider"))
        provider.faults.add(fault)
        if fault == "garbage":
            oidc.forget()
        back = urlsplit(provider.approve(begun["Location"]))

        response = client.get(f"{back.path}?{back.query}")

        assert (response.status_code, f"<code>{code}</code>" in response.text) == (status, True), fault
        provider.faults.clear()
    assert not User.objects.filter(username="ada").exists()


def test_while_the_provider_is_down_passwords_go_on_working(client, provider, asker):
    provider.down = True

    response = client.get(reverse("sign_in_provider"))

    assert response.status_code == 503
    assert "Lab Login cannot be asked" in response.text
    done = client.post(reverse("login"), {"username": "asker", "password": "correct horse battery"})
    assert done.status_code == 302


def test_a_link_from_another_site_signs_nobody_in(client, provider):
    response = client.get(reverse("sign_in_provider"), headers={"Sec-Fetch-Site": "cross-site"})

    assert response["Location"] == reverse("login")


def test_signing_in_leads_to_this_site_only(provider):
    for target in ("https://evil.example/", "//evil.example/", "javascript:alert(1)", "/\\evil", "x" * 5_000):
        assert sign_in(Client(), provider, follow=target)["Location"] == reverse("ask"), target


def test_the_session_has_another_key_afterwards_and_nothing_of_before(client, provider):
    client.get(reverse("sign_in_provider"))
    before = client.session.session_key

    sign_in(client, provider)

    assert client.session.session_key != before
    assert not PersonSession.objects.filter(session_key=before).exists()


def test_without_a_provider_there_is_no_button_and_nothing_behind_it(client, settings):
    assert "provider" not in client.get(reverse("login")).text
    for route in ("sign_in_provider", "sign_in_finish", "sign_out_provider"):
        assert client.get(reverse(route)).status_code == 404


def test_signing_out_offers_to_sign_out_there_too(client, provider):
    sign_in(client, provider)

    page = client.get(client.post(reverse("logout"))["Location"])

    assert reverse("sign_out_provider") in page.text
    there = client.get(reverse("sign_out_provider"))["Location"]
    assert there.startswith(f"{provider.issuer}/logout?client_id=sci-rag&post_logout_redirect_uri=")
    provider.faults.add("no_sign_out")
    oidc.forget()
    assert client.get(reverse("sign_out_provider")).status_code == 404


def test_two_first_sign_ins_at_once_make_one_account(provider):
    def arrive(_):
        try:
            return sign_in(Client(), provider).status_code
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as crowd:
        statuses = list(crowd.map(arrive, range(4)))

    assert statuses == [302] * 4
    assert User.objects.filter(username__startswith="ada").count() == 1


def test_nothing_secret_is_logged_or_kept_in_the_clear(client, provider, caplog):
    caplog.set_level(logging.DEBUG)
    sign_in(client, provider)
    due()
    client.get("/documents/")
    provider.faults.add("wrong_nonce")
    sign_in(Client(), provider)
    provider.faults.clear()
    provider.revoked.add("ada")
    due()
    client.get("/documents/")

    tokens = {*provider._access, *provider._refresh, *provider.issued}
    assert len(tokens) >= 4
    said = caplog.text
    assert not [word for word in (*tokens, SECRET, "ada@lab.example") if word in said]
    with connection.cursor() as cursor:
        cursor.execute("SELECT session_data FROM corpus_personsession")
        kept = str(cursor.fetchall())
        cursor.execute("SELECT convert_from(tokens, 'UTF8') FROM corpus_providersession")
        kept += str(cursor.fetchall())
    assert not [word for word in (*tokens, SECRET) if word in kept]
