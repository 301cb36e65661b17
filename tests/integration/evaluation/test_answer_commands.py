"""The commands of judged answers, labels and drafts, over a small corpus."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from pytest_django.fixtures import Settings

from corpus.models import Document
from evaluation.actions import calibration
from evaluation.judging.rubric import DIMENSIONS
from evaluation.models import CalibrationLabel, EvaluationRun, Question, QuestionSet
from sci_rag_site.cli import main
from tests.integration.evaluation.judging import JUDGE, asked, judging
from tests.integration.retrieval import corpora
from tests.loopback.openai_server import OpenAIServer, Request, says

pytestmark = pytest.mark.django_db(transaction=True)
LONG = (
    "The trial ran for two seasons on a silt loam, and every plot was weighed by hand after each harvest. "
    "Rain fell late in both years, so that the plots were cut when the soil carried the machines again. "
)


@pytest.fixture
def model(model_server: OpenAIServer, settings: Settings) -> OpenAIServer:
    settings.SCI_RAG_JUDGE_MODEL = settings.SCI_RAG_FAST_MODEL = JUDGE
    settings.SCI_RAG_LLM_API_BASE = model_server.base_url
    settings.SCI_RAG_LLM_API_KEY = "sk-test"
    model_server.will_choose(judging())
    return model_server


def run(*command: str) -> Result:
    return CliRunner().invoke(main, command)


def test_answers_are_judged_labelled_and_calibrated_from_the_command_line(
    model: OpenAIServer, tmp_path: Path
) -> None:
    name, out = asked(3).name, str(tmp_path / "results")

    judged = run("eval", "answers", name, "--engine", "extractive", "--out", out, "--json")
    key = json.loads(judged.stdout)["run"]
    drawn = run("eval", "labels", "draw", key, "--size", "2", "--seed", "7", "--json")
    queue = EvaluationRun.objects.get(pk=key).calibrations.get()
    for item in queue.items.all():
        CalibrationLabel.objects.create(
            item=item, labeller_name="zoe", is_expert=False, **dict.fromkeys(DIMENSIONS, 2)
        )
    file = tmp_path / "labels.jsonl"
    run("eval", "labels", "export", key, "--seed", "7", "--out", str(file))
    CalibrationLabel.objects.all().delete()
    taken = run("eval", "labels", "import", key, str(file), "--seed", "7", "--json")
    calibrated = run("eval", "calibrate", key, "--out", out)

    assert (judged.exit_code, json.loads(drawn.output)["items"]) == (0, 2)
    assert json.loads(taken.output) == {"added": 2, "unchanged": 0, "elsewhere": 0}
    assert "who are no experts" in calibrated.output
    (folder,) = (tmp_path / "results").iterdir()
    (found,) = json.loads((folder / "calibration.json").read_text())
    assert found["others"]["judge_and_people"]["correctness"]["kappa"] == "undefined"
    assert "## Calibration" in (folder / "report.md").read_text()
    assert json.loads((folder / "report.json").read_text())["calibration"] == [found]


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (("eval", "answers"), "Name a question set"),
        (("eval", "answers", "there", "--resume", "x"), "Name a question set"),
        (("eval", "answers", "nowhere"), "There is no question set called nowhere"),
        (("eval", "answers", "--resume", "nothing"), "There is no run"),
        (("eval", "labels", "draw", "nothing"), "There is no run"),
        (("eval", "calibrate", "nothing"), "There is no run"),
        (("draft", "questions", "Not A Name", "--from-file", __file__), "is no name"),
        (("draft", "questions", "some", "--from-file", __file__, "--print-prompts"), "do not go together"),
    ],
)
def test_what_cannot_be_done_is_said(model: OpenAIServer, command: tuple[str, ...], said: str) -> None:
    result = run(*command)

    assert result.exit_code != 0
    assert said in result.output


def test_a_run_of_which_nothing_could_be_read_fails(model: OpenAIServer, tmp_path: Path) -> None:
    model.will_choose(judging("no", "no"))

    result = run("eval", "answers", asked(1).name, "--engine", "extractive", "--out", str(tmp_path))

    assert result.exit_code == 1
    assert "no reply of the judge could be read (not json)" in result.output
    assert list(tmp_path.iterdir()) == []


def test_mistakes_of_a_file_of_labels_are_named_by_line(model: OpenAIServer, tmp_path: Path) -> None:
    key = json.loads(
        run(
            "eval", "answers", asked(1).name, "--engine", "extractive", "--out", str(tmp_path), "--json"
        ).stdout
    )["run"]
    calibration.draw(run=EvaluationRun.objects.get(pk=key), size=1, seed=1, by=None)
    file = tmp_path / "labels.jsonl"
    file.write_text("# mine\n{}\n", encoding="utf-8")

    wrong = run("eval", "labels", "import", key, str(file))
    unknown = run("eval", "labels", "import", key, str(file), "--seed", "2")

    assert "labels.jsonl:\nline 2: " in wrong.output
    assert "There are those with seed 1." in unknown.output


def passage(number: int) -> str:
    return f"{LONG}Plot {number} gave {number}.5 t of dry matter per hectare in the second season."


def proposal(number: int, **changes: Any) -> str:
    return json.dumps(
        {
            "question": f"What did the plot numbered {number} yield in its second year?",
            "reference_answer": f"{number}.5 t per hectare.",
            "evidence_phrase": f"gave {number}.5 t of dry matter per hectare",
            "kind": "lookup",
        }
        | changes
    )


def test_only_proposals_with_words_of_their_passage_become_drafts(model: OpenAIServer) -> None:
    for number in range(4):
        corpora.add(f"Trial {number}", [passage(number)], no_derivatives=number == 3)

    def reply(request: Request) -> Any:
        number = next(n for n in range(3) if f"Plot {n} gave" in request.prompt)
        return says(proposal(number, evidence_phrase="it gave a lot") if number == 1 else proposal(number))

    model.will_choose(reply)
    result = run("draft", "questions", "proposed", "--json")
    again = run("draft", "questions", "proposed", "--json")

    found = json.loads(result.stdout)
    assert (len(found["drafted"]), found["dropped"]) == (2, {"not_verbatim": 1})
    assert json.loads(again.stdout) == {
        "question_set": "proposed",
        "drafted": [],
        "dropped": {"not_verbatim": 1},
    }
    assert all("Plot 3 gave" not in request.prompt for request in model.requests)
    for question in Question.objects.all():
        assert (question.drafted, question.origin, question.author) == (True, "proposed", JUDGE)
        (evidence,) = question.evidence.all()
        assert evidence.document is not None
        assert evidence.passage_sha256


def test_a_scope_keeps_passages_from_the_model(model: OpenAIServer) -> None:
    corpora.add("Open", [passage(0)], license_class="public")
    corpora.add("Closed", [passage(1)], license_class="restricted")
    model.will(says(proposal(0)))

    run("draft", "questions", "proposed", "--license", "public")

    assert len(model.requests) == 1
    assert "Plot 1 gave" not in model.requests[0].prompt


def test_without_a_model_prompts_are_printed_and_replies_brought(settings: Settings, tmp_path: Path) -> None:
    for number in range(3):
        corpora.add(f"Trial {number}", [passage(number)])
    printed = [
        json.loads(line) for line in run("draft", "questions", "mine", "--print-prompts").output.splitlines()
    ]
    assert not QuestionSet.objects.exists()
    rows = [
        {
            "passage": row["passage"],
            "reply": proposal(next(n for n in range(3) if f"Plot {n} gave" in row["user"])),
        }
        for row in printed
    ]
    Document.objects.filter(title="Trial 2").delete()
    file = tmp_path / "replies.jsonl"
    file.write_text("# brought back\n" + "\n".join(map(json.dumps, rows)), encoding="utf-8")

    result = run("draft", "questions", "mine", "--from-file", str(file))
    without = run("draft", "questions", "mine")

    assert len(printed) == 3
    assert "2 questions drafted into mine" in result.output
    assert "Dropped, no such passage: 1." in result.output
    assert {question.author for question in Question.objects.all()} == {"replies.jsonl"}
    assert without.exit_code == 1
    assert "--print-prompt and --from-file" in without.output


def test_mistakes_of_a_file_of_replies_are_named_by_line(db: None, tmp_path: Path) -> None:
    file = tmp_path / "replies.jsonl"
    file.write_text('{"passage": 5}\n\nnot json\n', encoding="utf-8")

    result = run("draft", "questions", "mine", "--from-file", str(file))

    assert result.exit_code == 1
    assert "line 1: " in result.output
    assert "line 3: " in result.output
