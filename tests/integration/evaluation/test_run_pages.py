"""The pages of evaluation runs: started, followed, read, compared."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest
from asgiref.sync import async_to_sync
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from corpus.models import Document
from evaluation.actions import runs
from evaluation.models import EvaluationRun, QuestionSet
from evaluation.runs import background
from tests.factories.evaluation import EvaluationRunFactory
from tests.integration.evaluation.questions import FACTS, evaluated, facts, plan, question_set, write

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def asked() -> QuestionSet:
    facts(license_class="public")
    return question_set()


@pytest.fixture
def reader(client: Client, expert: User) -> Client:
    client.force_login(expert)
    return client


def text_of(client: Client, name: str, *arguments: object, **query: str) -> str:
    response = client.get(reverse(name, args=arguments), query)
    assert response.status_code == 200, response.status_code
    return " ".join(response.content.decode().split())


def test_a_run_is_started_carried_out_and_read_on_its_page(reader: Client, asked: QuestionSet) -> None:
    assert "Nothing has been measured yet" in text_of(reader, "evaluations")
    assert "facts</option>" in text_of(reader, "evaluation_start")

    started = reader.post(
        reverse("evaluation_start"),
        {"question_set": str(asked.pk), "how": "ablate", "include_retracted": "on"},
    )
    run = EvaluationRun.objects.get()
    assert started.url == reverse("evaluation", args=[run.pk])
    before = text_of(reader, "evaluation", run.pk)
    background.work(run.pk)
    after = text_of(reader, "evaluation", run.pk)

    assert f'max="{run.planned}" value="0"' in before
    assert "Cancel after the question at hand" in before
    assert "8 of 8 questions are drafts that no expert has signed." in after
    assert "ndcg@10 by passage, paired with full_deep" in after
    assert "Not carried out: with_rerank" in after
    assert "Finished" in text_of(reader, "evaluations")


def test_a_run_keeps_to_what_its_starter_may_see(reader: Client, asked: QuestionSet) -> None:
    Document.objects.filter(doi_normalised="10.5555/ash").update(license_class="restricted")

    reader.post(reverse("evaluation_start"), {"question_set": str(asked.pk), "how": "interactive"})

    run = EvaluationRun.objects.get()
    assert run.planned == len(FACTS) - 1
    assert run.scope["license_classes"] == ["public", "open_commercial", "open_noncommercial"]
    assert run.scope["exclude_retracted"] is True
    assert not run.questions.filter(key="ash").exists()


def test_what_cannot_be_started_is_said_and_what_was_chosen_is_kept(
    reader: Client, asked: QuestionSet
) -> None:
    response = reader.post(
        reverse("evaluation_start"), {"question_set": str(asked.pk), "how": "deep", "split": "test"}
    )

    text = response.content.decode()
    assert response.status_code == 422
    assert "has no question of that kind to ask" in text
    assert '<option value="deep" selected>' in text
    assert '<option value="test" selected>' in text


def test_without_questions_there_is_nothing_to_start(reader: Client) -> None:
    assert "There are no questions to ask" in text_of(reader, "evaluation_start")


def test_a_run_is_cancelled_by_who_may_start_one(
    reader: Client, asked: QuestionSet, expert: User, librarian: User
) -> None:
    run = background.enqueue(plan(asked, by=expert), by=expert)
    reader.force_login(librarian)
    assert reader.post(reverse("evaluation_cancel", args=[run.pk])).status_code == 404
    reader.force_login(expert)

    reader.post(reverse("evaluation_cancel", args=[run.pk]))

    assert "A run that was cancelled has no numbers." in text_of(reader, "evaluation", run.pk)


def test_the_stream_sends_the_progress_and_ends_with_the_run(
    reader: Client, asked: QuestionSet, expert: User
) -> None:
    run = background.enqueue(plan(asked, by=expert), by=expert)
    background.work(run.pk)

    response = reader.get(reverse("evaluation_events", args=[run.pk]))
    sent = async_to_sync(_drained)(response)

    assert 'hx-target="#run-progress"' in sent
    assert "7 of 7 results" in sent
    assert "event: ended" in sent


async def _drained(response: object) -> str:
    return "".join([part.decode() async for part in response.streaming_content])  # type: ignore[attr-defined]


def test_a_failed_run_says_why(reader: Client, asked: QuestionSet, expert: User) -> None:
    run = background.enqueue(plan(asked, by=expert), by=expert)
    runs.fail(run=run.pk, code="corpus_changed")

    assert "The corpus changed while it was asked" in text_of(reader, "evaluation", run.pk)


def test_plots_and_reports_are_handed_over(reader: Client, asked: QuestionSet, expert: User) -> None:
    run = evaluated(asked, "interactive", by=expert)

    for name in ("values", "deltas"):
        plot = reader.get(reverse("evaluation_plot", args=[run.pk, name]))
        assert plot["Content-Type"] == "image/svg+xml"
        assert ElementTree.fromstring(plot.content).tag.endswith("svg")  # noqa: S314 - our own
    for form, said in (("json", '"fingerprint"'), ("md", "# Evaluation of retrieval"), ("html", "<svg")):
        response = reader.get(reverse("evaluation_report", args=[run.pk, form]))
        assert response["Content-Disposition"].startswith("attachment; ")
        assert said in response.content.decode()
    assert reader.get(reverse("evaluation_plot", args=[run.pk, "other"])).status_code == 404
    assert reader.get(reverse("evaluation_report", args=[run.pk, "pdf"])).status_code == 404


def test_a_question_of_a_run_shows_what_each_layer_found(
    reader: Client, asked: QuestionSet, expert: User
) -> None:
    run = evaluated(asked, "keyword_only", by=expert)
    number = run.questions.get(key="ash").number

    deep = text_of(reader, "evaluation_question", run.pk, number)
    words = text_of(reader, "evaluation_question", run.pk, number, by="keyword_only")

    assert "About ash</a>" in deep
    assert "holds the evidence" in deep
    assert "vector #1" in deep
    assert "<strong>hyde</strong>: disabled" in deep
    assert "keyword #1" in words
    assert "vector #" not in words
    unanswerable = run.questions.get(key="kelp").number
    assert "This question was not asked" in text_of(reader, "evaluation_question", run.pk, unanswerable)
    assert reader.get(reverse("evaluation_question", args=[run.pk, 99])).status_code == 404


def test_two_runs_are_shown_side_by_side(reader: Client, asked: QuestionSet, expert: User) -> None:
    first, second = evaluated(asked, by=expert), evaluated(asked, by=expert)
    assert "Compare with an earlier run" in text_of(reader, "evaluation", second.pk)

    page = text_of(reader, "evaluation_compare", before=str(first.pk), after=str(second.pk))

    assert "Comparable: kind, questions, corpus and judge are the same." in page
    assert "Unchanged: 7" in page
    assert "<td>+0.000</td>" in page


def test_runs_that_do_not_compare_say_what_differs_and_offer_what_may_be_passed(
    reader: Client, asked: QuestionSet, expert: User
) -> None:
    first = evaluated(asked, by=expert)
    Document.objects.filter(doi_normalised="10.5555/ash").update(license_class="open_commercial")
    second = evaluated(asked, by=expert)
    write(asked, "ash", id="ash-again")
    third = evaluated(asked, by=expert)

    refused = text_of(reader, "evaluation_compare", before=str(first.pk), after=str(second.pk))
    allowed = text_of(reader, "evaluation_compare", before=str(first.pk), after=str(second.pk), corpus="any")
    others = text_of(reader, "evaluation_compare", before=str(second.pk), after=str(third.pk))

    assert "the corpus differs" in refused
    assert "Compare all the same" in refused
    assert "Compared although the corpus differs" in allowed
    assert "the question set differs" in others
    assert "Compare all the same" not in others


def test_a_run_of_another_kind_shows_how_far_it_is(reader: Client) -> None:
    run = EvaluationRunFactory(
        kind="answers", judge="some-model", planned=4, scope={"license_classes": ["public"], "buckets": None}
    )

    assert "0 of 4 results" in text_of(reader, "evaluation", run.pk)


@pytest.mark.parametrize("address", ["", "nothing", "?before=1&after=2"])
def test_a_comparison_of_what_is_not_there_is_a_missing_page(reader: Client, address: str) -> None:
    assert reader.get(reverse("evaluation_compare") + address).status_code == 404


def test_to_an_asker_there_are_no_runs(client: Client, asker: User) -> None:
    client.force_login(asker)

    assert client.get(reverse("evaluations")).status_code == 404
    assert client.get(reverse("evaluation_start")).status_code == 404
