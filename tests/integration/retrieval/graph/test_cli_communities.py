"""`sci-rag graph communities`: what it says, what it refuses, and what it leaves alone."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from pytest_django.fixtures import Settings

from corpus.models import Document
from retrieval.cli_graph import graph
from retrieval.graph.actions import communities as action
from retrieval.graph.communities import scopes
from retrieval.models import Community, CommunityBuild, Entity
from tests.integration.retrieval.graph.grouping import CHAR, STRAW, paper

pytestmark = pytest.mark.django_db(transaction=True)


def run(*arguments: str) -> Result:
    return CliRunner().invoke(graph, ["communities", *arguments])


def said(*arguments: str) -> Any:
    result = run(*arguments, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


@pytest.fixture
def papers() -> None:
    paper("Silage", STRAW)
    paper("Closed", CHAR, license_class="restricted")


@pytest.mark.usefixtures("papers")
def test_each_named_scope_is_built_and_nothing_is_done_twice() -> None:
    first, second = run(), run()

    assert first.stdout.splitlines() == [
        "everything: 2 communities of 2 documents.",
        "  Summaries: 2 written (extractive).",
        "open: 1 community of 1 document.",
        "  Summaries: 1 written (extractive).",
    ]
    assert second.stdout.splitlines() == [
        "everything: 2 communities; nothing to do.",
        "open: 1 community; nothing to do.",
    ]


@pytest.mark.usefixtures("papers")
def test_a_dry_run_says_what_would_be_built_and_writes_nothing() -> None:
    result = run("--dry-run", "--scope", "open")

    assert "open: 1 community of 1 document." in result.stdout
    assert "1 would be written (extractive)" in result.stdout
    assert not CommunityBuild.objects.exists()


@pytest.mark.usefixtures("papers")
def test_the_list_says_what_is_built_and_how_it_stands() -> None:
    run("--scope", "open")
    assert (
        "everything: not built. 'sci-rag graph communities --scope everything' builds it."
        in run("--list").stdout
    )
    assert "up to date." in run("--list", "--scope", "open").stdout

    paper("Later", CHAR)
    assert "outdated, since the graph has changed." in run("--list", "--scope", "open").stdout
    Document.objects.filter(title="Silage").update(license_class="restricted")
    assert "not used, since a document it was read from" in run("--list", "--scope", "open").stdout


@pytest.mark.usefixtures("papers")
def test_the_forms_for_machines() -> None:
    built = said("--scope", "open")
    listed = said("--list", "--scope", "open")

    (scope,) = built["scopes"]
    assert (built["dry_run"], built["forgotten"]) == (False, 0)
    assert (scope["scope"], scope["communities"], scope["documents"]) == ("open", {"0": 1}, 1)
    assert (scope["written"], scope["failed"], scope["is_unchanged"]) == ({"extractive": 1}, {}, False)
    (row,) = listed["scopes"]
    assert row["allows"]["license_classes"] == ["public", "open_commercial", "open_noncommercial"]
    assert (row["built"]["is_outdated"], row["built"]["is_used"]) == (False, True)
    assert said("--list")["scopes"][0]["built"] is None


def test_a_name_that_no_scope_has_is_refused_with_those_there_are() -> None:
    result = run("--scope", "opne")

    assert result.exit_code == 2
    assert "No scope is called 'opne'. Those that domain.yaml names are: everything, open." in result.output


@pytest.mark.parametrize("other", ["--dry-run", "--no-llm"])
def test_a_list_builds_nothing(other: str) -> None:
    assert run("--list", other).exit_code == 2


@pytest.mark.usefixtures("papers")
def test_a_build_under_way_is_told_in_a_line() -> None:
    action.begin(name="open", scope=scopes.scope_named("open"), graph_sha256="0", method="another")

    result = run("--scope", "open")

    assert result.exit_code == 1
    assert "The communities of 'open' are being built already." in result.output


@pytest.mark.usefixtures("papers")
def test_scopes_that_lost_their_name_lose_their_communities(settings: Settings, tmp_path: Path) -> None:
    run()
    (tmp_path / "domain.yaml").write_text("community_scopes:\n  open: {license_classes: [public]}\n")
    settings.DOMAIN_DIR = tmp_path

    result = run()

    assert "Removed the communities of 1 scope that domain.yaml names no more." in result.stdout
    assert [build.scope_name for build in CommunityBuild.objects.all()] == ["open"]
    assert not Community.objects.exists()


def test_a_profile_without_scopes_has_nothing_to_build(settings: Settings, tmp_path: Path) -> None:
    (tmp_path / "domain.yaml").write_text("community_scopes: {}\n")
    settings.DOMAIN_DIR = tmp_path

    assert "names no scope under community_scopes" in run().stdout


def test_a_profile_with_a_mistake_is_named_by_its_line(settings: Settings, tmp_path: Path) -> None:
    (tmp_path / "domain.yaml").write_text(
        "community_scopes:\n  all: {}\n  staff: {exclude_retracted: true}\n"
    )
    settings.DOMAIN_DIR = tmp_path

    result = run()

    assert result.exit_code == 2
    assert "domain.yaml line 3: community_scopes.staff: it allows the same as 'all'" in result.output


@pytest.mark.usefixtures("papers")
def test_gc_counts_and_removes_communities_that_lost_their_members() -> None:
    run()
    Entity.objects.filter(key__in=STRAW).delete()
    assert "2 communities" in CliRunner().invoke(graph, ["gc"]).stdout

    CliRunner().invoke(graph, ["gc", "--apply"])

    assert [row.title for row in Community.objects.all()] == ["biochar, soil, water"]
    assert "outdated" in run("--list").stdout
