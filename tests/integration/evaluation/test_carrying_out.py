"""One process alone carries a run out, and replies that failed are had again without touching the others."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from time import monotonic, sleep

import pytest
from click.testing import CliRunner, Result
from django.contrib.auth.models import User
from django.db import connection
from django.utils import timezone
from pytest_django.fixtures import Settings

from corpus import run_claims
from corpus.run_claims import RunLost, holding
from corpus.scope import RetrievalScope
from evaluation.actions import runs as action
from evaluation.judging import background, running, starting
from evaluation.judging.models import Judgement
from evaluation.judging.starting import CannotStart, Wanted
from evaluation.models import EvaluationRun
from evaluation.reports.report import report_of
from sci_rag_site.cli import main
from tests.integration.evaluation.judging import (
    CORRECT,
    GROUNDED,
    asked,
    in_turn,
    is_grounding,
    judging,
    run_of,
)
from tests.loopback.openai_server import OpenAIServer, Reply, Request, says

pytestmark = pytest.mark.django_db(transaction=True)


def begun(count: int = 2) -> EvaluationRun:
    wanted = Wanted(asked(count), RetrievalScope(), engine="extractive")
    return starting.start(wanted=wanted, is_for_workers=False, by=None)


def command(*words: object) -> Result:
    return CliRunner().invoke(main, ["eval", "answers", *map(str, words)])


# --- Alone ---------------------------------------------------------------------------------------


def test_of_many_who_take_a_run_at_once_one_gets_it(judge: OpenAIServer) -> None:
    run = begun(1)

    def take(_: int) -> bool:
        try:
            return action.claim(run=run.pk, for_workers=False) is not None
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as threads:
        taken = list(threads.map(take, range(8)))

    assert taken.count(True) == 1


def test_a_second_resume_says_who_carries_the_run_out_and_asks_nobody(judge: OpenAIServer) -> None:
    run = begun()
    claimed = action.claim(run=run.pk, for_workers=False)
    assert claimed is not None

    with holding(claimed):
        second = command("--resume", run.pk)

    host, _, process = claimed.held_by.rpartition("/")
    assert second.exit_code == 1
    assert f"is being carried out by process {process} on {host}" in second.output
    assert judge.requests == []


def test_two_resumes_at_once_ask_for_every_reply_once(judge: OpenAIServer, tmp_path: Path) -> None:
    run = begun(3)

    def resume(_: int) -> Result:
        try:
            return command("--resume", run.pk, "--out", tmp_path)
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as threads:
        both = list(threads.map(resume, range(2)))

    run.refresh_from_db()
    assert sorted(one.exit_code for one in both) == [0, 1]
    assert (run.state, run.done, len(judge.requests)) == ("finished", 6, 6)


def test_what_was_let_go_is_taken_up_at_once(judge: OpenAIServer, tmp_path: Path) -> None:
    run = begun(1)
    claimed = action.claim(run=run.pk, for_workers=False)
    assert claimed is not None
    with pytest.raises(KeyboardInterrupt), holding(claimed):
        raise KeyboardInterrupt

    assert command("--resume", run.pk, "--out", tmp_path).exit_code == 0


def test_a_claim_without_a_sign_of_life_lapses_and_its_holder_writes_nothing_more(
    judge: OpenAIServer, settings: Settings
) -> None:
    run = begun(1)
    first = action.claim(run=run.pk, for_workers=False)
    assert first is not None
    silent = timezone.now() - timedelta(seconds=settings.SCI_RAG_LEASE_SECONDS + 1)
    EvaluationRun.objects.update(touched_at=silent)
    second = action.claim(run=run.pk, for_workers=False)
    assert second is not None

    with pytest.raises(RunLost):
        running.carry_out(first)
    run_claims.let_go(first)

    assert not run_claims.renew(first)
    assert run_claims.renew(second)
    assert Judgement.objects.count() == 0


def test_a_claim_is_kept_alive_while_a_model_takes_its_time(judge: OpenAIServer, settings: Settings) -> None:
    settings.SCI_RAG_LEASE_SECONDS = 1
    run = begun(1)
    claimed = action.claim(run=run.pk, for_workers=False)
    assert claimed is not None

    with holding(claimed):
        deadline = monotonic() + 20
        while EvaluationRun.objects.get().touched_at == claimed.touched_at:
            assert monotonic() < deadline
            sleep(0.05)

    assert EvaluationRun.objects.get().touched_at is None


def test_a_run_of_the_workers_is_not_taken_by_the_command(judge: OpenAIServer) -> None:
    wanted = Wanted(asked(1), RetrievalScope(), engine="extractive")
    run = background.enqueue(wanted=wanted, by=None)

    result = command("--resume", run.pk)

    assert result.exit_code == 1
    assert "belongs to the worker" in result.output


# --- Again ---------------------------------------------------------------------------------------


def broken_once() -> Callable[[Request], Reply]:
    return in_turn([says(GROUNDED), says("I would rather not."), says(GROUNDED)])


def test_only_failed_replies_are_asked_for_again(judge: OpenAIServer, tmp_path: Path) -> None:
    judge.will_choose(broken_once())
    run = run_of(asked(3))
    kept = set(Judgement.objects.filter(error_code="").values_list("pk", flat=True))
    before = run.summary["dimensions"]["groundedness"]
    judge.requests.clear()
    judge.will_choose(judging())

    result = command("--retry", run.pk, "--out", tmp_path)

    run.refresh_from_db()
    after = run.summary["dimensions"]["groundedness"]
    assert result.exit_code == 0, result.output
    assert [is_grounding(request) for request in judge.requests] == [True]
    assert (before["judged"], before["failed"], after["judged"], after["failed"]) == (2, 1, 3, 0)
    assert kept < set(Judgement.objects.values_list("pk", flat=True))
    assert (run.state, run.done, run.failed) == ("finished", 6, 0)
    assert "replies that failed at first and were asked for again: 1" in run.summary["warnings"]
    assert report_of(run)["retries"][0]["codes"] == {"not_json": 1}


def test_a_judge_that_fails_again_leaves_the_run_as_it_was(judge: OpenAIServer, tmp_path: Path) -> None:
    judge.will_choose(broken_once())
    run = run_of(asked(3))
    before = run.summary["dimensions"]
    judge.will_choose(judging("no", CORRECT))

    command("--retry", run.pk, "--out", tmp_path)

    run.refresh_from_db()
    assert (run.state, run.failed, run.summary["dimensions"]) == ("finished", 1, before)


def test_a_run_of_which_every_reply_failed_gets_its_numbers_when_the_judge_is_back(
    judge: OpenAIServer, expert: User
) -> None:
    judge.will_choose(judging("no", "no"))
    run = run_of(asked(2))
    assert run.state == "failed"
    judge.will_choose(judging())

    background.ask_again(run, by=expert)
    background.work(run.pk)

    run.refresh_from_db()
    assert (run.state, run.done, run.failed) == ("finished", 4, 0)
    assert run.retries[0]["by"] == "expert"


def test_what_was_cancelled_while_it_was_asked_again_gets_its_numbers_back(judge: OpenAIServer) -> None:
    judge.will_choose(broken_once())
    run = run_of(asked(3))
    opened = starting.reopen(run, for_workers=True, by=None)
    action.cancel(run=opened, by=None)
    judge.will_choose(judging())

    background.ask_again(opened, by=None)
    background.work(run.pk)

    run.refresh_from_db()
    assert (run.state, run.done, len(run.retries)) == ("finished", 6, 2)


def test_where_nothing_failed_nothing_is_asked_again(judge: OpenAIServer) -> None:
    result = command("--retry", run_of(asked(1)).pk)

    assert result.exit_code == 1
    assert "The judge failed to give no reply" in result.output


def test_numbers_that_others_are_held_against_stay(judge: OpenAIServer) -> None:
    judge.will_choose(broken_once())
    run = run_of(asked(3))
    action.set_baseline(name="main", run=run, by=None)

    with pytest.raises(CannotStart, match="is the baseline main: its numbers stay"):
        starting.reopen(run, for_workers=False, by=None)


def test_a_run_that_goes_on_is_not_opened_again(judge: OpenAIServer) -> None:
    with pytest.raises(CannotStart, match="is not a run of answers that has ended"):
        starting.reopen(begun(1), for_workers=False, by=None)


def test_a_run_goes_on_with_the_prompts_it_began_with(judge: OpenAIServer) -> None:
    run = begun(1)
    run.conditions["prompts"]["judge_grounding"] = "0" * 64
    run.save()

    with pytest.raises(CannotStart, match="The prompt judge_grounding was changed"):
        running.carry_out(run)
