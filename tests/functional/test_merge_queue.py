"""The queue of merges in a real browser: by keyboard alone, without JavaScript, narrow and wide."""

import pytest
from playwright.sync_api import expect

from retrieval.models import Entity, MergeProposal, ResolutionAudit
from tests.integration.retrieval.graph.merging import canonical, dump, edge, entity, mention, passage, propose

pytestmark = pytest.mark.django_db(transaction=True)

QUEUE = "/admin/retrieval/mergeproposal/queue/"


@pytest.fixture
def pairs(librarian):
    for number in range(1, 5):
        page = passage(
            f"Rice straw {number} was milled. Rice straw {number} produces biogas. It was wet.",
            title=f"Notes on straw {number}",
        )
        edge(f"Rice straw {number}", "biogas", page, f"Rice straw {number} produces biogas.")
        other = passage(f"In the second year Paddy straw {number} was burnt.", title=f"Fields {number}")
        mention(f"Paddy straw {number}", other)
        mention(f"Rice straw {number}", passage(f"Rice straw {number} again."))
        propose(f"Rice straw {number}", f"Paddy straw {number}", confidence=1 - number / 100)


def states():
    return sorted(MergeProposal.objects.values_list("state", flat=True))


def current(page):
    return page.locator("[data-current] h3")


def test_pairs_are_decided_on_by_keyboard_alone_with_both_sides_sentences_in_sight(pairs, visit):
    before = dump()
    visit.sign_in("librarian")
    visit.open(QUEUE)
    page, press = visit.page, visit.page.keyboard.press
    expect(current(page)).to_have_text("Rice straw 1 and Paddy straw 1")
    row = page.locator("[data-current]")
    expect(row.get_by_text("Rice straw 1 was milled.")).to_be_visible()
    expect(row.get_by_text("In the second year Paddy straw 1 was burnt.")).to_be_visible()
    expect(row.get_by_text("Notes on straw 1").first).to_be_visible()

    press("j")
    expect(current(page)).to_have_text("Rice straw 2 and Paddy straw 2")
    press("k")
    press("a")
    expect(page.locator("[data-row]")).to_have_count(3)
    expect(page.get_by_text("1 pair was made one.").first).to_be_visible()
    assert canonical("Paddy straw 1") == "Rice straw 1"
    press("u")
    expect(page.locator("[data-row]")).to_have_count(4)
    assert dump() == before
    press("s")
    expect(page.locator("[data-row]")).to_have_count(3)
    assert canonical("Rice straw 1") == "Paddy straw 1"
    press("d")
    expect(page.locator("[data-row]")).to_have_count(2)
    press("r")
    expect(page.locator("[data-row]")).to_have_count(1)
    assert states() == ["approved", "never", "proposed", "rejected"]
    press("u")
    expect(page.locator("[data-row]")).to_have_count(2)

    press("*")
    press("a")
    expect(page.get_by_role("heading", name="Make 2 pairs one?")).to_be_visible()
    expect(page.get_by_role("button", name="Make 2 pairs one")).to_be_focused()
    press("Enter")
    expect(page.get_by_text("No pair waits for a decision")).to_be_visible()
    assert states() == ["approved", "approved", "approved", "never"]


@pytest.mark.long
def test_the_queue_works_without_javascript(pairs, plain_visit):
    before = dump()
    plain_visit.sign_in("librarian")
    plain_visit.open(QUEUE)
    page = plain_visit.page

    page.get_by_role("button", name="Make all 4 pairs of tier 1 one").click()
    expect(page.get_by_role("heading", name="Make 4 pairs one?")).to_be_visible()
    page.get_by_role("button", name="Make 4 pairs one").click()
    expect(page.get_by_text("4 pairs were made one.")).to_be_visible()
    assert Entity.objects.filter(canonical_entity__isnull=False).count() == 4
    page.get_by_role("button", name="Undo the decision").click()
    expect(page.locator("[data-row]")).to_have_count(4)
    assert dump() == before


def test_a_homonym_is_split_and_the_split_undone_without_javascript(librarian, plain_visit):
    for body in ("AD digests straw.", "AD affects memory.", "AD is AD."):
        mention("AD", passage(body, title=body))
    before = dump()
    plain_visit.sign_in("librarian")
    plain_visit.open(f"/admin/retrieval/entity/{entity('AD').pk}/split/")
    page = plain_visit.page

    page.get_by_role("button", name="Split off").click()
    expect(page.get_by_text("Choose passages that name it.")).to_be_visible()
    # The browser notes the refusal.
    plain_visit.complaints[:] = [text for text in plain_visit.complaints if "422" not in text]
    page.get_by_label("AD affects memory. 1 passage").check()
    page.get_by_role("button", name="Split off").click()
    expect(page.get_by_text("1 passage has an entity of its own now.")).to_be_visible()
    assert [found.mentions.count() for found in Entity.objects.order_by("sense")] == [2, 1]
    page.get_by_role("button", name="Undo this split").click()

    expect(page.get_by_text("It was undone")).to_be_visible()
    assert dump() == before
    assert ResolutionAudit.objects.count() == 2


@pytest.mark.parametrize(
    ("width", "scheme"),
    [
        (320, "dark"),
        (1280, "light"),
        pytest.param(320, "light", marks=pytest.mark.long),
        pytest.param(1280, "dark", marks=pytest.mark.long),
    ],
)
def test_the_pages_fit_narrow_and_wide_windows(pairs, visit, width, scheme, tmp_path):
    page = visit.page
    page.emulate_media(color_scheme=scheme)
    visit.sign_in("librarian")
    page.set_viewport_size({"width": width, "height": 900})
    split = f"/admin/retrieval/entity/{entity('Rice straw 1').pk}/split/"
    for name, address in (("queue", QUEUE), ("split", split)):
        visit.open(address)
        expect(page.locator("h2.desk-title").first).to_be_visible()
        page.screenshot(path=tmp_path / f"{name}.png", full_page=True)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    visit.open(QUEUE)
    page.keyboard.press("*")
    page.keyboard.press("a")
    expect(page.get_by_role("heading", name="Make 4 pairs one?")).to_be_visible()
    page.screenshot(path=tmp_path / "preview.png", full_page=True)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.keyboard.press("Enter")
    expect(page.get_by_text("No pair waits for a decision")).to_be_visible()
    page.get_by_role("link", name="All merges and splits").click()
    page.locator(".field-number a").first.click()
    expect(page.get_by_role("button", name="Undo this merge")).to_be_visible()
    page.screenshot(path=tmp_path / "undo.png", full_page=True)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
