"""Signing in through a provider, in a browser: the pages' strict policy holds all the way there and back."""

from datetime import timedelta
from urllib.parse import urlsplit

import pytest
from django.contrib.auth.models import Group
from django.utils import timezone
from playwright.sync_api import Browser, expect

from corpus.accounts.identities import GroupMapping, ProviderSession
from tests.factories.corpus import ChunkFactory, DocumentFactory
from tests.functional.conftest import Visit
from tests.loopback.oidc_server import OidcServer

pytestmark = pytest.mark.browser


class Traveller(Visit):
    """A window that may go to the provider and nowhere else."""

    provider = ""

    def _stays_here(self, request: object) -> None:
        if not request.url.startswith((self.provider, "data:")):  # type: ignore[attr-defined]
            super()._stays_here(request)


@pytest.fixture
def traveller(browser: Browser, server: str, sign_in_provider: OidcServer):
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    visit = Traveller(context, server)
    visit.provider = sign_in_provider.issuer
    yield visit
    context.close()
    assert visit.complaints == []


def test_the_claimed_group_is_the_ceiling_and_its_removal_narrows_the_next_request(
    traveller: Traveller, sign_in_provider: OidcServer
) -> None:
    GroupMapping.objects.create(claimed="lab", group=Group.objects.get(name="asker"))
    for title, license_class in (("Switchgrass yields", "open_commercial"), ("Secret trial", "restricted")):
        document = DocumentFactory(title=title, license_class=license_class)
        ChunkFactory(document=document, ordinal=0, body="Plots were cut twice.")
    sign_in_provider.add("ada", groups=["lab"])
    page = traveller.page

    traveller.open("/documents/")
    page.get_by_role("link", name="Sign in with Lab Login").click()
    expect(page.get_by_role("heading", name="Provider")).to_be_visible()
    page.get_by_role("link", name="Yes, it is me").click()

    # Back where one wanted to go, with what the group allows and no more.
    expect(page).to_have_url(f"{traveller.server}/documents/")
    expect(page.get_by_role("link", name="Switchgrass yields")).to_be_visible()
    expect(page.get_by_text("Secret trial")).to_have_count(0)
    page.get_by_role("link", name="ada", exact=True).click()
    expect(page.get_by_role("listitem").filter(has_text="asker")).to_contain_text("the provider, for lab")

    sign_in_provider.people["ada"]["groups"] = []
    ProviderSession.objects.update(checked_at=timezone.now() - timedelta(minutes=10))
    traveller.open("/documents/")

    expect(page.get_by_text("Switchgrass yields")).to_have_count(0)
    expect(page.get_by_role("button", name="Sign out")).to_be_visible()


def test_signing_out_ends_here_and_offers_to_end_there(
    traveller: Traveller, sign_in_provider: OidcServer
) -> None:
    GroupMapping.objects.create(claimed="lab", group=Group.objects.get(name="asker"))
    sign_in_provider.add("ada", groups=["lab"])
    page = traveller.page
    traveller.open("/sign-in/")
    page.get_by_role("link", name="Sign in with Lab Login").click()
    page.get_by_role("link", name="Yes, it is me").click()

    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_text("You are still signed in with Lab Login")).to_be_visible()
    page.get_by_role("link", name="Sign out of Lab Login too").click()
    expect(page.get_by_text("Signed out there")).to_be_visible()
    page.get_by_role("link", name="Back").click()

    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    assert urlsplit(page.url).path == "/sign-in/"
