"""The commands that list merges and take them back."""

import json

import pytest
from click.testing import CliRunner

from retrieval.cli_graph import graph
from retrieval.graph.actions import resolution, splitting
from retrieval.models import Mention, ResolutionAudit
from tests.integration.retrieval.graph.merging import dump, entity, mention, passage, propose

pytestmark = pytest.mark.django_db


def run(*arguments):
    return CliRunner().invoke(graph, arguments)


@pytest.fixture
def merged(librarian):
    for name in ("Rice straw", "Paddy straw", "Stalks"):
        mention(name, passage(f"{name} is named."))
    before = dump()
    mention("Rice straw", passage("Rice straw again."))
    resolution.approve(proposals=[propose("Rice straw", "Paddy straw", tier=2)], by=librarian)
    return before


def test_merges_are_listed_with_their_number_and_taken_back_by_it(merged):
    audit = ResolutionAudit.objects.get()

    listed = run("merges")
    undone = run("undo-merge", str(audit.pk))

    assert listed.exit_code == undone.exit_code == 0
    assert f"{audit.pk}  " in listed.output
    assert "Paddy straw merged into Rice straw  (librarian, tier 2)" in listed.output
    assert f"Merge {audit.pk} is undone" in undone.output
    assert "Nothing was merged or split." in run("merges").output
    assert "parted again from" in run("merges", "--all").output


def test_both_speak_json():
    for body in ("AD digests.", "AD hurts."):
        mention("AD", passage(body))
    splitting.split(entity=entity("AD"), mentions=list(Mention.objects.all())[:1], by=None)
    audit = ResolutionAudit.objects.get()

    (row,) = json.loads(run("merges", "--json").output)["merges"]
    undone = json.loads(run("undo-merge", str(audit.pk), "--json").output)

    assert (row["number"], row["act"], row["winner_name"], row["in_effect"]) == (
        audit.pk,
        "split",
        "AD",
        True,
    )
    assert undone == {"undone": audit.pk, "act": "split", "record": ResolutionAudit.objects.latest("pk").pk}


def test_what_is_not_undone_says_why(merged, librarian):
    first = ResolutionAudit.objects.get()
    resolution.approve(proposals=[propose("Stalks", "Rice straw")], by=librarian)

    refused = run("undo-merge", str(first.pk))
    absent = run("undo-merge", "999999")

    assert refused.exit_code == absent.exit_code == 1
    assert f"undo number {ResolutionAudit.objects.latest('pk').pk} first" in refused.output
    assert "There is no number 999999" in absent.output
