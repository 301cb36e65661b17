"""An expert writes a question, signs it and measures retrieval with it, by the pages alone."""

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import expect

from evaluation.models import EvaluationRun, Question
from evaluation.runs import background
from tests.functional.conftest import Visit
from tests.integration.evaluation.questions import facts, question_set

pytestmark = pytest.mark.browser


def write_and_sign(visit: Visit) -> None:
    visit.page.get_by_role("link", name="Evaluation", exact=True).click()
    visit.page.get_by_role("link", name="Questions", exact=True).click()
    visit.page.get_by_text("Make a set", exact=True).click()
    visit.page.get_by_label("Name", exact=True).fill("straw")
    visit.page.get_by_role("button", name="Make it").click()
    visit.page.get_by_role("link", name="Write a question").click()
    visit.page.get_by_label("Its name in the set").fill("ash")
    visit.page.get_by_label("Question", exact=True).fill("How much ash does rice straw hold?")
    visit.page.get_by_label("The answer that is expected").fill("17.3 %.")
    phrases = visit.page.get_by_label("Words that answer it, verbatim, one phrase on each line")
    phrases.fill("Words that stand nowhere")
    visit.page.get_by_role("button", name="Save").click()
    expect(visit.page.get_by_role("alert")).to_contain_text("No document that you may see holds")
    expect(visit.page.get_by_label("The answer that is expected")).to_have_value("17.3 %.")
    # Chromium reports the 422 with which the form came back.
    visit.complaints.clear()
    phrases.fill("The ash content of rice straw was 17.3 %")
    visit.page.get_by_role("button", name="Save").click()
    expect(visit.page.get_by_text("Draft: nobody has signed it")).to_be_visible()
    visit.page.get_by_role("button", name="Sign: question, answer and evidence are right").click()
    expect(visit.page.get_by_text("Signed by expert").first).to_be_visible()


def test_a_question_is_written_signed_and_measured_and_the_page_follows(visit: Visit, expert: User) -> None:
    facts(license_class="public")
    visit.sign_in("expert")
    write_and_sign(visit)
    assert not Question.objects.get().drafted

    visit.page.get_by_role("link", name="straw").click()
    visit.page.get_by_role("link", name="Measure retrieval with it").click()
    visit.page.get_by_label("Ways of searching").select_option("interactive")
    visit.page.get_by_role("button", name="Start").click()
    expect(visit.page.get_by_role("progressbar")).to_have_attribute("value", "0")
    background.work(EvaluationRun.objects.get().pk)
    visit.page.get_by_role("link", name="Show what it found").click()

    expect(visit.page.get_by_role("img", name="Plot of each configuration")).to_be_visible()
    assert visit.page.evaluate("document.querySelector('figure.plot img').naturalWidth") > 0
    visit.page.get_by_role("link", name="ash", exact=True).click()
    expect(visit.page.get_by_text("holds the evidence")).to_be_visible()


@pytest.mark.long
def test_everything_works_without_javascript_and_fits_a_narrow_window(
    plain_visit: Visit, expert: User
) -> None:
    facts(license_class="public")
    question_set()
    plain_visit.page.set_viewport_size({"width": 320, "height": 700})
    plain_visit.sign_in("expert")
    write_and_sign(plain_visit)
    plain_visit.open("/evaluation/start/")
    plain_visit.page.get_by_label("Questions").select_option("facts")
    plain_visit.page.get_by_role("button", name="Start").click()
    run = EvaluationRun.objects.get()
    background.work(run.pk)
    plain_visit.page.get_by_role("link", name="Show the state now").click()
    expect(
        plain_visit.page.get_by_text("8 of 8 questions are drafts that no expert has signed.")
    ).to_be_visible()

    for path in (
        f"/evaluation/{run.pk}/",
        f"/evaluation/{run.pk}/questions/1/",
        "/questions/in/facts/",
        "/evaluation/",
    ):
        plain_visit.open(path)
        assert plain_visit.page.evaluate("document.documentElement.scrollWidth") == 320, path
