"""Retrieval evaluations: conditions first, every result counted, the same numbers every time."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone
from pytest_django.fixtures import Settings

from corpus import snapshots
from corpus.fingerprint import fingerprint
from corpus.models import Chunk, Document
from corpus.scope import RetrievalScope, scope
from evaluation.actions import questions as asking
from evaluation.actions import runs as action
from evaluation.models import EvaluationRun, Question, QuestionSet, RetrievalOutcome
from evaluation.runs import ablations, background, running
from evaluation.runs.ablations import CONFIGURATIONS, UnknownConfiguration
from evaluation.runs.planning import CannotEvaluate
from evaluation.tasks import carry_out, continue_runs
from retrieval.retriever import RetrievalFailed
from tests.integration.evaluation.questions import FACTS, evaluated, facts, plan, question_set, seed, write
from tests.integration.retrieval import corpora

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def asked() -> QuestionSet:
    facts(license_class="public")
    return question_set()


def level(run: EvaluationRun, name: str, of: str = "passage") -> dict[str, Any]:
    (numbers,) = [one for one in run.summary["configurations"] if one["name"] == name]
    found: dict[str, Any] = numbers["levels"][of]
    return found


def test_a_run_names_its_conditions_and_keeps_its_questions(asked: QuestionSet) -> None:
    run = evaluated(asked)

    assert run.state == "finished"
    assert (run.question_set_name, run.drafted, run.reviewed) == ("facts", len(FACTS) + 1, 0)
    assert run.fingerprint == fingerprint(RetrievalScope())
    assert run.embedding_version == "all-MiniLM-L6-v2@384"
    assert "source" in run.code_version
    assert run.conditions["prompts"]["answer"]
    assert run.conditions["seed"] == 20_261_130
    assert run.questions.count() == len(FACTS) + 1
    assert (run.planned, run.done, run.failed) == (len(FACTS), len(FACTS), 0)


def test_what_was_found_is_measured_by_passage_and_by_document(asked: QuestionSet) -> None:
    run = evaluated(asked)

    assert run.summary["questions"] == len(FACTS)
    assert run.summary["unanswerable"] == 1
    for of in ("passage", "document"):
        assert level(run, "full_deep", of)["hit@5"] == {"mean": 1.0, "interval": [1.0, 1.0]}
    outcome = RetrievalOutcome.objects.select_related("question").get(question__key="ash")
    assert outcome.measures["passage"]["mrr"] == 1.0
    assert outcome.found[0]["ranks"]["keyword"] == 1
    assert outcome.stages["hyde"]["status"] == "disabled"
    assert (outcome.question.relevant_documents, outcome.question.relevant_passages) == (1, 1)


def test_a_run_keeps_no_words_of_documents(asked: QuestionSet) -> None:
    evaluated(asked)

    for outcome in RetrievalOutcome.objects.all():
        assert not any(word in str(outcome.found) for word in ("straw", "bales", "About"))


def test_every_row_is_paired_with_full_deep_and_a_missing_reranker_or_merge_is_a_refusal(
    asked: QuestionSet,
) -> None:
    run = evaluated(asked, *CONFIGURATIONS)

    rows = {one["name"]: one for one in run.summary["configurations"]}
    assert list(rows) == list(CONFIGURATIONS)
    refused = {name for name, one in rows.items() if one["refusal"]}
    assert refused == {"with_rerank", "resolved_entities"}
    for name in set(rows) - refused - {"full_deep"}:
        paired = rows[name]["levels"]["passage"]["ndcg@10"]["against_first"]
        assert paired["questions"] == len(FACTS)
        assert isinstance(paired["p"], float)
    assert "against_first" not in rows["full_deep"]["levels"]["passage"]["mrr"]
    assert rows["no_hyde"]["levels"]["passage"]["mrr"]["against_first"]["p"] == 1.0
    assert run.planned == len(FACTS) * (len(rows) - len(refused))


def test_the_same_run_again_has_identical_numbers(asked: QuestionSet) -> None:
    names = ("interactive", "vector_only", "auto_routed")

    first, second = evaluated(asked, *names), evaluated(asked, *names)

    assert first.summary == second.summary
    assert [one.found for one in _outcomes(first)] == [one.found for one in _outcomes(second)]


def _outcomes(run: EvaluationRun) -> list[RetrievalOutcome]:
    rows = RetrievalOutcome.objects.filter(configuration__run=run)
    return list(rows.order_by("configuration__number", "question__number"))


def test_a_layer_that_is_taken_out_finds_nothing(asked: QuestionSet) -> None:
    run = evaluated(asked, "keyword_only")

    outcome = RetrievalOutcome.objects.filter(configuration__name="keyword_only").first()
    assert outcome is not None
    assert set(outcome.stages) & {"vector", "graph", "hyde", "community"} == set()
    assert level(run, "keyword_only")["hit@5"]["mean"] == 1.0


def test_retracted_works_are_left_out_where_the_configuration_says_so(asked: QuestionSet) -> None:
    from tests.factories.corpus import SourceFactory

    Document.objects.filter(doi_normalised="10.5555/ash").update(source=SourceFactory(is_retracted=True))

    run = evaluated(asked, "no_retracted")

    assert level(run, "full_deep")["hit@10"]["mean"] == 1.0
    assert level(run, "no_retracted")["hit@10"]["mean"] == pytest.approx(1 - 1 / len(FACTS))


def test_evidence_that_no_passage_holds_counts_as_missed_and_is_named(asked: QuestionSet) -> None:
    Chunk.objects.filter(body__startswith="The ash content").update(body="Something else.")

    run = evaluated(asked)

    assert run.summary["unfindable"] == ["ash"]
    assert level(run, "full_deep")["hit@10"]["mean"] == pytest.approx(1 - 1 / len(FACTS))
    assert level(run, "full_deep", "document")["hit@10"]["mean"] == 1.0


def test_a_reference_document_that_is_not_held_lowers_recall_and_is_not_forgotten() -> None:
    facts(license_class="public")
    made = asking.add_set(name="two", by=None)
    write(made, "ash", reference_documents=["10.5555/ash", "10.5555/not-held"])

    run = evaluated(made)

    assert level(run, "full_deep", "document")["recall@20"]["mean"] == 0.5


def test_few_questions_have_no_interval_and_no_p() -> None:
    facts(license_class="public")
    made = asking.add_set(name="one", by=None)
    write(made, "ash")

    run = evaluated(made, "interactive")

    assert level(run, "interactive")["mrr"]["interval"] == "too few questions"
    assert level(run, "interactive")["mrr"]["against_first"]["p"] == "too few questions"


def test_questions_without_phrases_are_measured_by_document_alone() -> None:
    facts(license_class="public")
    made = asking.add_set(name="one", by=None)
    write(made, "ash", evidence_phrases=[])

    run = evaluated(made)

    assert level(run, "full_deep")["questions"] == 0
    assert level(run, "full_deep")["mrr"]["mean"] == "undefined"
    assert level(run, "full_deep", "document")["mrr"]["mean"] == 1.0


def test_tags_kinds_and_splits_have_numbers_of_their_own() -> None:
    facts(license_class="public")
    made = asking.add_set(name="mixed", by=None)
    write(made, "ash", "straw", kind="lookup", split="test")
    write(made, "stack", split="train", tags=["rules"])

    run = evaluated(made)

    (numbers,) = run.summary["configurations"]
    assert {name: one["questions"] for name, one in numbers["tags"].items()} == {"numeric": 2, "rules": 1}
    assert numbers["splits"]["test"]["passage"]["hit@5"] == 1.0
    assert list(numbers["kinds"]) == ["lookup"]


@pytest.mark.parametrize(("values", "count"), [({"split": "test"}, 2), ({"tags": ("rules",)}, 1)])
def test_a_run_may_ask_some_of_a_set(values: dict[str, Any], count: int) -> None:
    facts(license_class="public")
    made = asking.add_set(name="mixed", by=None)
    write(made, "ash", "straw", split="test")
    write(made, "stack", tags=["rules"])

    assert evaluated(made, **values).planned == count


def test_there_has_to_be_something_to_ask_and_to_find(asked: QuestionSet) -> None:
    with pytest.raises(CannotEvaluate, match="no question of that kind"):
        evaluated(asked, tags=("absent",))
    with pytest.raises(CannotEvaluate, match="allows nothing"):
        evaluated(asked, scope=scope(license_classes=[]))
    with pytest.raises(UnknownConfiguration, match="no_luck"):
        ablations.chosen(["no_luck"])


def test_a_snapshot_is_named_while_the_corpus_equals_it(asked: QuestionSet) -> None:
    snapshots.take("before")

    assert evaluated(asked, snapshot="before").snapshot == "before"

    corpora.add("Later", ["Something new."])
    with pytest.raises(CannotEvaluate, match="not what the snapshot"):
        evaluated(asked, snapshot="before")
    with pytest.raises(CannotEvaluate, match="no snapshot called"):
        evaluated(asked, snapshot="never")


def test_a_corpus_that_changes_meanwhile_ends_the_run_without_numbers(asked: QuestionSet) -> None:
    run = background.enqueue(plan(asked), by=None)
    corpora.add("Later", ["Something new."])

    background.work(run.pk)

    run.refresh_from_db()
    assert (run.state, run.last_error_code, run.summary) == ("failed", "corpus_changed", {})


def test_a_question_that_changes_meanwhile_ends_the_run_without_numbers(asked: QuestionSet) -> None:
    run = background.enqueue(plan(asked), by=None)
    question = Question.objects.get(key="ash")
    asking.change(
        question=question, seed=seed("ash", tags=["new"]), seen_sha256=question.content_sha256,
        writing=asking.Writing(RetrievalScope()), by=None,
    )  # fmt: skip

    background.work(run.pk)

    run.refresh_from_db()
    assert (run.state, run.last_error_code) == ("failed", "questions_changed")


def test_a_run_is_limited_to_what_its_starter_may_see_and_ends_when_that_shrinks(
    asked: QuestionSet, expert: User
) -> None:
    Document.objects.filter(doi_normalised="10.5555/ash").update(license_class="restricted")
    run = background.enqueue(plan(asked, by=expert), by=expert)
    assert run.planned == len(FACTS) - 1
    expert.groups.clear()

    background.work(run.pk)

    run.refresh_from_db()
    assert (run.state, run.last_error_code) == ("failed", "rights_changed")


def test_retrieval_that_fails_counts_as_missed_and_is_named(
    asked: QuestionSet, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = running.retrieve

    def fails_once(**options: Any) -> Any:
        if "ash" in options["question"]:
            raise RetrievalFailed
        return real(**options)

    monkeypatch.setattr(running, "retrieve", fails_once)

    run = evaluated(asked)

    assert (run.state, run.failed) == ("finished", 1)
    assert run.summary["configurations"][0]["failed"] == ["ash"]
    assert level(run, "full_deep")["hit@10"]["mean"] == pytest.approx(1 - 1 / len(FACTS))


def test_a_run_of_which_everything_failed_is_a_failed_run(
    asked: QuestionSet, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(**_: Any) -> None:
        raise RetrievalFailed

    monkeypatch.setattr(running, "retrieve", fails)

    run = evaluated(asked)

    assert (run.state, run.last_error_code, run.summary) == ("failed", "retrieval_failed", {})


def test_a_worker_carries_a_run_out_and_a_second_message_changes_nothing(asked: QuestionSet) -> None:
    run = background.enqueue(plan(asked, "interactive"), by=None)
    carry_out(str(run.pk))

    run.refresh_from_db()
    before = (run.state, run.done, run.finished_at)
    carry_out(str(run.pk))
    run.refresh_from_db()

    assert before == (run.state, run.done, run.finished_at)
    assert (run.state, run.done) == ("finished", len(FACTS) * 2)


def test_a_turn_that_is_over_leaves_the_run_to_the_next_which_asks_nothing_twice(
    asked: QuestionSet, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = background.enqueue(plan(asked), by=None)
    with monkeypatch.context() as patched:
        patched.setattr(background, "TURN_SECONDS", -1.0)
        background.work(run.pk)
    run.refresh_from_db()
    assert (run.state, run.touched_at, run.done) == ("running", None, 0)

    stopped = running._Work(run)
    first = run.questions.order_by("number").first()
    assert first is not None
    outcome = stopped.outcome(run.configurations.get(), first)
    action.keep(outcome=outcome, documents=[])
    action.keep(outcome=stopped.outcome(run.configurations.get(), first), documents=[])
    EvaluationRun.objects.update(touched_at=timezone.now() - timedelta(hours=1))
    continue_runs()

    run.refresh_from_db()
    assert (run.state, run.done) == ("finished", len(FACTS))


def test_a_run_at_work_is_left_alone_until_it_shows_no_sign_of_life(asked: QuestionSet) -> None:
    run = background.enqueue(plan(asked), by=None)
    EvaluationRun.objects.update(touched_at=timezone.now())
    continue_runs()
    assert RetrievalOutcome.objects.count() == 0

    EvaluationRun.objects.update(touched_at=timezone.now() - timedelta(hours=1))
    continue_runs()

    run.refresh_from_db()
    assert run.state == "finished"


def test_a_cancelled_run_stops_with_the_question_at_hand_and_has_no_numbers(asked: QuestionSet) -> None:
    run = background.enqueue(plan(asked), by=None)

    assert action.cancel(run=run, by=None)
    assert not action.cancel(run=run, by=None)
    background.work(run.pk)

    run.refresh_from_db()
    assert (run.state, run.done, run.summary) == ("cancelled", 0, {})


def test_a_broker_that_is_down_does_not_lose_the_run(asked: QuestionSet, settings: Settings) -> None:
    settings.CELERY_APP = "tests.integration.evaluation.test_retrieval_runs.Down"

    run = background.enqueue(plan(asked), by=None)

    assert background.waiting() == [run.pk]


class Down:
    @staticmethod
    def send_task(*_: object, **__: object) -> None:
        raise OSError


def test_only_a_finished_run_is_a_baseline(asked: QuestionSet, expert: User) -> None:
    open_run = background.enqueue(plan(asked), by=None)
    with pytest.raises(action.NotABaseline):
        action.set_baseline(name="main", run=open_run, by=expert)
    first, second = evaluated(asked), evaluated(asked)

    action.set_baseline(name="main", run=first, by=expert)
    baseline = action.set_baseline(name="main", run=second, by=expert)

    assert (baseline.run, baseline.set_by_name) == (second, "expert")
    assert not first.baselines.exists()
