"""Over all questions of the demo: what a judge is sent is what its pass is about, and nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.core.management import call_command
from django.test import override_settings
from pytest_django.plugin import DjangoDbBlocker

from answers.models import EXTRACTIVE, MODEL, Answer
from corpus.ingestion import Unwatched
from corpus.scope import RetrievalScope, scope
from evaluation.actions import questions as question_action
from evaluation.actions.importing import import_questions
from evaluation.actions.questions import Writing
from evaluation.judging import results, running, starting
from evaluation.judging.starting import Wanted
from evaluation.models import EvaluationRun, RunQuestion
from evaluation.questions import read_questions
from retrieval.profiles import LAYERS
from sci_rag_site.commands import demo_corpus
from tests.integration.evaluation.judging import JUDGE, is_grounding, judging
from tests.loopback.fixtures import forget_clients
from tests.loopback.openai_server import OpenAIServer, Reply, Request, says

pytestmark = [pytest.mark.django_db, pytest.mark.xdist_group("demo-corpus")]

FILE = Path(__file__).resolve().parents[3] / "domain/demo/seed_questions.jsonl"
WRITER = "openai/some-writer"
WRITTEN = "It was measured in the field and found to be so [1], and elsewhere not [2]."


@pytest.fixture(scope="module", params=[EXTRACTIVE, pytest.param(MODEL, marks=pytest.mark.long)])
def judged(
    request: pytest.FixtureRequest, django_db_setup: None, django_db_blocker: DjangoDbBlocker
) -> Iterator[tuple[EvaluationRun, list[Request]]]:
    """The demo, its questions answered by one engine and judged; what the judge was sent."""
    with django_db_blocker.unblock(), OpenAIServer() as server:
        server.will_choose(_replies)
        models = {
            "SCI_RAG_JUDGE_MODEL": JUDGE,
            "SCI_RAG_LLM_MODEL": WRITER if request.param == MODEL else "",
            "SCI_RAG_LLM_API_BASE": server.base_url,
            "SCI_RAG_LLM_API_KEY": "sk-test",
        }
        demo_corpus.load(Unwatched())
        with override_settings(**models):
            run = _run()
        forget_clients()
        yield run, [each for each in server.requests if each.body["model"] == JUDGE.partition("/")[2]]
        call_command("flush", interactive=False, verbosity=0)


def _replies(request: Request) -> Reply:
    return judging()(request) if request.body["model"] == JUDGE.partition("/")[2] else says(WRITTEN)


def _run() -> EvaluationRun:
    question_set = question_action.add_set(name="demo", by=None)
    import_questions(
        question_set=question_set,
        seeds=read_questions(FILE),
        writing=Writing(RetrievalScope()),
        origin=FILE.name,
        by=None,
    )
    wanted = Wanted(question_set, scope(exclude_retracted=True))
    run = starting.start(wanted=wanted, is_for_workers=False, by=None)
    ended = running.carry_out(run)
    assert ended is not None
    return ended


def rows(run: EvaluationRun) -> list[RunQuestion]:
    return list(run.questions.select_related("answer_outcome__answer").order_by("number"))


def sources(row: RunQuestion) -> list[str]:
    found = Answer.objects.get(pk=row.answer_outcome.answer_id).sources.select_related("chunk")
    return [source.chunk.body for source in found if source.chunk is not None]


def of(requests: list[Request], row: RunQuestion) -> tuple[str, str]:
    """Return what the judge was sent about one question: against the sources, against the reference."""
    about = [each for each in requests if f"\n{row.question}\n" in each.prompt]
    (grounding,) = [each.prompt for each in about if is_grounding(each)]
    (correctness,) = [each.prompt for each in about if not is_grounding(each)]
    return grounding, correctness


def plain(text: str) -> str:
    return " ".join(text.split())


Judged = tuple[EvaluationRun, list[Request]]


def test_every_question_is_judged_in_both_passes(judged: Judged) -> None:
    run, requests = judged

    assert run.state == "finished"
    assert len(requests) == 2 * len(read_questions(FILE)) == run.done == run.planned
    assert len(results.judged(run)) == len(read_questions(FILE))


def test_against_the_sources_no_reference_is_sent(judged: Judged) -> None:
    run, requests = judged

    for row in rows(run):
        grounding, _ = of(requests, row)
        assert "<reference" not in grounding
        said = plain(row.answer_outcome.answer.text) + plain(" ".join(sources(row)))
        if plain(row.reference_answer) not in said:
            assert plain(row.reference_answer) not in plain(grounding), row.key


def test_against_the_reference_no_source_is_sent(judged: Judged) -> None:
    run, requests = judged

    for row in rows(run):
        _, correctness = of(requests, row)
        answer = plain(row.answer_outcome.answer.text)
        assert "<source" not in correctness
        # An answer that quotes brings its own quotations; around it there is nothing.
        around = plain(correctness).replace(answer, "")
        for body in sources(row):
            assert plain(body) not in around, row.key
            assert not any(sentence in around for sentence in _sentences(body)), row.key


def _sentences(body: str) -> list[str]:
    return [part for part in re.split(r"(?<=[.!?])\s+", plain(body)) if len(part) > 40]


def test_the_numbered_sources_are_exactly_those_of_the_answer(judged: Judged) -> None:
    run, requests = judged

    for row in rows(run):
        grounding, _ = of(requests, row)
        numbers = [int(number) for number in re.findall(r'<source-[0-9a-f]{32} number="(\d+)">', grounding)]
        assert numbers == list(range(1, row.answer_outcome.sources + 1)), row.key
        assert all(plain(body) in plain(grounding) for body in sources(row)), row.key


def test_neither_pass_is_told_how_the_answer_came_about(judged: Judged) -> None:
    run, requests = judged
    telling = [*LAYERS, EXTRACTIVE, "engine", "interactive", "deep", "rank", "score", "fusion", WRITER, JUDGE]
    assert len(LAYERS) >= 3

    for row in rows(run):
        texts = [row.question, row.reference_answer, row.answer_outcome.answer.text, *sources(row)]
        titles = list(row.answer_outcome.answer.sources.values_list("title", "section_path", "locator"))
        for prompt in of(requests, row):
            ours = plain(prompt).casefold()
            for text in sorted(texts, key=len, reverse=True):
                ours = ours.replace(plain(text).casefold(), "")
            theirs = plain(str(titles)).casefold()
            for word in telling:
                found = re.search(rf"\b{re.escape(word.casefold())}\b", ours)
                assert found is None or word.casefold() in theirs, (row.key, word)
            for source in row.answer_outcome.answer.sources.all():
                assert f"{source.score:.4f}" not in prompt


def test_what_unanswerable_questions_get_is_counted_as_refusals(judged: Judged) -> None:
    run, _ = judged
    unanswerable = sum(question.unanswerable for question in read_questions(FILE))

    assert run.summary["abstention"]["unanswerable"] == unanswerable > 0
