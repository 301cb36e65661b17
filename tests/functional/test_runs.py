"""A run's page follows along, with JavaScript by itself and without by loading it again."""

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import expect

from corpus.actions import runs
from corpus.models import IngestionItem, IngestionRun, Job
from tests.functional.conftest import Visit

pytestmark = pytest.mark.browser


@pytest.fixture
def run(transactional_db: None) -> IngestionRun:
    run = runs.open_for_workers(origin="upload", parameters={}, by=None)
    for name in ("first.md", "second.md"):
        item = IngestionItem.objects.create(run=run, path=name)
        Job.objects.create(kind="parse", dedupe_key=f"parse:{item.pk}", run=run, item=item)
    return run


def fail(name: str) -> None:
    IngestionItem.objects.filter(path=name).update(
        outcome="failed", reason="encrypted", detail="It is protected by a password."
    )
    Job.objects.filter(item__path=name).update(state="failed")


def test_the_page_follows_a_run_to_its_end(visit: Visit, librarian: User, run: IngestionRun) -> None:
    visit.sign_in("librarian")
    visit.page.get_by_role("link", name="Runs").click()
    visit.page.get_by_role("link", name="upload").click()
    bar = visit.page.get_by_role("progressbar")
    expect(bar).to_have_attribute("value", "0")
    cancel = visit.page.get_by_role("button", name="Cancel after the files at hand")
    cancel.focus()

    fail("first.md")

    expect(bar).to_have_attribute("value", "1")
    expect(visit.page.get_by_text("It is protected by a password.")).to_be_visible()
    expect(cancel).to_be_focused()

    fail("second.md")
    runs.finish(run, IngestionRun.State.FINISHED)

    expect(visit.page.get_by_text("Finished", exact=True)).to_be_visible()
    visit.page.get_by_role("button", name="Retry 2 files").click()
    expect(visit.page.get_by_text("2 files are tried again.")).to_be_visible()
    assert set(Job.objects.values_list("state", flat=True)) == {"queued"}


@pytest.mark.long
def test_without_javascript_the_page_shows_the_state_at_each_look(
    plain_visit: Visit, librarian: User, run: IngestionRun
) -> None:
    plain_visit.sign_in("librarian")
    plain_visit.open(f"/runs/{run.pk}/")
    expect(plain_visit.page.get_by_role("progressbar")).to_have_attribute("value", "0")

    fail("first.md")
    plain_visit.page.get_by_role("link", name="Show the state now").click()

    expect(plain_visit.page.get_by_role("progressbar")).to_have_attribute("value", "1")
    plain_visit.page.get_by_role("button", name="Cancel after the files at hand").click()
    expect(plain_visit.page.get_by_text("Cancelled. 1 file was not begun.")).to_be_visible()
