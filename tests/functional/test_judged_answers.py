"""An expert has answers judged, looks into them, takes questions in and decides about condensed sources."""

from __future__ import annotations

import json
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import expect
from pytest_django.fixtures import Settings

from answers.feedback import WrongReport
from corpus.scope import RetrievalScope, scope
from evaluation.judging import background, starting
from evaluation.judging.starting import Wanted
from evaluation.models import EvaluationRun, Question
from tests.functional.conftest import Visit
from tests.integration.evaluation.judging import GROUNDED, JUDGE, asked, in_turn, judging, run_of
from tests.loopback.fixtures import forget_clients
from tests.loopback.openai_server import OpenAIServer, says

pytestmark = pytest.mark.browser


@pytest.fixture
def judge(model_server: OpenAIServer, settings: Settings) -> OpenAIServer:
    settings.SCI_RAG_JUDGE_MODEL = JUDGE
    settings.SCI_RAG_LLM_API_BASE, settings.SCI_RAG_LLM_API_KEY = model_server.base_url, "sk-test"
    model_server.will_choose(judging())
    return model_server


def test_answers_are_judged_followed_and_asked_for_again(
    visit: Visit, expert: User, judge: OpenAIServer
) -> None:
    # What the library and the counting of tokens take to load the first time is not the page's.
    starting.estimated(Wanted(asked(2), RetrievalScope(), engine="extractive"), by=None)
    judge.will_choose(in_turn([says("?"), says(GROUNDED), says(GROUNDED)]))
    page = visit.page
    visit.sign_in("expert")
    page.get_by_role("link", name="Evaluation", exact=True).click()
    page.get_by_role("link", name="Have answers judged").click()
    page.get_by_label("Who writes").select_option("extractive")
    page.get_by_role("button", name="See what it comes to").click()
    page.get_by_role("button", name="Start").click()
    expect(page.get_by_role("progressbar")).to_have_attribute("value", "0")
    expect(page.get_by_role("button", name="Cancel after the question at hand")).to_be_visible()
    background.work(EvaluationRun.objects.get().pk)
    page.get_by_role("link", name="Show what it found").click()
    page.get_by_role("link", name="question-0", exact=True).click()
    expect(page.get_by_text("no grade: not json").first).to_be_visible()
    page.go_back()
    page.get_by_role("button", name="Ask the judge again for 1 failed reply").click()
    expect(page.get_by_text("The worker asks for the failed replies again.")).to_be_visible()
    background.work(EvaluationRun.objects.get().pk)
    page.get_by_role("link", name="Show what it found").click()
    expect(page.get_by_text("replies that failed at first and were asked for again: 1").first).to_be_visible()

    page.get_by_role("link", name="Evaluation", exact=True).first.click()
    page.get_by_role("link", name="Have answers judged").click()
    page.get_by_role("button", name="See what it comes to").click()
    page.get_by_role("button", name="Start").click()
    page.get_by_role("button", name="Cancel after the question at hand").click()
    expect(page.get_by_text("A run that was cancelled has no numbers.").first).to_be_visible()
    forget_clients()


@pytest.mark.long
def test_the_new_pages_work_without_javascript_and_fit_a_narrow_window(
    plain_visit: Visit, expert: User, judge: OpenAIServer
) -> None:
    question_set = asked(2)
    runs = [run_of(question_set, requested=scope(license_classes=["public"])) for _ in range(2)]
    report = WrongReport.objects.create(
        answer_ref=uuid4(), question="How much?", searched_question="How much methane?", engine="extractive",
        answer_sha256="0" * 64, comment="It was 180 L.",
    )  # fmt: skip
    page = plain_visit.page
    page.set_viewport_size({"width": 320, "height": 700})
    plain_visit.sign_in("expert")

    plain_visit.open(f"/questions/in/{question_set.name}/import/")
    line = {"id": "new", "question": "What of it?", "reference_answer": "Nothing.", "unanswerable": True}
    page.get_by_label("Questions", exact=True).fill(f"no json\n{json.dumps(line)}")
    page.get_by_role("button", name="Take them in").click()
    expect(page.get_by_text("1 mistake: nothing was taken in")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") == 320
    plain_visit.complaints.clear()
    page.get_by_label("Questions", exact=True).fill(json.dumps(line))
    page.get_by_role("button", name="Take them in").click()
    expect(page.get_by_text("1 added, 0 changed, 0 as they were.")).to_be_visible()

    plain_visit.open("/questions/reported/")
    page.get_by_role("link", name="Make it a question").click()
    page.get_by_label("Words that answer it, verbatim, one phrase on each line").fill("Rice straw gave 210 L")
    page.get_by_role("button", name="Save the draft").click()
    expect(page.get_by_text("From an answer reported as wrong", exact=True)).to_be_visible()
    assert Question.objects.get(wrong_report=report).drafted

    plain_visit.open("/evaluation/compression/")
    page.get_by_role("button", name="Decide by these two").click()
    expect(page.get_by_text("These two runs decide nothing")).to_be_visible()
    plain_visit.complaints.clear()
    for path in (
        "/evaluation/start/answers/",
        "/evaluation/compression/",
        f"/evaluation/{runs[0].pk}/",
        f"/evaluation/{runs[0].pk}/answers/1/",
    ):
        plain_visit.open(path)
        assert page.evaluate("document.documentElement.scrollWidth") == 320, path
    forget_clients()
