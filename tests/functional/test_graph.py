"""The drawing of an entity's neighbours, by keyboard and on narrow screens."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import expect

from retrieval.models import Entity
from tests.factories.corpus import ChunkFactory, DocumentFactory
from tests.factories.graph import EntityFactory, MentionFactory, RelationshipFactory
from tests.functional.conftest import Visit

pytestmark = pytest.mark.browser


@pytest.fixture
def methane(transactional_db: None) -> Entity:
    """An entity with two neighbours, one with a name longer than any screen."""
    passage = ChunkFactory(document=DocumentFactory(title="Straw"), body="Digestion produces methane.")
    found = EntityFactory(name="methane")
    MentionFactory(entity=found, chunk=passage, start=19)
    for number, name in enumerate(("digestion", "W" * 300)):
        other = EntityFactory(name=name)
        MentionFactory(entity=other, chunk=passage)
        RelationshipFactory(
            source=other, target=found, chunk=passage, quote=passage.body, confidence=1.0 - 0.3 * number
        )
    return found


def test_the_keyboard_goes_from_a_drawn_neighbour_to_its_page(
    plain_visit: Visit, asker: User, methane: Entity
) -> None:
    plain_visit.sign_in("asker")
    plain_visit.open("/graph/")
    plain_visit.page.get_by_role("link", name="methane", exact=True).click()

    drawn = plain_visit.page.get_by_role("link", name="digestion: digestion produces methane (said directly)")
    drawn.focus()
    expect(drawn).to_be_focused()
    plain_visit.page.keyboard.press("Tab")
    expect(plain_visit.page.locator("svg a:focus")).to_have_count(1)
    drawn.focus()
    plain_visit.page.keyboard.press("Enter")

    expect(plain_visit.page.get_by_role("heading", name="digestion", exact=True, level=1)).to_be_visible()


def test_on_the_narrowest_screen_the_neighbours_stand_below_each_other(
    visit: Visit, asker: User, methane: Entity
) -> None:
    visit.sign_in("asker")
    visit.page.set_viewport_size({"width": 320, "height": 640})

    visit.open(f"/graph/entities/{methane.pk}/")

    assert visit.page.evaluate("document.documentElement.scrollWidth") == 320
    # One drawing at a time, so that every neighbour is one stop of the keyboard.
    assert visit.page.locator("svg.neighbourhood a").count() == 4
    assert visit.page.locator("svg.neighbourhood a:visible").count() == 2
    box = visit.page.locator("svg.narrow a").first.bounding_box()
    assert box is not None
    assert box["height"] >= 24
    for path in (
        "/graph/",
        f"/graph/entities/{methane.pk}/passages/",
        f"/graph/entities/{methane.pk}/evidence/",
    ):
        visit.open(path)
        assert visit.page.evaluate("document.documentElement.scrollWidth") == 320


def test_the_list_narrows_while_one_types(visit: Visit, asker: User, methane: Entity) -> None:
    visit.sign_in("asker")
    visit.open("/graph/")

    visit.page.get_by_label("Name").press_sequentially("digest")

    expect(visit.page.get_by_role("link", name="methane", exact=True)).to_have_count(0)
    expect(visit.page.get_by_role("link", name="digestion", exact=True)).to_be_visible()
    assert "q=digest" in visit.page.url
