"""The review queue in a real browser: by keyboard alone, and without JavaScript."""

import pytest
from playwright.sync_api import expect

from corpus.actions import review
from corpus.models import Document, RightsDecision
from tests.factories.corpus import DocumentFactory

pytestmark = pytest.mark.django_db(transaction=True)

QUEUE = "/admin/corpus/reviewitem/queue/"


@pytest.fixture
def work(librarian):
    for number in range(1, 6):
        document = DocumentFactory(
            title=f"Work {number}", license_class="unknown", rights_statement="Licensed under CC BY 4.0."
        )
        signal = "https://creativecommons.org/licenses/by/4.0/"
        review.suggest_license(document=document, license_class="open_commercial", signal=signal)


def classes():
    return dict(Document.objects.values_list("title", "license_class"))


def current(page):
    return page.locator("[data-current] h3")


def test_the_queue_is_worked_through_by_keyboard_alone(work, visit):
    visit.sign_in("librarian")
    visit.open(QUEUE)
    page, press = visit.page, visit.page.keyboard.press
    expect(current(page)).to_have_text("Work 1")

    press("j")
    expect(current(page)).to_have_text("Work 2")
    press("ArrowUp")
    press("a")
    expect(page.get_by_text("1 document decided on.").first).to_be_visible()
    expect(page.locator("[data-row]")).to_have_count(4)
    expect(current(page)).to_have_text("Work 2")
    assert classes()["Work 1"] == "open_commercial"

    press("2")
    expect(page.locator("[data-row]")).to_have_count(3)
    assert classes()["Work 2"] == "open_commercial"
    press("u")
    expect(page.locator("[data-row]")).to_have_count(4)
    expect(page.get_by_role("button", name="Undo the decision")).to_be_visible()
    assert classes()["Work 2"] == "unknown"
    assert RightsDecision.objects.count() == 3

    press("1")
    expect(page.locator("#id_evidence")).to_be_focused()
    # The browser notes the refusal.
    visit.complaints[:] = [text for text in visit.complaints if "422" not in text]
    page.keyboard.type("Letter of the publisher")
    press("Escape")
    press("1")
    expect(page.locator("[data-row]")).to_have_count(3)
    assert sorted(classes().values()) == ["open_commercial", "public", *["unknown"] * 3]

    press("*")
    press("a")
    expect(page.get_by_role("heading", name="3 documents are decided on")).to_be_visible()
    expect(page.get_by_role("button", name="Decide and record")).to_be_focused()
    press("Enter")
    expect(page.get_by_text("Nothing waits for a decision")).to_be_visible()
    assert sorted(classes().values()) == [*["open_commercial"] * 4, "public"]


def test_single_keys_can_be_looked_up_and_switched_off(work, visit):
    visit.sign_in("librarian")
    visit.open(QUEUE)
    page = visit.page

    page.keyboard.press("?")
    expect(page.get_by_text("next and previous document")).to_be_visible()
    page.get_by_label("Single keys decide").uncheck()
    page.reload()
    page.locator("[data-row]").first.focus()
    page.keyboard.press("a")
    page.keyboard.press("j")

    expect(current(page)).to_have_text("Work 1")
    assert set(classes().values()) == {"unknown"}


def test_words_typed_into_a_field_decide_nothing(work, visit):
    visit.sign_in("librarian")
    visit.open(QUEUE)

    visit.page.keyboard.press("e")
    visit.page.keyboard.type("a 1 2 x u l")

    expect(visit.page.locator("#id_evidence")).to_have_value("a 1 2 x u l")
    assert set(classes().values()) == {"unknown"}


@pytest.mark.long
def test_the_queue_works_without_javascript(work, plain_visit):
    plain_visit.sign_in("librarian")
    plain_visit.open(QUEUE)
    page = plain_visit.page

    page.locator("[data-row]").first.get_by_role("button", name="As suggested").click()
    expect(page.locator("[data-row]")).to_have_count(4)
    page.get_by_role("button", name="Undo the decision").click()
    expect(page.locator("[data-row]")).to_have_count(5)
    for box in page.locator("[data-row] input[name=documents]").all()[:2]:
        box.check()
    page.locator("[data-choice]").select_option("suggested")
    page.get_by_role("button", name="Show what it does").click()
    expect(page.get_by_role("heading", name="2 documents are decided on")).to_be_visible()
    page.get_by_role("button", name="Decide and record").click()

    expect(page.locator("[data-row]")).to_have_count(3)
    assert sorted(classes().values()) == [*["open_commercial"] * 2, *["unknown"] * 3]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [320, 1280])
def test_the_queue_fits_narrow_and_wide_windows(work, visit, width, scheme, tmp_path):
    page = visit.page
    page.emulate_media(color_scheme=scheme)
    visit.sign_in("librarian")
    page.set_viewport_size({"width": width, "height": 900})
    visit.open(QUEUE)
    expect(page.locator("[data-row]")).to_have_count(5)

    page.screenshot(path=tmp_path / "queue.png", full_page=True)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.locator("[data-row] input[name=documents]").first.check()
    page.keyboard.press("3")
    expect(page.get_by_role("heading", name="Who sees more, who sees fewer")).to_be_visible()
    page.screenshot(path=tmp_path / "effects.png", full_page=True)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
