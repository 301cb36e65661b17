"""The compression gate over real runs: the same questions with whole and with condensed sources."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from django.contrib.auth.models import User
from django.db import DatabaseError, IntegrityError
from django.test import Client
from django.urls import reverse
from pytest_django.fixtures import Settings

from answers.models import Answer
from corpus.domain_profile import active_profile
from corpus.egress import NOTHING_HELD
from corpus.gateways import llm
from corpus.scope import scope
from corpus.usage.purposes import Purpose
from evaluation.actions import calibration
from evaluation.actions import compression as action
from evaluation.compression.models import CompressionDecision
from evaluation.judging.starting import CannotStart, reopen
from evaluation.models import EvaluationRun, QuestionSet
from sci_rag_site.cli import main
from tests.integration.evaluation.judging import CORRECT, FACTS, JUDGE, asked, is_grounding, run_of
from tests.loopback.fixtures import forget_clients
from tests.loopback.openai_server import OpenAIServer, Reply, Request, says

pytestmark = pytest.mark.django_db(transaction=True)
WRITER, FAST = "openai/writer", "openai/fast"
FILLER = " The plots were cut by hand and weighed twice by two students of the institute." * 6


@pytest.fixture(autouse=True)
def _close_clients() -> Iterator[None]:
    yield
    forget_clients()


@pytest.fixture
def models(judge: OpenAIServer, settings: Settings) -> OpenAIServer:
    """A writer, a fast model and a judge; prompts are counted in words."""
    settings.SCI_RAG_LLM_MODEL, settings.SCI_RAG_FAST_MODEL = WRITER, FAST
    judge.will_count(lambda text: len(text.split()))
    judge.will_choose(script())
    fast = llm.fast_model()
    assert fast is not None
    # litellm makes its client now: of those that several threads make at once, one alone is closed.
    for seconds in (60.0, active_profile().compression.seconds):
        llm.complete(fast, system="", user="", purpose=Purpose.PROBE, carries=NOTHING_HELD, timeout=seconds)
    judge.requests.clear()
    return judge


def script(completeness: Callable[[str], int] = lambda _: 2) -> Callable[[Request], Reply]:
    """Return what the models say; the judge's grade for completeness depends on the answer."""

    def reply(request: Request) -> Reply:
        model = request.body["model"]
        if model == "fast":
            fact = next((fact for fact in FACTS if fact in request.prompt), "")
            return says(json.dumps({"relevance": 9, "summary": fact}))
        if model == "writer":
            return says("Briefly so [1]." if FILLER.strip() not in request.prompt else "At length so [1].")
        if is_grounding(request):
            grades = {"groundedness": 2, "citation_accuracy": 2}
            return says(json.dumps(grades | {"completeness": completeness(request.prompt)}))
        return says(CORRECT)

    return reply


@pytest.fixture
def questions() -> QuestionSet:
    return asked(more=FILLER)


def run(*command: str | Path) -> Result:
    return CliRunner().invoke(main, ["eval", *map(str, command)])


def both(questions: QuestionSet) -> tuple[EvaluationRun, EvaluationRun]:
    """Carry both runs out over what an expert may see."""
    options = {"engine": "model", "requested": scope(license_classes=["public"])}
    return run_of(questions, compressed=False, **options), run_of(questions, compressed=True, **options)


def test_the_command_answers_twice_judges_and_adopts(
    models: OpenAIServer, questions: QuestionSet, tmp_path: Path
) -> None:
    result = run("compression", questions.name, "--out", tmp_path, "--json")

    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    decision = CompressionDecision.objects.get()
    assert (found["adopted"], found["decision"], found["reasons"]) == (True, str(decision.pk), [])
    whole, condensed = decision.whole, decision.condensed
    assert (whole.fingerprint, whole.questions_sha256, whole.judge) == (
        condensed.fingerprint, condensed.questions_sha256, JUDGE,
    )  # fmt: skip
    assert [run.parameters["compressed"] for run in (whole, condensed)] == [False, True]
    assert [run.summary["compression"]["answers"] for run in (whole, condensed)] == [0, len(FACTS)]
    assert found["numbers"]["tokens"]["after"] < found["numbers"]["tokens"]["before"]
    assert found["numbers"]["compression"]["prompt_tokens_taken"] > 0
    assert len(list(tmp_path.glob("*/report.json"))) == 2
    assert Answer.objects.filter(text="Briefly so [1].").count() == len(FACTS)


def test_a_loss_is_rejected_kept_and_ends_the_command_with_1(
    models: OpenAIServer, questions: QuestionSet, tmp_path: Path
) -> None:
    models.will_choose(script(lambda prompt: 0 if "Briefly" in prompt else 2))

    result = run("compression", questions.name, "--out", tmp_path)
    decision = CompressionDecision.objects.get()
    again = run("compression", "--whole", decision.whole_id, "--condensed", decision.condensed_id, "--json")

    assert result.exit_code == again.exit_code == 1
    assert "- Completeness fell by 2.000, from 2.000 to 0.000" in result.output
    assert decision.is_adopted is False
    assert json.loads(again.stdout)["decision"] == str(decision.pk)


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        ((), 2, "Name a question set, or two runs"),
        (("--whole", "abcdef"), 2, "Name a question set, or two runs"),
        (("nowhere",), 1, "There is no question set called nowhere"),
        (("--whole", "abcdef", "--condensed", "fedcba"), 1, "There is no run, baseline or report"),
    ],
)
def test_what_cannot_be_decided_is_said(db: None, options: tuple[str, ...], code: int, said: str) -> None:
    result = run("compression", *options)

    assert result.exit_code == code
    assert said in result.output


def test_without_a_writing_model_there_is_nothing_to_condense(
    judge: OpenAIServer, questions: QuestionSet
) -> None:
    result = run("compression", questions.name)

    assert result.exit_code == 1
    assert "Only a model reads condensed sources: set SCI_RAG_LLM_MODEL." in result.output


def test_a_dry_run_asks_nobody_and_a_cap_ends_it_with_what_is_done_kept(
    models: OpenAIServer, questions: QuestionSet
) -> None:
    said = run("compression", questions.name, "--dry-run", "--json")
    asked_by_then = len(models.requests)
    capped = run("compression", questions.name, "--max-tokens", "500")

    assert json.loads(said.stdout)["estimate"]["calls"] > 4 * len(FACTS)
    assert asked_by_then == 0
    assert capped.exit_code == 3
    assert "decide by two runs with --whole and --condensed" in capped.stderr
    assert EvaluationRun.objects.get().state == "capped"
    assert not CompressionDecision.objects.exists()


def test_two_runs_the_wrong_way_round_decide_nothing(models: OpenAIServer, questions: QuestionSet) -> None:
    whole, condensed = both(questions)

    result = run("compression", "--whole", condensed.pk, "--condensed", whole.pk)

    assert result.exit_code == 1
    assert "the sources before differs (condensed in 6 answers and whole wanted)" in result.output
    assert not CompressionDecision.objects.exists()


def test_a_decision_is_for_good(models: OpenAIServer, questions: QuestionSet) -> None:
    whole, condensed = both(questions)
    decision = action.decide(whole=whole, condensed=condensed, by=None)

    with pytest.raises(DatabaseError, match="Cannot update or delete"):
        CompressionDecision.objects.update(is_adopted=False, reasons=["no"])
    with pytest.raises(DatabaseError, match="Cannot update or delete"):
        decision.delete()
    with pytest.raises(CannotStart, match="A decision on compression rests on run"):
        reopen(whole, for_workers=False, by=None)
    assert action.decide(whole=whole, condensed=condensed, by=None) == decision


@pytest.mark.parametrize(
    ("values", "rule"),
    [
        ({"is_adopted": True, "reasons": ["no"]}, "a_rejection_has_reasons"),
        ({"is_adopted": False, "reasons": []}, "a_rejection_has_reasons"),
        ({"is_adopted": True, "reasons": [], "same": True}, "is_of_two_runs"),
    ],
)
def test_the_database_holds_to_it(judge: OpenAIServer, values: dict[str, Any], rule: str) -> None:
    one, other = run_of(asked(1)), run_of(QuestionSet.objects.get())
    same = values.pop("same", False)

    with pytest.raises(IntegrityError, match=rule):
        CompressionDecision.objects.create(whole=one, condensed=one if same else other, numbers={}, **values)


def test_two_runs_are_chosen_on_the_page_and_the_verdict_is_read_there(
    models: OpenAIServer, questions: QuestionSet, client: Client, expert: User, librarian: User
) -> None:
    whole, condensed = both(questions)
    client.force_login(expert)
    page, chosen = reverse("compression_decisions"), {"whole": whole.pk, "condensed": condensed.pk}
    refused = client.post(page, {"whole": condensed.pk, "condensed": whole.pk})
    nothing = client.post(page, {})

    response = client.post(page, chosen, follow=True)

    assert (refused.status_code, nothing.status_code) == (422, 422)
    assert "These two runs decide nothing" in refused.content.decode()
    told = f", condensed ({str(condensed.pk)[:8]})</option>"
    assert f'<option value="{condensed.pk}" selected>Answers of' in refused.content.decode()
    assert told in refused.content.decode()
    text = response.content.decode()
    assert "<h1>Adopted</h1>" in text
    assert "measurably shorter" in text
    assert "drafts that no expert has signed" in text
    assert CompressionDecision.objects.get().decided_by_name == "expert"
    assert str(CompressionDecision.objects.get().pk) in client.get(page).content.decode()
    client.force_login(librarian)
    assert client.get(page).status_code == 200
    assert client.post(page, chosen).status_code == 404


def test_whoever_still_grades_answers_of_a_run_does_not_see_what_was_decided_by_it(
    models: OpenAIServer, questions: QuestionSet, client: Client, expert: User
) -> None:
    whole, condensed = both(questions)
    decision = action.decide(whole=whole, condensed=condensed, by=None)
    calibration.draw(run=condensed, size=3, seed=1, by=None)
    client.force_login(expert)

    assert client.get(reverse("compression_decision", args=[decision.pk])).status_code == 403
    listed = client.get(reverse("compression_decisions")).content.decode()
    assert "Adopted" not in listed
    assert f'<option value="{condensed.pk}"' not in listed
