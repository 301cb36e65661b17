"""`sci-rag graph`, and the worker that carries runs out."""

import json
from datetime import timedelta

import pytest
from click.testing import CliRunner, Result
from django.utils import timezone
from pytest_django.fixtures import Settings

from retrieval.cli_graph import graph
from retrieval.graph.extraction import background
from retrieval.models import Entity, ExtractionRun, Relationship
from retrieval.tasks import continue_extraction, extract_graph
from tests.factories.graph import EntityFactory
from tests.integration.retrieval.graph.extracting import document

pytestmark = pytest.mark.django_db(transaction=True)

TEXT = "Pyrolysis produces biochar."


def run(*arguments: str) -> Result:
    return CliRunner().invoke(graph, list(arguments))


def test_the_rules_are_what_is_used_when_nothing_is_said() -> None:
    document(TEXT)

    result = run("extract")

    assert result.exit_code == 0, result.output
    assert "1 passages read by rules@" in result.output
    assert "Added 2 entities, 2 mentions and 1 relationships." in result.output


def test_a_dry_run_says_what_would_be_found() -> None:
    document(TEXT)

    result = run("extract", "--dry-run")

    assert "Would find 2 entities, 2 mentions and 1 relationships." in result.output
    assert Entity.objects.count() == 0


def test_a_model_that_is_not_set_is_named_with_the_way_out(settings: Settings) -> None:
    settings.SCI_RAG_LLM_MODEL = ""

    result = run("extract", "--model")

    assert result.exit_code == 1
    assert "set SCI_RAG_LLM_MODEL, or extract with --rules" in result.output


@pytest.mark.parametrize(
    "arguments", [("--limit", "0"), ("--rules", "--replay", "x"), ("--background", "--again")]
)
def test_what_does_not_go_together_is_refused(arguments: tuple[str, ...]) -> None:
    assert run("extract", *arguments).exit_code == 2


def test_gc_counts_first_and_removes_when_told() -> None:
    EntityFactory()

    counted = run("gc", "--json")
    removed = run("gc", "--apply")

    assert json.loads(counted.stdout) == {
        "dry_run": True,
        "entities": 1,
        "relationships": 0,
        "communities": 0,
    }
    assert "Removed 1 entities" in removed.output
    assert Entity.objects.count() == 0


def test_a_worker_carries_a_run_out() -> None:
    document(TEXT)

    handed = json.loads(run("extract", "--background", "--json").stdout)
    extract_graph(str(handed["run"]))

    row = ExtractionRun.objects.get(pk=handed["run"])
    assert (row.state, row.passages_done, row.relationships_added) == ("finished", 1, 1)
    extract_graph(str(row.pk))
    assert Relationship.objects.count() == 1


def test_a_run_that_its_worker_left_is_carried_on_and_one_at_work_is_not() -> None:
    document(TEXT)
    handed = background.enqueue(kind="rules", limit=None, by=None)
    ExtractionRun.objects.update(touched_at=timezone.now())

    continue_extraction()
    assert Relationship.objects.count() == 0

    ExtractionRun.objects.update(touched_at=timezone.now() - timedelta(hours=1))
    continue_extraction()
    handed.refresh_from_db()
    assert (handed.state, handed.passages_done) == ("finished", 1)


def test_a_turn_that_is_over_leaves_the_run_to_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    document(TEXT)
    handed = background.enqueue(kind="rules", limit=None, by=None)
    monkeypatch.setattr(background, "TURN_SECONDS", -1.0)

    background.work(handed.pk)

    handed.refresh_from_db()
    assert (handed.state, handed.touched_at) == ("running", None)


def test_a_worker_without_a_model_ends_the_run_as_failed(settings: Settings) -> None:
    handed = background.enqueue(kind="rules", limit=None, by=None)
    ExtractionRun.objects.update(parameters={"kind": "model", "limit": None})
    settings.SCI_RAG_LLM_MODEL = ""

    background.work(handed.pk)

    handed.refresh_from_db()
    assert (handed.state, handed.last_error_code) == ("failed", "not_configured")
