"""Answers are graded in two blind passes; whatever a judge says, the run tells it as it was."""

import json

import pytest
from django.contrib.auth.models import User
from pytest_django.fixtures import Settings

from answers.models import Answer
from corpus import run_claims
from corpus.gateways.litellm_library import litellm
from corpus.models import Document
from corpus.scope import RetrievalScope
from evaluation.actions import calibration
from evaluation.actions import runs as action
from evaluation.judging import background, passes, results, running, starting
from evaluation.judging.models import Judgement
from evaluation.judging.rubric import DIMENSIONS
from evaluation.judging.starting import CannotStart, Wanted
from evaluation.models import CalibrationLabel, EvaluationRun
from evaluation.reports import markdown, writing
from evaluation.reports.comparison import compare
from evaluation.reports.report import report_of
from tests.integration.evaluation.judging import (
    GROUNDED,
    JUDGE,
    asked,
    in_turn,
    is_grounding,
    judging,
    run_of,
)
from tests.loopback.fixtures import forget_clients
from tests.loopback.openai_server import HANGS, OpenAIServer, Reply, says

pytestmark = [pytest.mark.django_db(transaction=True)]


def grounding_with(value: object) -> Reply:
    return says(json.dumps({"groundedness": value, "citation_accuracy": 1, "completeness": 1}))


def test_every_way_a_judge_can_fail_is_named_and_stays_in_the_denominator(
    judge: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The library takes its time when it is first used; that is not the judge's.
    litellm()
    monkeypatch.setattr(passes, "REPLY_SECONDS", 8.0)
    missing = says('{"citation_accuracy": 1, "completeness": 1}')
    first = [5, -1, 1.6, True, "2"]
    cases = [
        *map(grounding_with, first),
        missing,
        says(f"Sure! {GROUNDED}"),
        says(f"```json\n{GROUNDED}\n```"),
        says(""),
        HANGS,
    ]
    codes, clamped = [], []

    # Twice five questions: the corpus of the second run is that of the first.
    question_set = asked(5)
    for half in (cases[:5], cases[5:]):
        judge.will_choose(in_turn(half))
        run = run_of(question_set)
        rows = Judgement.objects.filter(outcome__question__run=run, kind="grounding").order_by("pk")
        codes += [row.error_code for row in rows]
        clamped += [row.clamped for row in rows]
        found = run.summary["dimensions"]["groundedness"]
        failed = sum(bool(row.error_code) for row in rows)
        assert (found["submitted"], found["judged"], found["failed"]) == (5, 5 - failed, failed)
        assert (run.state, run.done, run.failed) == ("finished", 10, failed)
        assert len(run.summary["failures"]) == failed
    forget_clients()

    number = "not_a_whole_number"
    assert codes[:8] == ["", "", number, number, number, "missing", "not_json", "not_json"]
    assert codes[8] in {"empty", "garbage"}
    assert codes[9] == "timeout"
    assert clamped[:3] == [["groundedness"], ["groundedness"], []]


def test_a_run_of_which_no_reply_could_be_read_failed_and_has_no_numbers(judge: OpenAIServer) -> None:
    judge.will_choose(judging("I cannot say.", "Nor here."))

    run = run_of(asked(3))

    assert (run.state, run.done, run.failed, run.summary) == ("failed", 6, 6, {})
    assert run.last_error_code == "not_json"
    assert results.judged(run)[0].failures == {"grounding": "not_json", "correctness": "not_json"}


def test_a_run_says_under_which_conditions_its_numbers_came_about(judge: OpenAIServer) -> None:
    run = run_of(asked(3))

    assert (run.judge, run.is_self_judged, run.drafted, run.reviewed) == (JUDGE, False, 3, 0)
    assert {"judge_grounding", "judge_correctness"} <= set(run.conditions["prompts"])
    assert run.conditions["judge_parameters"]["temperature"] == 0
    assert all(request.body["temperature"] == 0 for request in judge.requests)
    assert run.summary["dimensions"]["completeness"]["mean"] == 1.0
    assert run.summary["warnings"] == ["3 of 3 questions are drafts that no expert has signed"]
    assert run.documents.count() == Document.objects.count()


def test_a_judge_that_wrote_the_answers_itself_is_said_to(judge: OpenAIServer, settings: Settings) -> None:
    settings.SCI_RAG_LLM_MODEL, settings.SCI_RAG_JUDGE_MODEL = JUDGE, ""
    judge.will_choose(
        lambda request: judging()(request) if "You grade answers" in request.prompt else says("It is so [1].")
    )
    wanted = Wanted(asked(2), RetrievalScope())
    run = starting.start(wanted=wanted, is_for_workers=False, by=None)

    ended = running.carry_out(run)

    assert ended is not None
    assert ended.is_self_judged
    assert results.SELF_JUDGED in ended.summary["warnings"]


def test_a_run_goes_on_where_it_was_left(judge: OpenAIServer) -> None:
    run = starting.start(
        wanted=Wanted(asked(4), RetrievalScope(), engine="extractive"), is_for_workers=False, by=None
    )
    heard: list[int] = []

    def broken_off(number: int) -> None:
        heard.append(number)
        if len(heard) == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        running.carry_out(run, advance=broken_off)
    ended = running.carry_out(EvaluationRun.objects.get(pk=run.pk))

    assert ended is not None
    assert (ended.state, ended.done, Answer.objects.count(), len(judge.requests)) == ("finished", 8, 4, 8)


def test_a_run_goes_on_with_its_own_judge_only(judge: OpenAIServer, settings: Settings) -> None:
    run = starting.start(wanted=Wanted(asked(1), RetrievalScope()), is_for_workers=False, by=None)
    settings.SCI_RAG_JUDGE_MODEL = "openai/another"

    with pytest.raises(CannotStart, match="cannot go on with openai/another"):
        running.carry_out(run)


def test_a_worker_carries_a_run_on_in_turns_and_nobody_does_so_twice(
    judge: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    rung: list[object] = []
    monkeypatch.setattr(background, "ring", rung.append)
    monkeypatch.setattr(background, "TURN_SECONDS", -1.0)
    wanted = Wanted(asked(2), RetrievalScope(), engine="extractive")
    run = background.enqueue(wanted=wanted, by=None)

    background.work(run.pk)
    assert background.waiting() == [run.pk]
    monkeypatch.setattr(background, "TURN_SECONDS", 60.0)
    claimed = action.claim(run=run.pk)
    assert claimed is not None
    background.work(run.pk)
    assert (len(judge.requests), len(rung)) == (0, 2)
    run_claims.let_go(claimed)
    background.work(run.pk)

    run.refresh_from_db()
    assert (run.state, run.done, background.waiting()) == ("finished", 4, [])


def test_a_cancelled_run_stops_and_keeps_what_it_has(judge: OpenAIServer, expert: User) -> None:
    run = starting.start(
        wanted=Wanted(asked(3), RetrievalScope(), engine="extractive"), is_for_workers=False, by=None
    )

    def cancel(_: int) -> None:
        action.cancel(run=run, by=expert)

    ended = running.carry_out(run, advance=cancel)

    assert ended is not None
    assert (ended.state, ended.done, ended.summary) == ("cancelled", 1, {})


def test_without_a_judge_nothing_begins(db: None) -> None:
    with pytest.raises(CannotStart, match="SCI_RAG_JUDGE_MODEL"):
        starting.start(wanted=Wanted(asked(1), RetrievalScope()), is_for_workers=False, by=None)

    assert not EvaluationRun.objects.exists()


def test_a_source_that_went_out_of_reach_is_no_ground_to_judge_on(judge: OpenAIServer) -> None:
    question_set = asked(2)
    run = starting.start(
        wanted=Wanted(question_set, RetrievalScope(), engine="extractive"), is_for_workers=False, by=None
    )
    work = running._Work(run, starting.configured_judge(), RetrievalScope())
    question = run.questions.order_by("number")[0]
    outcome = work.outcome(question)
    outcome.answer.sources.update(content_sha256="0" * 64)  # type: ignore[union-attr]

    assert work.reply(Judgement.Kind.GROUNDING, outcome, question).error_code == "source_gone"
    Answer.objects.update(text="Nothing.")
    outcome.refresh_from_db()
    assert work.reply(Judgement.Kind.CORRECTNESS, outcome, question).error_code == "answer_changed"
    assert judge.requests == []


def test_a_run_asks_and_answers_within_what_its_beginner_may_see(judge: OpenAIServer, expert: User) -> None:
    question_set = asked(2)
    Document.objects.filter(title="Paper 1").update(license_class="restricted")
    run = starting.start(
        wanted=Wanted(question_set, RetrievalScope(), engine="extractive"), is_for_workers=False, by=expert
    )

    running.carry_out(run)

    assert list(run.questions.values_list("key", flat=True)) == ["question-0"]
    assert all("53 °C" not in request.prompt for request in judge.requests)
    assert any(is_grounding(request) for request in judge.requests)


def test_a_run_of_somebody_whose_rights_fell_sees_less(judge: OpenAIServer, expert: User) -> None:
    run = starting.start(
        wanted=Wanted(asked(1), RetrievalScope(), engine="extractive"), is_for_workers=False, by=expert
    )
    expert.groups.clear()

    running.carry_out(EvaluationRun.objects.get(pk=run.pk))

    assert all("210 L" not in request.prompt for request in judge.requests)
    expert.delete()
    run.refresh_from_db()
    with pytest.raises(CannotStart, match="account"):
        starting.scope_of(run)


def test_a_report_of_answers_has_grades_refusals_failures_and_agreement(judge: OpenAIServer) -> None:
    judge.will_choose(in_turn([says(GROUNDED)] * 5 + [says("?")]))
    run = run_of(asked(6))
    queue = calibration.draw(run=run, size=6, seed=1, by=None)
    for number, item in enumerate(queue.items.order_by("number")):
        CalibrationLabel.objects.create(
            item=item, labeller_name="ada", is_expert=number % 2 == 0, **dict.fromkeys(DIMENSIONS, 1)
        )

    report = report_of(run)
    text = markdown.report(report)

    assert "| Groundedness | 6 | 5 | 1 | 0 | 1.667 |" in text
    assert "| question-5 | grounding | not json |" in text
    assert "Calibration, Judge and experts (seed 1)" in text
    assert "who are no experts" in text
    assert "drafts that no expert has signed" in text.split("## Grades")[0]
    assert "Agreement of judge and experts on groundedness is undefined" in text
    same = compare(report, report)
    assert {one.measure for one in same.measures} == set(DIMENSIONS)
    assert {(one.difference.delta, one.difference.p) for one in same.measures} == {(0.0, 1.0)}
    assert "judge-model" in writing.as_html(report)
