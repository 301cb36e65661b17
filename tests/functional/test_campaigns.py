"""Deciding on works in the browser: by keys, which rest while somebody types, and with the keys' undo."""

import pytest
from django.contrib.auth.models import User
from django.urls import reverse
from playwright.sync_api import expect

from corpus.campaigns import screening
from corpus.campaigns.actions import screening as rounds
from corpus.campaigns.models import Campaign
from corpus.campaigns.screening_models import Screening, Verdict
from corpus.gateways.records import FoundWork
from tests.functional.conftest import Visit
from tests.integration.corpus.campaigning import BY, CRITERIA, campaign, with_candidates


@pytest.fixture
def waiting(transactional_db: None, librarian: User) -> Campaign:
    """A campaign with three works that wait for a person."""
    row = campaign("Straw")
    with_candidates(
        row,
        [FoundWork(key=f"10.5555/{n}", doi=f"10.5555/{n}", title=f"Bales of trial {n}") for n in (1, 2, 3)],
    )
    last = rounds.open_round(campaign=row, criteria=CRITERIA, by=BY)
    for candidate in screening.unscreened(last):
        judgement = rounds.Judgement(Verdict.REVIEW, rounds.Code.NO_ABSTRACT)
        rounds._keep(last, candidate, judgement, rounds.By.RULE)
    return row


def verdicts() -> list[str]:
    return list(Screening.objects.order_by("candidate__number").values_list("verdict", flat=True))


def test_keys_decide_leave_and_undo_and_rest_while_typing(visit: Visit, waiting: Campaign) -> None:
    visit.sign_in("librarian")
    visit.open(reverse("campaign_review", args=[waiting.pk]))
    page = visit.page
    expect(page.get_by_text("Keys: i includes")).to_be_visible()

    page.get_by_label("Reason").fill("i e u")
    expect(page.get_by_role("heading", level=1)).to_have_text("Bales of trial 1")
    page.locator("h1").click()
    page.keyboard.press("i")
    expect(page.get_by_role("heading", level=1)).to_have_text("Bales of trial 2")
    page.keyboard.press("s")
    expect(page.get_by_role("heading", level=1)).to_have_text("Bales of trial 3")
    page.keyboard.press("e")
    expect(page.get_by_role("heading", level=1)).to_have_text("Bales of trial 2")
    assert verdicts() == ["include", "review", "exclude"]
    page.keyboard.press("u")
    expect(page.get_by_role("heading", level=1)).to_have_text("Bales of trial 3")
    assert verdicts() == ["include", "review", "review"]


def test_the_same_is_done_with_buttons_alone(plain_visit: Visit, waiting: Campaign) -> None:
    plain_visit.sign_in("librarian")
    plain_visit.open(reverse("campaign", args=[waiting.pk]))
    page = plain_visit.page

    page.get_by_role("link", name="Decide on 3 works").click()
    page.get_by_label("Reason").fill("It fits.")
    page.get_by_role("button", name="Include").click()
    expect(page.get_by_text("Included: Bales of trial 1")).to_be_visible()
    page.get_by_role("button", name="Undo my last decision").click()
    expect(page.get_by_text("Taken back.")).to_be_visible()
    assert verdicts() == ["review", "review", "review"]
