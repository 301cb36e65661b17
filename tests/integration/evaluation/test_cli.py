"""`sci-rag eval`: questions in and out, a report in three forms, comparison and gate."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from corpus import ingestion, preparation
from corpus.inputs import from_paths
from corpus.models import Document
from evaluation.cli import evaluate
from evaluation.models import EvaluationRun, Question, QuestionSet
from evaluation.questions import Form, write_questions
from evaluation.runs.ablations import CONFIGURATIONS
from evaluation.runs.background import work
from tests.integration.evaluation.questions import FACTS, evaluated, facts, question_set, seed, write

pytestmark = pytest.mark.django_db(transaction=True)


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(evaluate, [str(argument) for argument in arguments])


def object_of(*arguments: str | Path) -> dict[str, Any]:
    result = run(*arguments, "--json")
    assert result.exit_code == 0, result.output
    value: dict[str, Any] = json.loads(result.stdout)
    return value


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "questions.jsonl"
    path.write_text(write_questions(map(seed, FACTS), form=Form.JSONL))
    return path


@pytest.fixture
def asked() -> QuestionSet:
    facts(license_class="public")
    return question_set()


def test_questions_are_taken_in_and_written_out_the_same(file: Path, tmp_path: Path) -> None:
    facts(license_class="public")

    taken = object_of("import", "facts", file)
    out = tmp_path / "out.yaml"
    assert run("export", "facts", "--form", "yaml", "--out", out).exit_code == 0

    assert taken == {
        "question_set": "facts",
        "added": len(FACTS),
        "changed": 0,
        "unchanged": 0,
        "signed": 0,
        "missing": [],
    }
    assert object_of("import", "facts", out)["unchanged"] == len(FACTS)
    assert object_of("import", "again", out)["added"] == len(FACTS)
    assert run("export", "facts").stdout == run("export", "again").stdout


def test_a_file_with_mistakes_takes_nothing_in_and_names_every_line(file: Path) -> None:
    file.write_text(file.read_text() + "{}\nno json\n")

    result = run("import", "facts", file)

    assert result.exit_code == 1
    assert f"line {len(FACTS) + 1}: " in result.output
    assert f"line {len(FACTS) + 2}: not JSON" in result.output
    assert not Question.objects.exists()
    assert not QuestionSet.objects.exists()


def test_evidence_that_no_document_holds_is_named(file: Path) -> None:
    missing = run("import", "facts", file)

    assert missing.exit_code == 0
    assert "ash: no document holds “The ash content" in missing.output


def test_sets_and_questions_are_listed_with_their_state(asked: QuestionSet) -> None:
    assert object_of("questions")["sets"] == [{"set": "facts", "questions": 8, "drafted": 8}]
    assert {row["key"] for row in object_of("questions", "facts")["questions"]} == {*FACTS, "kelp"}
    assert "ash: How much ash does rice straw hold? (draft)" in run("questions", "facts").output


def test_a_set_that_is_not_there_is_named_with_those_that_are(asked: QuestionSet) -> None:
    result = run("retrieval", "fact")

    assert result.exit_code == 1
    assert "There is no question set called fact. There are: facts." in result.output


def test_retrieval_writes_a_report_in_three_forms_with_plots_and_its_warning(
    asked: QuestionSet, tmp_path: Path
) -> None:
    result = run("retrieval", "facts", "--configuration", "interactive", "--out", tmp_path)

    assert result.exit_code == 0, result.output
    (folder,) = tmp_path.iterdir()
    assert folder.name.endswith("Z-retrieval")
    report = json.loads((folder / "report.json").read_text())
    text, page = (folder / "report.md").read_text(), (folder / "report.html").read_text()
    warning = "8 of 8 questions are drafts that no expert has signed."
    assert report["warnings"] == [warning]
    assert report["ground_truth"] == {"drafted": 8, "reviewed": 0}
    for form in (text, page, result.output):
        assert warning in form
        assert report["fingerprint"] in form
    assert page.count("<svg") == 2
    assert "interactive" in text
    assert "<script" not in page


def test_every_registered_configuration_is_compared_where_ablations_are_asked_for(
    asked: QuestionSet, tmp_path: Path
) -> None:
    value = object_of("retrieval", "facts", "--ablate", "--tag", "numeric", "--out", tmp_path)

    rows = value["report"]["numbers"]["configurations"]
    assert [row["name"] for row in rows] == list(CONFIGURATIONS)
    assert "Not carried out: with_rerank" in (Path(value["folder"]) / "report.md").read_text()


def test_a_set_without_phrases_is_compared_by_document(tmp_path: Path) -> None:
    facts(license_class="public")
    write(QuestionSet.objects.create(name="whole"), "ash", "straw", evidence_phrases=[])

    value = object_of("retrieval", "whole", "--configuration", "interactive", "--out", tmp_path)

    assert value["report"]["primary"] == {"level": "document", "measure": "ndcg@10"}
    assert "ndcg@10 by document, paired with full_deep" in (Path(value["folder"]) / "report.md").read_text()


def test_a_profile_alone_is_measured_alone(asked: QuestionSet, tmp_path: Path) -> None:
    value = object_of("retrieval", "facts", "--profile", "auto", "--out", tmp_path)

    assert [row["name"] for row in value["report"]["numbers"]["configurations"]] == ["auto_routed"]


def test_a_run_may_be_left_to_the_worker(asked: QuestionSet, tmp_path: Path) -> None:
    handed = object_of("retrieval", "facts", "--background", "--out", tmp_path)
    refused = run("report", handed["run"], "--out", tmp_path)
    work(EvaluationRun.objects.get().pk)

    assert handed["state"] == "running"
    assert "has no numbers: it is running" in refused.output
    assert object_of("report", handed["run"], "--out", tmp_path)["run"] == handed["run"]
    assert object_of("runs")["runs"][0]["state"] == "finished"


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        (["--configuration", "no_luck"], 2, "'no_luck' is not a configuration"),
        (["--tag", "absent"], 1, "has no question of that kind"),
        (["--license", ""], 1, "allows nothing"),
        (["--snapshot", "never"], 1, "There is no snapshot called never"),
    ],
)
def test_what_cannot_be_measured_is_said(
    asked: QuestionSet, options: list[str], code: int, said: str
) -> None:
    result = run("retrieval", "facts", *options)

    assert result.exit_code == code
    assert said in result.output


def test_equal_runs_differ_by_nothing_whether_by_id_baseline_or_file(
    asked: QuestionSet, tmp_path: Path
) -> None:
    first, second = evaluated(asked), evaluated(asked)
    run("baseline", "main", str(first.pk))
    folder = object_of("report", str(first.pk), "--out", tmp_path)["folder"]

    for before in (str(first.pk)[:13], "main", folder, f"{folder}/report.json"):
        found = object_of("diff", before, str(second.pk))
        assert {one["delta"] for one in found["measures"]} == {0.0}
        assert {one["p"] for one in found["measures"]} == {1.0}
        assert found["moves"]["unchanged"] == len(FACTS)


def test_configurations_of_one_run_compare(asked: QuestionSet) -> None:
    one = str(evaluated(asked, "vector_only").pk)

    found = object_of("diff", one, one, "--after-configuration", "vector_only")

    assert found["configurations"] == ["full_deep", "vector_only"]


def test_another_corpus_is_refused_unless_it_is_allowed_and_then_noted(asked: QuestionSet) -> None:
    first = evaluated(asked)
    Document.objects.filter(doi_normalised="10.5555/ash").update(license_class="restricted")
    second = evaluated(asked)

    refused = run("diff", str(first.pk), str(second.pk))
    allowed = run("diff", str(first.pk), str(second.pk), "--allow-different-corpus")

    assert refused.exit_code == 1
    assert "the corpus differs" in refused.output
    assert allowed.exit_code == 0
    assert "Compared although the corpus differs" in allowed.output


@pytest.mark.parametrize("name", ["nothing", "abc", "ffffffff-ffff"])
def test_a_run_that_is_not_there_is_named(asked: QuestionSet, name: str) -> None:
    result = run("diff", name, name)

    assert result.exit_code == 1
    assert f"There is no run, baseline or report called {name}." in result.output


def test_a_file_that_is_no_report_is_named(tmp_path: Path) -> None:
    path = tmp_path / "other.json"
    for text, said in (("{}", "is not the report"), ("{", "not JSON"), ("[" * 100_000, "not JSON")):
        path.write_text(text)
        assert said in run("diff", path, path).output


def test_a_baseline_needs_a_name_and_a_finished_run(asked: QuestionSet) -> None:
    finished = str(evaluated(asked).pk)

    assert "is no name" in run("baseline", "The Main", finished).output
    assert object_of("baseline", "main", finished)["baseline"] == "main"


def test_the_gate_wants_something_to_hold_a_run_against(asked: QuestionSet) -> None:
    one = str(evaluated(asked).pk)

    assert run("gate").exit_code == 2
    assert run("gate", one).exit_code == 2
    assert run("gate", one, "--least", "hit").exit_code == 2
    assert run("gate", one, "--least", "hit@10=0.9").exit_code == 0
    assert run("gate", one, "--least", "hit@10=1.1").exit_code == 1


LONG = (
    "The trial began in spring and ended in autumn. Samples were taken every week and dried at once. "
    "Three people read the balance, and each reading was written down twice. "
)


def ingested(folder: Path) -> None:
    """Take a file for each fact in, by the real parser and chunker: the fact stands at the end."""
    for key, fact in FACTS.items():
        (folder / f"{key}.md").write_text(
            f"---\ntitle: About {key}\ndoi: 10.5555/{key}\n---\n\n{LONG * 3}{fact}\n"
        )
    ingestion.ingest(from_paths([folder]))


def broken(*arguments: Any, **options: Any) -> tuple[Any, ...]:
    """A chunker that loses the second half of every passage."""
    passages: Iterable[Any] = _chunk(*arguments, **options)
    return tuple(dataclasses.replace(one, body=one.body[: len(one.body) // 2]) for one in passages)


_chunk = preparation.chunk


def test_a_broken_chunker_fails_the_gate_with_the_questions_that_moved(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "papers"
    folder.mkdir()
    ingested(folder)
    object_of("import", "facts", file)
    before = object_of("retrieval", "facts", "--out", tmp_path / "results")
    object_of("baseline", "main", before["run"])
    healthy = object_of("retrieval", "facts", "--out", tmp_path / "results")
    assert run("gate", healthy["run"], "--baseline", "main", "--least", "hit@10=0.9").exit_code == 0

    for document in Document.objects.all():
        document.delete()
    assert not Question.objects.filter(retired_at=None).exists()
    monkeypatch.setattr(preparation, "chunk", broken)
    ingested(folder)
    object_of("import", "facts", file)
    object_of("retrieval", "facts", "--out", tmp_path / "results")
    result = run("gate", "--baseline", f"{before['folder']}/report.json")

    assert result.exit_code == 1
    assert "Missed: passage hit@10 fell from 1.0000 to 0.0000" in result.output
    assert f"Disappeared: found before, not after: {len(FACTS)}" in result.output
    assert all(f"- `{key}` 1.000 → 0.000" in result.output for key in FACTS)
    assert "does not pass" in result.output
