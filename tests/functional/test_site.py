"""Signing in, moving about and the theme, in a browser."""

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import expect

from tests.factories.corpus import ChunkFactory, DocumentFactory
from tests.functional.conftest import Visit

pytestmark = pytest.mark.browser


def test_the_theme_switch_changes_the_page_at_once_and_is_remembered(visit: Visit) -> None:
    visit.open("/sign-in/")
    root = visit.page.locator("html")

    with visit.page.expect_response("**/theme/"):
        visit.page.get_by_role("button", name="Dark").click()

    expect(root).to_have_attribute("data-theme", "dark")
    expect(visit.page.get_by_role("button", name="Dark")).to_have_attribute("aria-pressed", "true")
    visit.page.reload()
    expect(root).to_have_attribute("data-theme", "dark")


def test_the_theme_switch_works_without_javascript(plain_visit: Visit) -> None:
    plain_visit.open("/sign-in/")

    plain_visit.page.get_by_role("button", name="Dark").click()

    expect(plain_visit.page.locator("html")).to_have_attribute("data-theme", "dark")
    expect(plain_visit.page).to_have_url(plain_visit.server + "/sign-in/")


def test_the_list_narrows_while_one_types_and_keeps_the_focus(visit: Visit, asker: User) -> None:
    DocumentFactory(title="Switchgrass yields")
    DocumentFactory(title="Biochar")
    visit.sign_in("asker")
    visit.open("/documents/")

    search = visit.page.get_by_label("Title, author or DOI")
    search.press_sequentially("switch")

    expect(visit.page.get_by_role("link", name="Biochar")).to_have_count(0)
    expect(visit.page.get_by_role("link", name="Switchgrass yields")).to_be_visible()
    expect(search).to_be_focused()
    assert "q=switch" in visit.page.url


def test_the_keyboard_alone_reaches_a_passage(visit: Visit, asker: User) -> None:
    document = DocumentFactory(title="Switchgrass yields")
    ChunkFactory(document=document, ordinal=0, section_path=["Methods"], body="Plots were cut twice.")
    visit.sign_in("asker")
    visit.open("/documents/")

    visit.page.keyboard.press("Tab")
    expect(visit.page.get_by_role("link", name="Skip to the content")).to_be_focused()
    visit.page.keyboard.press("Enter")
    for _ in range(20):
        visit.page.keyboard.press("Tab")
        if visit.page.evaluate("document.activeElement.textContent") == "Switchgrass yields":
            break
    visit.page.keyboard.press("Enter")
    expect(visit.page.get_by_role("heading", name="Switchgrass yields")).to_be_visible()
    visit.page.get_by_role("link", name="Passage 1").focus()
    visit.page.keyboard.press("Enter")

    expect(visit.page.locator("mark")).to_have_text("Plots were cut twice.")


@pytest.mark.parametrize("path", ["/", "/documents/", "/answers/", "/sign-in/"])
def test_no_page_scrolls_sideways_on_the_narrowest_screen(visit: Visit, asker: User, path: str) -> None:
    DocumentFactory(title="A" * 200, authors=["B" * 100])
    visit.sign_in("asker")
    visit.page.set_viewport_size({"width": 320, "height": 640})

    visit.open(path)

    assert visit.page.evaluate("document.documentElement.scrollWidth") == 320
