"""Drafting by command: what it comes to, at a cap, without a model; unsigned, and of unknown rights."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from pytest_django.fixtures import Settings

from corpus import manifest as manifests
from corpus.usage import ledger
from corpus.usage.models import ModelUse
from evaluation.cli_draft import draft
from evaluation.models import Question, QuestionSet
from retrieval.graph.ontology import load
from tests.integration.retrieval import corpora
from tests.integration.retrieval.graph.readings import DEMO
from tests.loopback.counting import provider_tokens
from tests.loopback.fixtures import forget_clients
from tests.loopback.openai_server import OpenAIServer, Reply, Request, says

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.xdist_group("use-ledger")]

TITLES = {
    "a.md": "Storage losses of corn stover in the open",
    "b.md": "Ammonia inhibition of wet digesters",
    "c.md": "Prices of torrefied pellets since the flood",
}


@pytest.fixture(autouse=True)
def provider(configured_model: OpenAIServer) -> Iterator[OpenAIServer]:
    from corpus.gateways import llm

    llm._configured.cache_clear()
    ledger.settle(20)
    ModelUse.objects.all().delete()
    configured_model.will_count(provider_tokens)
    yield configured_model
    ledger.settle(20)
    forget_clients()


def run(*command: str | Path) -> Result:
    return CliRunner().invoke(draft, [str(each) for each in command])


def used(provider: OpenAIServer) -> int:
    return sum(map(sum, provider.counted))


def within_a_fifth(said: dict[str, Any], provider: OpenAIServer) -> bool:
    return abs(said["tokens"] - used(provider)) <= 0.2 * used(provider)


class TestManifest:
    @pytest.fixture
    def folder(self, tmp_path: Path) -> Path:
        folder = tmp_path / "papers"
        folder.mkdir()
        body = (DEMO / "stover-transport.txt").read_text(encoding="utf-8")[:1500]
        for name, title in TITLES.items():
            (folder / name).write_text(f"# {title}\n\nAnn Field and Bo Meadow, 2019\n\n{body}\n")
        (folder / "broken.pdf").write_bytes(b"no pdf at all")
        (folder / "notes.exe").write_bytes(b"MZ")
        return folder

    @staticmethod
    def says_of(request: Request) -> Reply:
        title = next(title for title in TITLES.values() if title in request.prompt)
        return says(
            json.dumps(
                {
                    "title": title,
                    "authors": ["Ann Field", "Bo Meadow"],
                    "year": 2019,
                    "doi": "10.1234/invented",
                    "journal": "",
                    "license_class": "public",
                    "license_source": "CC0, I am sure",
                }
            )
        )

    def lines(self, path: Path) -> dict[str, dict[str, Any]]:
        rows = [json.loads(line) for line in path.read_text().splitlines() if not line.startswith("#")]
        return {row["path"]: row for row in rows}

    def test_holds_what_the_files_bear_out_and_no_licence_whatever_the_model_says(
        self, provider: OpenAIServer, folder: Path, tmp_path: Path
    ) -> None:
        provider.will_choose(self.says_of)
        said = json.loads(run("manifest", folder, "--dry-run", "--json").stdout)["estimate"]
        assert provider.requests == []

        result = run("manifest", folder, "--output", folder / "manifest.jsonl", "--json")

        assert result.exit_code == 0, result.output
        rows = self.lines(folder / "manifest.jsonl")
        assert set(rows) == {*TITLES, "broken.pdf"}
        assert {row["license_class"] for row in rows.values()} == {"unknown"}
        assert "license_source" not in json.dumps(rows)
        assert rows["a.md"]["title"] == TITLES["a.md"]
        assert rows["a.md"]["unconfirmed"] == {"doi": "10.1234/invented"}
        assert rows["broken.pdf"]["not_read"]
        checked = manifests.read(folder / "manifest.jsonl")
        assert {problem.code.value for problem in checked.problems} <= {"unknown_key", "missing_title"}
        assert all(entry.described.doi == "" for entry in checked.entries)
        assert within_a_fifth(said, provider)
        assert (said["calls"], len(provider.requests)) == (3, 3)

    def test_stops_at_the_cap_and_goes_on_with_the_files_that_are_left(
        self, provider: OpenAIServer, folder: Path
    ) -> None:
        provider.will_choose(self.says_of)
        output = folder / "draft.jsonl"

        stopped = run("manifest", folder, "--output", output, "--max-tokens", "10", "--json")

        assert stopped.exit_code == 3, stopped.output
        assert list(self.lines(output)) == ["a.md"]
        ended = run("manifest", folder, "--output", output, "--continue", "--json")
        assert ended.exit_code == 0, ended.output
        assert list(self.lines(output)) == sorted([*TITLES, "broken.pdf"])
        assert len(provider.requests) == 3

    def test_replaces_nothing(self, provider: OpenAIServer, folder: Path) -> None:
        output = folder / "manifest.jsonl"
        output.write_text("mine")

        result = run("manifest", folder, "--output", output)

        assert (result.exit_code, output.read_text(), provider.requests) == (1, "mine", [])
        assert "replaces nothing" in result.stderr

    def test_is_drafted_from_replies_brought_to_printed_prompts(
        self, provider: OpenAIServer, folder: Path, tmp_path: Path
    ) -> None:
        printed = [json.loads(line) for line in run("manifest", folder, "--print-prompt").stdout.splitlines()]
        replies = tmp_path / "replies.jsonl"
        reply = json.dumps({"title": TITLES["b.md"], "license_class": "public"})
        replies.write_text(json.dumps({"file": "b.md", "reply": reply}) + "\n")

        result = run("manifest", folder, "--from-file", replies)

        assert [row["file"] for row in printed] == list(TITLES)
        rows = [json.loads(line) for line in result.stdout.splitlines() if not line.startswith("#")]
        assert {row["license_class"] for row in rows} == {"unknown"}
        assert next(row for row in rows if row["path"] == "b.md")["title"] == TITLES["b.md"]
        assert next(row for row in rows if row["path"] == "a.md")["not_read"] == "no_reply"
        assert provider.requests == []

    def test_sends_a_file_of_unknown_rights_nowhere_that_may_not_have_it(
        self, provider: OpenAIServer, folder: Path, settings: Settings, tmp_path: Path
    ) -> None:
        (tmp_path / "prompts").mkdir()
        for path in (settings.DOMAIN_DIR / "prompts").glob("*.md"):
            (tmp_path / "prompts" / path.name).write_bytes(path.read_bytes())
        (tmp_path / "egress.yaml").write_text("local: [elsewhere]\noutside: [public]\n")
        settings.DOMAIN_DIR = tmp_path

        result = run("manifest", folder, "--json", "--output", tmp_path / "m.jsonl")

        assert provider.requests == []
        assert json.loads(result.stdout)["dropped"]["withheld"] == 3
        assert self.lines(tmp_path / "m.jsonl")["a.md"]["title"] == TITLES["a.md"]


class TestOntology:
    @pytest.fixture(autouse=True)
    def _passages(self) -> None:
        text = (DEMO / "anaerobic-digestion-primer.md").read_text(encoding="utf-8")
        for number in range(6):
            piece = text[number * 700 : number * 700 + 700]
            corpora.add(
                f"Primer {number}",
                [f"{piece} Anaerobic digestion gives biogas {number}."],
                license_class="public",
            )
        corpora.add("Closed", ["Closed canaryword text. " * 20], license_class="restricted")
        corpora.add(
            "Verbatim",
            ["Verbatim canaryword text. " * 20],
            license_class="public",
            no_derivatives=True,
        )

    reply = json.dumps(
        {
            "entity_types": {
                f"type_{number}": {
                    "description": "Something that the passages name more than once, in one line of words.",
                    "examples": [*examples, "invented thing"],
                }
                for number, examples in enumerate([["anaerobic digestion"], ["biogas"]] + [["nothing"]] * 14)
            },
            "relation_types": {
                "gives": {
                    "description": "It gives.",
                    "phrases": ["gives"],
                    "source": ["type_0"],
                    "target": ["type_1"],
                }
            },
        }
    )

    def test_is_one_that_the_graph_accepts_and_touches_no_file_that_is_there(
        self, provider: OpenAIServer, settings: Settings, tmp_path: Path
    ) -> None:
        provider.will(says(self.reply))
        in_use = settings.DOMAIN_DIR / "ontology.yaml"
        before = in_use.read_bytes()
        said = json.loads(run("ontology", "--license", "public", "--dry-run", "--json").stdout)["estimate"]
        assert provider.requests == []

        result = run("ontology", "--license", "public", "--output", tmp_path / "new.yaml", "--json")
        refused = run("ontology", "--license", "public", "--output", in_use)

        assert result.exit_code == 0, result.output
        drafted = load(tmp_path / "new.yaml")
        assert set(drafted.entity_types) == {"type_0", "type_1"}
        assert "no expert has taken it over" in (tmp_path / "new.yaml").read_text()
        assert (refused.exit_code, in_use.read_bytes()) == (1, before)
        (request,) = provider.requests
        assert "canaryword" not in request.prompt
        assert within_a_fifth(said, provider)

    def test_is_not_asked_for_where_the_cap_leaves_no_room(self, provider: OpenAIServer) -> None:
        result = run("ontology", "--max-tokens", "100")

        assert (result.exit_code, provider.requests) == (3, [])

    def test_comes_of_a_reply_brought_to_the_printed_prompt(
        self, provider: OpenAIServer, tmp_path: Path
    ) -> None:
        printed = json.loads(run("ontology", "--license", "public", "--print-prompt").stdout)
        file = tmp_path / "reply.json"
        file.write_text(self.reply)

        result = run("ontology", "--license", "public", "--from-file", file)

        assert "Anaerobic digestion gives biogas" in printed["user"]
        assert "canaryword" not in printed["user"]
        assert "type_0" in result.stdout
        assert provider.requests == []

    def test_says_why_there_is_none(self, provider: OpenAIServer) -> None:
        provider.will(says("no types today"))

        result = run("ontology", "--license", "public")
        nothing = run("ontology", "--license", "open_noncommercial")

        assert "Nothing was drafted: not json." in result.stderr
        assert "No passage in this scope" in nothing.stderr


class TestQuestions:
    @pytest.fixture(autouse=True)
    def _passages(self) -> None:
        body = (DEMO / "stover-transport.txt").read_text(encoding="utf-8")[:800]
        for number in range(6):
            corpora.add(f"Trial {number}", [f"Plot {number} gave {number}.5 t of dry matter. {body}"])

    @staticmethod
    def proposes(request: Request) -> Reply:
        found = re.search(r"Plot (\d) gave \d\.5 t of dry matter", request.prompt)
        assert found is not None
        return says(
            json.dumps(
                {
                    "question": f"How much dry matter came from the plot numbered {found[1]}, in tonnes?",
                    "reference_answer": f"The plot numbered {found[1]} gave {found[1]}.5 t of dry matter.",
                    "evidence_phrase": found[0],
                    "kind": "lookup",
                }
            )
        )

    def test_come_to_what_was_said_and_nobody_has_signed_them(self, provider: OpenAIServer) -> None:
        provider.will_choose(self.proposes)
        said = json.loads(run("questions", "mine", "--dry-run", "--json").stdout)["estimate"]
        assert (provider.requests, QuestionSet.objects.count()) == ([], 0)

        assert run("questions", "mine").exit_code == 0

        assert (said["calls"], len(provider.requests)) == (6, 6)
        assert within_a_fifth(said, provider)
        assert {question.drafted for question in Question.objects.all()} == {True}
        assert ledger.settle(20)
        assert ModelUse.objects.get().purpose == "drafting"

    def test_stop_at_the_cap_and_the_next_call_asks_about_the_others(self, provider: OpenAIServer) -> None:
        provider.will_choose(self.proposes)

        stopped = run("questions", "mine", "--max-tokens", "500", "--json")

        assert stopped.exit_code == 3, stopped.output
        first = len(provider.requests)
        assert Question.objects.count() == first < 6
        assert run("questions", "mine", "--max-tokens", "100000").exit_code == 0
        assert Question.objects.count() == len(provider.requests) == 6


def test_ways_of_drafting_do_not_go_together(tmp_path: Path) -> None:
    file = tmp_path / "replies"
    file.write_text("")

    assert run("ontology", "--print-prompt", "--from-file", file).exit_code == 2
    assert run("manifest", tmp_path, "--dry-run", "--print-prompt").exit_code == 2
    assert run("questions", "mine", "--dry-run", "--from-file", file).exit_code == 2
