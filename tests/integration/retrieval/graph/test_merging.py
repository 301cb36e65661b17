"""Two entities become one: what moves, what goes, what is recorded, and what never happens by itself."""

import pytest
from django.db import IntegrityError, transaction

from corpus.actions import deletion
from corpus.models import Document
from retrieval.graph import merge_queue
from retrieval.graph.actions import gc, resolution, undoing
from retrieval.graph.joining import Refusal
from retrieval.models import Entity, Mention, MergeProposal, ResolutionAudit
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


def three(*pairs: tuple[str, str]) -> list[MergeProposal]:
    """A, B and C, each named by a passage, and proposals about them."""
    for name in "ABC":
        mention(name, passage(f"{name} is named."))
    return [propose(*pair) for pair in pairs]


def test_two_approved_pairs_make_three_one_and_one_approved_pair_does_not(librarian):
    first, second = three(("A", "B"), ("B", "C"))

    resolution.approve(proposals=[first], by=librarian)

    assert len({canonical(name) for name in "AB"}) == 1
    assert canonical("C") == "C"
    second.refresh_from_db()
    assert second.state == "proposed"
    assert list(merge_queue.waiting()) == [second]
    resolution.approve(proposals=[second], by=librarian)
    assert len({canonical(name) for name in "ABC"}) == 1


def test_a_pair_that_became_one_by_two_others_is_asked_about_only_while_it_is_two(librarian):
    first, second, third = three(("A", "B"), ("B", "C"), ("A", "C"))

    resolution.approve(proposals=[first, second], by=librarian)

    assert not merge_queue.waiting().exists()
    assert resolution.approve(proposals=[third], by=librarian) == 0
    undoing.undo(audit=ResolutionAudit.objects.latest("pk"), by=librarian)
    assert set(merge_queue.waiting()) == {second, third}


def test_what_somebody_called_different_never_becomes_one_by_way_of_a_third(librarian):
    first, second, apart = three(("A", "B"), ("B", "C"), ("A", "C"))
    resolution.never(proposals=[apart], by=librarian)

    outcome = resolution.decide(proposals=[first, second], state=MergeProposal.State.APPROVED, by=librarian)

    assert outcome.decided == 1
    assert outcome.refused == {Refusal.DIFFERENT: 1}
    assert len({canonical(name) for name in "ABC"}) == 2
    resolution.ask_again(proposals=[apart], by=librarian)
    assert resolution.approve(proposals=[second], by=librarian) == 1


@pytest.mark.parametrize("refuse", [resolution.reject, resolution.never])
def test_a_refusal_outlives_the_entities_and_what_was_asked_or_approved_does_not(refuse, librarian):
    refused, asked, approved = three(("A", "B"), ("B", "C"), ("A", "C"))
    refuse(proposals=[refused], by=librarian)
    resolution.approve(proposals=[approved], by=librarian)
    for row in Document.objects.all():
        deletion.delete(document_id=row.pk)
    gc.collect()
    assert not Entity.objects.exists()

    assert list(MergeProposal.objects.all()) == [refused]
    for name in "AB":
        mention(name, passage(f"{name} is back."))
    assert not merge_queue.waiting().exists()
    with pytest.raises(IntegrityError, match="one_per_pair"), transaction.atomic():
        propose("A", "B")
    assert asked.pk != refused.pk


def test_a_proposal_whose_entities_are_gone_is_left(librarian):
    (pair,) = three(("A", "B"))
    Entity.objects.filter(name="A").delete()

    outcome = resolution.decide(proposals=[pair], state=MergeProposal.State.APPROVED, by=librarian)

    assert outcome.refused == {Refusal.GONE: 1}
