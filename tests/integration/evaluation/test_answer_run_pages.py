"""The pages of runs of judged answers: begun, followed, cancelled, looked into, asked again."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from pytest_django.fixtures import Settings

from answers.models import Answer
from corpus.scope import scope
from evaluation.actions import calibration
from evaluation.judging import background
from evaluation.models import EvaluationRun, QuestionSet
from tests.integration.evaluation.judging import GROUNDED, JUDGE, asked, in_turn, judging, run_of
from tests.loopback.openai_server import OpenAIServer, says

pytestmark = pytest.mark.django_db(transaction=True)
OPEN = scope(license_classes=["public"])


@pytest.fixture
def reader(client: Client, expert: User) -> Client:
    client.force_login(expert)
    return client


def text_of(client: Client, name: str, *arguments: object, **query: str) -> str:
    response = client.get(reverse(name, args=arguments), query)
    assert response.status_code == 200, response.status_code
    return " ".join(response.content.decode().split())


def chosen(question_set: QuestionSet) -> dict[str, str]:
    values = {"question_set": str(question_set.pk), "profile": "interactive", "engine": "extractive"}
    return values | {"limit": "4", "sources": ""}


def begin(client: Client, values: dict[str, str]) -> Any:
    """Begin a run as people do: see what it comes to, then start it."""
    said = client.post(reverse("evaluation_start_answers"), values).content.decode()
    (key,) = re.findall(r'name="estimated" value="([0-9a-f]{64})"', said)
    assert "Nothing has begun yet." in said
    assert not EvaluationRun.objects.exists()
    return client.post(reverse("evaluation_start_answers"), values | {"estimated": key})


def test_a_run_is_begun_on_its_page_carried_out_and_looked_into(judge: OpenAIServer, reader: Client) -> None:
    question_set = asked(2)
    page = text_of(reader, "evaluation_start_answers", question_set=str(question_set.pk))

    response = begin(reader, chosen(question_set))
    run = EvaluationRun.objects.get()
    before = text_of(reader, "evaluation", run.pk)
    background.work(run.pk)
    after = text_of(reader, "evaluation", run.pk)
    answer = text_of(reader, "evaluation_answer", run.pk, 1)

    assert f"Judge: {JUDGE}" in page
    assert f'<option value="{question_set.pk}" selected>' in page
    assert response.url == reverse("evaluation", args=[run.pk])
    assert (run.parameters["limit"], run.started_by_name, run.is_for_workers) == (4, "expert", True)
    assert "Answering and judging" in before
    assert 'max="4" value="0"' in before
    assert "Cancel after the question at hand" in before
    assert "2 of 2 questions are drafts" in after
    assert reverse("evaluation_answer", args=[run.pk, 1]) in after
    assert "Ask the judge again" not in after
    assert "<strong>Completeness</strong>: 1 of 2" in answer
    assert "An expert expects statement 0." in answer
    assert "210 L of methane" in answer


def test_a_run_is_cancelled_on_its_page(judge: OpenAIServer, reader: Client, expert: User) -> None:
    begin(reader, chosen(asked(1)))
    run = EvaluationRun.objects.get()

    reader.post(reverse("evaluation_cancel", args=[run.pk]))
    background.work(run.pk)

    assert "A run that was cancelled has no numbers." in text_of(reader, "evaluation", run.pk)
    assert judge.requests == []


def test_other_choices_than_those_that_were_estimated_are_estimated_first(
    judge: OpenAIServer, reader: Client
) -> None:
    values = chosen(asked(2))
    page = reader.post(reverse("evaluation_start_answers"), values).content.decode()
    (key,) = re.findall(r'name="estimated" value="([0-9a-f]{64})"', page)

    changed = reader.post(reverse("evaluation_start_answers"), values | {"limit": "9", "estimated": key})

    assert "Estimate: 2 calls to openai/judge-model (judging answers)" in page
    assert changed.status_code == 200
    assert "Nothing has begun yet." in changed.content.decode()
    assert not EvaluationRun.objects.exists()
    assert judge.requests == []


def test_a_run_that_stopped_at_its_cap_goes_on_by_a_button(judge: OpenAIServer, reader: Client) -> None:
    begin(reader, chosen(asked(2)) | {"max_tokens": "20"})
    run = EvaluationRun.objects.get()
    background.work(run.pk)
    stopped = text_of(reader, "evaluation", run.pk)

    reader.post(reverse("evaluation_continue", args=[run.pk]), {"max_tokens": "20"})
    refused = text_of(reader, "evaluation", run.pk)
    reader.post(reverse("evaluation_continue", args=[run.pk]), {"max_tokens": ""})
    background.work(run.pk)
    run.refresh_from_db()

    assert "Stopped at the cap" in stopped
    assert "Under this cap run" in refused
    assert (run.state, run.done, run.max_tokens) == ("finished", 4, None)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"question_set": "x"}, "Choose a set of questions."),
        ({"limit": "0"}, "greater than or equal to 1"),
        ({"sources": "condensed"}, "Only a model reads condensed sources"),
        ({"engine": "model"}, "No language model is configured."),
    ],
)
def test_what_cannot_be_begun_is_said_and_what_was_chosen_is_kept(
    judge: OpenAIServer, reader: Client, change: dict[str, str], said: str
) -> None:
    response = reader.post(
        reverse("evaluation_start_answers"), chosen(asked(1)) | {"profile": "deep"} | change
    )

    text = response.content.decode()
    assert response.status_code == 422
    assert said in text
    assert '<option value="deep" selected>' in text
    assert not EvaluationRun.objects.exists()


def test_without_a_judge_the_page_says_so(reader: Client, settings: Settings) -> None:
    question_set = asked(1)

    page = text_of(reader, "evaluation_start_answers")
    refused = reader.post(reverse("evaluation_start_answers"), chosen(question_set))

    assert "No judge is set: SCI_RAG_JUDGE_MODEL" in page
    assert "No model is set that could grade answers" in refused.content.decode()


def test_failed_replies_are_had_again_by_a_button(judge: OpenAIServer, reader: Client) -> None:
    judge.will_choose(in_turn([says(GROUNDED), says("?")]))
    run = run_of(asked(2), requested=OPEN)
    before = text_of(reader, "evaluation", run.pk)
    failed = text_of(reader, "evaluation_answer", run.pk, 2)
    judge.will_choose(judging())

    reader.post(reverse("evaluation_retry", args=[run.pk]))
    background.work(run.pk)

    assert "Ask the judge again for 1 failed reply" in before
    assert "<strong>Groundedness</strong>: no grade: not json" in failed
    after = text_of(reader, "evaluation", run.pk)
    assert "Ask the judge again" not in after
    assert "replies that failed at first and were asked for again: 1" in after
    again = reader.post(reverse("evaluation_retry", args=[run.pk]), follow=True)
    assert "The judge failed to give no reply" in again.content.decode()


def test_an_answer_that_is_not_what_was_judged_is_not_shown(judge: OpenAIServer, reader: Client) -> None:
    run = run_of(asked(1), requested=OPEN)
    Answer.objects.update(text="Something else.")

    page = text_of(reader, "evaluation_answer", run.pk, 1)

    assert "is not what was judged any more" in page
    assert "Something else." not in page


def test_whoever_still_grades_sees_no_answer_with_its_grades(judge: OpenAIServer, reader: Client) -> None:
    run = run_of(asked(1), requested=OPEN)
    calibration.draw(run=run, size=1, seed=1, by=None)

    assert reader.get(reverse("evaluation_answer", args=[run.pk, 1])).status_code == 403
    assert reader.post(reverse("evaluation_retry", args=[run.pk])).status_code == 403


def test_to_a_librarian_there_is_nothing_to_begin(client: Client, librarian: User) -> None:
    client.force_login(librarian)

    assert client.get(reverse("evaluation_start_answers")).status_code == 404
