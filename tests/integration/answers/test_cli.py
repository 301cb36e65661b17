"""`sci-rag ask`: readable for people, one JSON object for programs."""

import json

import pytest
from click.testing import CliRunner, Result

from answers.cli import ask
from corpus.models import Document
from tests.loopback.openai_server import OpenAIServer, fails, says

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("small_corpus")]
QUESTION = "What is the methane yield of rice straw?"


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("corpus.gateways.llm._PAUSE", 0.01)


def run(*arguments: str) -> Result:
    return CliRunner().invoke(ask, list(arguments))


def test_people_read_the_text_and_its_numbered_sources() -> None:
    result = run(QUESTION, "--license", "open_commercial")

    assert result.exit_code == 0
    assert "“The methane yield of rice straw was 210 L/kg of volatile solids.” [1]" in result.output
    assert "  [1] Methane from rice straw · 3 Results · p. 1 · Open, commercial use allowed" in result.output


def test_programs_read_one_object_with_everything() -> None:
    found = json.loads(run(QUESTION, "--license", "open_commercial", "--json").stdout)

    assert found["answered"] is True
    assert (found["finish"], found["engine"], found["model"], found["error"]) == (
        "stop",
        "extractive",
        "",
        None,
    )
    assert {
        "request_id",
        "profile",
        "scope",
        "eligible",
        "items",
        "traces",
        "degraded",
        "fingerprint",
    } <= set(found)
    (citation,) = found["citations"]
    start, end = citation["marks"][0]
    assert found["answer"][start:end] == "[1]"
    assert citation["id"] == found["items"][0]["id"]
    assert (citation["page_start"], citation["locator"]) == (1, "3 Results")
    assert [finding["kind"] for finding in found["findings"]] == ["supported"]
    assert found["tokens"] == {"prompt": None, "completion": None}


def test_an_empty_licence_list_denies() -> None:
    found = json.loads(run(QUESTION, "--license", "", "--json").stdout)

    assert (found["finish"], found["answered"], found["items"]) == ("no_sources", False, [])
    assert [trace["status"] for trace in found["traces"]] == ["denied"]


def test_retracted_work_is_left_out_unless_it_is_asked_for(small_corpus: dict[str, Document]) -> None:
    source = small_corpus["straw"].source
    source.is_retracted = True
    source.save()

    assert "Methane from rice straw" not in run(QUESTION).output
    assert "Methane from rice straw" in run(QUESTION, "--include-retracted").output


def test_a_model_streams_to_the_terminal(configured_model: OpenAIServer) -> None:
    configured_model.will(says("Straw yields ", "999 L/kg ", "\x1b\x07[1]."))

    result = run(QUESTION, "--license", "open_commercial")

    assert "Straw yields 999 L/kg [1]." in result.stdout
    assert "Check sentence 1: a number is not in the source it cites: 999 L/kg." in result.stderr


def test_a_broken_model_is_one_line_and_exit_1(configured_model: OpenAIServer) -> None:
    configured_model.will(fails(401))

    result = run(QUESTION)

    assert result.exit_code == 1
    assert "The language model refused the request." in result.stderr
    assert "--engine extractive" in result.stderr

    found = json.loads(run(QUESTION, "--json").stdout)
    assert found["error"]["code"] == "rejected"
    assert len(found["items"]) == 4

    assert run(QUESTION, "--engine", "extractive").exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["", "--json"], "Ask a question."),
        ([QUESTION, "--license", "opne"], "'opne' is not a licence class"),
        ([QUESTION, "--profile", "guess"], "'guess' is not a profile"),
        ([QUESTION, "--engine", "model"], "SCI_RAG_LLM_MODEL"),
        ([QUESTION, "--limit", "0"], "--limit"),
    ],
)
def test_wrong_usage_is_one_line_and_exit_2(arguments: list[str], said: str) -> None:
    result = run(*arguments)

    assert result.exit_code == 2
    assert said in result.stderr
    assert result.stdout == ""
