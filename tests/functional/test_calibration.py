"""Two experts label forty answers by keyboard alone, a third decides, and they see how well they agree."""

from __future__ import annotations

import re

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import expect

from evaluation.judging.rubric import DIMENSIONS
from evaluation.models import CalibrationLabel, CalibrationQueue
from tests.functional.conftest import Visit
from tests.integration.evaluation.calibrating import labeller, sample

ITEMS = 40


def await_keys(visit: Visit) -> None:
    """Wait for the script: it shows how the keys are used once it listens to them."""
    expect(visit.page.locator("[data-keys]")).to_be_visible()


def grade(visit: Visit, keys: str) -> None:
    """Grade the item on the page by number keys, and go on with Enter."""
    await_keys(visit)
    address = visit.page.url
    for key in keys:
        visit.page.keyboard.press(key)
    visit.page.keyboard.press("Enter")
    visit.page.wait_for_url(lambda url: url != address)


def keys_of(visit: Visit) -> str:
    """Return the grades of the item on the page: those of the judge, with whom the experts agree."""
    number = int(re.findall(r"number (\d+)\?", visit.page.locator("h1").inner_text())[0])
    return f"{number % 3}{number % 3}{(number + 1) % 3}{number % 3}"


def begin(visit: Visit, queue: CalibrationQueue, user: User) -> None:
    """Sign in and open the first item that is left, by keyboard."""
    visit.sign_in(user.get_username())
    visit.open(f"/calibration/{queue.pk}/")
    visit.page.get_by_role("link", name=re.compile("^(Begin|Go on)$")).focus()
    visit.page.keyboard.press("Enter")
    expect(visit.page.get_by_role("heading", name="Answer", exact=True)).to_be_visible()


def finish(visit: Visit) -> None:
    """Call the grades final, by keyboard."""
    visit.page.get_by_role("button", name="My grades are final").focus()
    visit.page.keyboard.press("Enter")
    expect(visit.page.get_by_role("heading", name="Agreement")).to_be_visible()


@pytest.mark.long
def test_forty_items_are_labelled_by_two_and_decided_by_a_third_by_keyboard_alone(visit: Visit) -> None:
    queue = sample(ITEMS)
    ada, ben, cyd = (labeller(name) for name in ("ada", "ben", "cyd"))

    begin(visit, queue, ada)
    for number in range(ITEMS):
        source = visit.page.content()
        assert "judge-canary" not in source
        assert not re.search(r"\bchecked\b|0\.731|extractive|vector", source)
        grade(visit, keys_of(visit))
        if number == 10:
            # Closed and opened again, it goes on where it was.
            visit.page.context.clear_cookies()
            begin(visit, queue, ada)
            expect(visit.page.get_by_text("Item 12 of 40")).to_be_visible()
    visit.page.context.clear_cookies()
    begin(visit, queue, ben)
    for number in range(ITEMS):
        keys = keys_of(visit)
        grade(visit, keys if number % 10 else f"{(int(keys[0]) + 1) % 3}{keys[1:]}")
    visit.page.context.clear_cookies()
    begin(visit, queue, cyd)
    expect(visit.page.get_by_text("Item 1 of 4", exact=True)).to_be_visible()
    for _ in range(4):
        expect(visit.page.get_by_text("Two people differ on this item")).to_be_visible()
        grade(visit, keys_of(visit))
    finish(visit)

    assert CalibrationLabel.objects.count() == 2 * ITEMS + 4
    assert CalibrationLabel.objects.filter(is_adjudication=True).count() == 4
    table = visit.page.get_by_role("region", name="Judge and experts", exact=True)
    expect(table.get_by_role("row", name="Groundedness")).to_contain_text("100%")
    between = visit.page.get_by_role("region", name="Experts among each other")
    expect(between.get_by_role("row", name="Groundedness")).to_contain_text("90%")
    expect(between.get_by_role("row", name="Correctness")).to_contain_text("almost perfect")


def test_keys_grade_go_back_and_leave_other_fields_alone(visit: Visit) -> None:
    queue = sample(2)
    begin(visit, queue, labeller("ada"))
    page = visit.page

    await_keys(visit)
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("Something is not graded yet")
    # The browser notes that the page came as an answer to a form that was not accepted.
    assert [each for each in visit.complaints if "422" not in each] == []
    visit.complaints.clear()
    await_keys(visit)
    for key in ("2", "1", "0", "Backspace", "2", "1"):
        page.keyboard.press(key)
    checked = [page.locator(f"input[name={name}]:checked").input_value() for name in DIMENSIONS]
    assert checked == ["2", "1", "2", "1"]
    page.get_by_text("Skip this item").click()
    page.get_by_label("Why?").fill("")
    page.get_by_label("Why?").press_sequentially("0 of 2 is mine")
    assert [page.locator(f"input[name={name}]:checked").input_value() for name in DIMENSIONS] == checked
    page.get_by_role("button", name="Skip and go on").click()
    expect(page.get_by_text("Item 2 of 2")).to_be_visible()

    assert CalibrationLabel.objects.get().skipped == "0 of 2 is mine"


def test_without_javascript_an_item_is_graded_by_tab_arrows_and_enter(plain_visit: Visit) -> None:
    queue = sample(1)
    begin(plain_visit, queue, labeller("ada"))
    page = plain_visit.page

    for name in DIMENSIONS:
        page.locator(f"#id_{name}_2").focus()
        page.keyboard.press("Space")
        page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Nothing is left for you to grade now.")).to_be_visible()

    label = CalibrationLabel.objects.get()
    assert [getattr(label, name) for name in DIMENSIONS] == [1, 1, 1, 1]
    finish(plain_visit)
    expect(page.get_by_text("undefined").first).to_be_visible()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_pages_fit_a_narrow_screen(visit: Visit, theme: str) -> None:
    queue = sample(1)
    visit.page.emulate_media(color_scheme="dark" if theme == "dark" else "light")
    visit.page.set_viewport_size({"width": 320, "height": 700})
    begin(visit, queue, labeller("ada"))

    width = visit.page.evaluate("document.documentElement.scrollWidth")
    grade(visit, "2222")
    finish(visit)
    assert (width, visit.page.evaluate("document.documentElement.scrollWidth")) == (320, 320)
