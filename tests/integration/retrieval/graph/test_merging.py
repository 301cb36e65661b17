"""Two entities become one: what moves, what goes, what is recorded, and what never happens by itself."""

import pytest

from retrieval.graph.actions import resolution
from retrieval.models import Mention, MergeProposal, ResolutionAudit
from tests.integration.retrieval.graph.merging import (
    canonical,
    edge,
    entity,
    mention,
    passage,
    propose,
    triples,
)

pytestmark = pytest.mark.django_db


def test_a_merge_leaves_a_tombstone_with_its_mentions_and_gives_its_edges_away(librarian):
    straw = passage("Rice straw produces biogas. Rice straw burns.")
    edge("Rice straw", "biogas", straw, "Rice straw produces biogas.")
    other = passage("Paddy straw produces ash. Lime produces Paddy straw.")
    edge("Paddy straw", "ash", other, "Paddy straw produces ash.")
    edge("Lime", "Paddy straw", other, "Lime produces Paddy straw.")
    mention("Rice straw", passage("Rice straw again."))

    done = resolution.approve(proposals=[propose("Rice straw", "Paddy straw")], by=librarian)

    assert done == 1
    assert canonical("Paddy straw") == "Rice straw"
    assert canonical("Rice straw") == "Rice straw"
    assert triples() == [
        ("Lime", "produces", "Rice straw", 1.0),
        ("Rice straw", "produces", "ash", 1.0),
        ("Rice straw", "produces", "biogas", 1.0),
    ]
    assert list(Mention.objects.filter(entity=entity("Paddy straw")).values_list("surface")) == [
        ("Paddy straw",)
    ]


def test_edges_between_the_two_go_and_of_a_repeated_edge_the_surer_stays(librarian):
    page = passage("Rice straw produces biogas. Paddy straw makes biogas. Rice straw produces Paddy straw.")
    edge("Rice straw", "biogas", page, "Rice straw produces biogas.", confidence=0.4)
    edge("Paddy straw", "biogas", page, "Paddy straw makes biogas.", confidence=0.7)
    edge("Rice straw", "Paddy straw", page, "Rice straw produces Paddy straw.")
    mention("Rice straw", passage("Rice straw."))

    resolution.approve(proposals=[propose("Rice straw", "Paddy straw")], by=librarian)

    assert triples() == [("Rice straw", "produces", "biogas", 0.7)]


def test_the_record_names_who_how_and_how_sure_and_holds_no_words(librarian):
    page = passage("Rice straw produces biogas. Paddy straw makes biogas.")
    edge("Rice straw", "biogas", page, "Rice straw produces biogas.")
    edge("Paddy straw", "biogas", page, "Paddy straw makes biogas.")

    pair = propose("Rice straw", "Paddy straw", tier=2, confidence=0.93)
    resolution.approve(proposals=[pair], by=librarian)

    audit = ResolutionAudit.objects.get()
    assert (audit.act, audit.tier, audit.method, audit.confidence) == ("merge", 2, "name", 0.93)
    assert (audit.done_by_id, audit.done_by_name) == (librarian.pk, "librarian")
    assert not any(word in str(audit.inverse).lower() for word in ("straw", "biogas", "makes"))


def test_what_the_loser_had_absorbed_moves_to_the_winner(librarian):
    for name, times in (("A", 3), ("B", 2), ("C", 1)):
        for number in range(times):
            mention(name, passage(f"{name} is named {number}."))
    resolution.approve(proposals=[propose("B", "C")], by=librarian)
    mention("A", passage("A is named again."))

    resolution.approve(proposals=[propose("A", "B")], by=librarian)

    assert [canonical(name) for name in "ABC"] == ["A", "A", "A"]
    assert MergeProposal.objects.filter(state="approved").count() == 2
