"""Merge, then undo: the graph is what it was, byte for byte, whatever was merged before and between."""

from typing import Any

import pytest
from django.db import connection, transaction
from django.db.utils import DatabaseError

from corpus.actions import deletion
from retrieval.graph.actions import gc, resolution, undoing
from retrieval.graph.actions.undoing import NotUndone
from retrieval.models import (
    ChunkStamp,
    Community,
    CommunityBuild,
    CommunityMember,
    Entity,
    Mention,
    MergeProposal,
    Relationship,
    ResolutionAudit,
)
from tests.integration.retrieval.graph.extracting import by_rules, document
from tests.integration.retrieval.graph.merging import (
    canonical,
    dump,
    edge,
    entity,
    mention,
    passage,
    propose,
    triples,
)

pytestmark = pytest.mark.django_db


def _merged(*names: str, by: Any = None, **fields: Any) -> ResolutionAudit:
    assert resolution.approve(proposals=[propose(*names, **fields)], by=by) == 1
    return ResolutionAudit.objects.latest("pk")


def _two() -> None:
    """Two names of one thing, and passages that say the same edge of both."""
    both = passage("Rice straw makes gas. Paddy straw  makes\ngas. Paddy straw makes Rice straw.")
    edge("Rice straw", "gas", both, "Rice straw makes gas.", confidence=0.4)
    Relationship.objects.create(
        source=entity("Paddy straw"), target=entity("gas"), type="produces", chunk=both, confidence=0.7,
        document=both.document, start=both.body.index("Paddy"), quote="Paddy straw makes gas.",
    )  # fmt: skip
    mention("Paddy straw", both)
    edge("Paddy straw", "Rice straw", both, "Paddy straw makes Rice straw.")
    alone = passage("Paddy straw makes ash.")
    edge("Paddy straw", "ash", alone, "Paddy straw makes ash.")
    mention("Rice straw", passage("Rice straw is bulky."))


def test_words_that_a_merge_dropped_are_read_again_from_the_passage(librarian):
    _two()
    before = dump()
    audit = _merged("Rice straw", "Paddy straw")
    assert dump() != before
    assert len(audit.inverse["dropped"]) == 2

    record = undoing.undo(audit=audit, by=librarian)

    assert dump() == before
    assert (record.act, record.undoes, record.done_by_name) == ("undo", audit, "librarian")


def test_an_undone_pair_waits_again_and_only_a_person_joins_it_again(librarian):
    _two()
    undoing.undo(audit=_merged("Rice straw", "Paddy straw"), by=librarian)
    proposal = MergeProposal.objects.get()

    assert proposal.state == "proposed"
    assert resolution.approve(proposals=[proposal], by=None) == 0
    assert resolution.approve(proposals=[proposal], by=librarian) == 1


def test_what_a_later_merge_builds_on_is_undone_after_it():
    _two()
    first = _merged("Rice straw", "Paddy straw")
    second = _merged("Rice straw", "ash")

    with pytest.raises(NotUndone, match=f"undo number {second.pk} first") as refusal:
        undoing.undo(audit=first, by=None)
    assert refusal.value.by == second

    undoing.undo(audit=second, by=None)
    undoing.undo(audit=first, by=None)
    with pytest.raises(NotUndone, match="undone already"):
        undoing.undo(audit=first, by=None)
    with pytest.raises(NotUndone, match="approve the pair again"):
        undoing.undo(audit=ResolutionAudit.objects.latest("pk"), by=None)


def test_of_a_deleted_document_nothing_comes_back():
    _two()
    both = Mention.objects.filter(surface="gas").get().document
    audit = _merged("Rice straw", "Paddy straw")
    deletion.delete(document_id=both.pk)

    undoing.undo(audit=audit, by=None)

    assert triples() == [("Paddy straw", "produces", "ash", 1.0)]
    assert canonical("Paddy straw") == "Paddy straw"


def test_a_merge_whose_entities_went_with_their_documents_cannot_be_undone():
    _two()
    audit = _merged("Rice straw", "Paddy straw")
    for each in {row.document for row in Mention.objects.select_related("document")}:
        deletion.delete(document_id=each.pk)
    assert not Entity.objects.exists()

    with pytest.raises(NotUndone, match="not in effect any more"):
        undoing.undo(audit=audit, by=None)
    assert not MergeProposal.objects.exists()


def test_passages_read_while_two_were_one_belong_to_what_they_name():
    document("Pyrolysis produces biochar.", "Torrefaction produces biochar.")
    document("Pyrolysis produces heat. Biochar holds water.")
    by_rules()
    two = [Entity.objects.get(key=key) for key in ("pyrolysis", "torrefaction")]
    proposal = propose(*two)
    resolution.approve(proposals=[proposal], by=None)
    audit = ResolutionAudit.objects.get()
    document("Torrefaction produces methane.")
    document("Pyrolysis produces methane.")
    by_rules()
    by_rules(again=True)
    undoing.undo(audit=audit, by=None)
    undone = dump()

    for each in (ChunkStamp, Mention, Relationship, Entity):
        each.objects.all().delete()
    by_rules()

    assert undone == dump()


def test_a_passage_read_again_while_two_were_one_changes_nothing_of_the_undo():
    document("Pyrolysis produces biochar.", "Torrefaction produces biochar.")
    by_rules()
    before = dump()
    two = [Entity.objects.get(key=key) for key in ("pyrolysis", "torrefaction")]
    resolution.approve(proposals=[propose(*two)], by=None)
    by_rules(again=True)

    undoing.undo(audit=ResolutionAudit.objects.get(), by=None)

    assert dump() == before


def test_the_log_refuses_every_change():
    _two()
    audit = _merged("Rice straw", "Paddy straw")
    for statement in (
        "UPDATE retrieval_resolutionaudit SET inverse = '{}' WHERE id = %s",
        "DELETE FROM retrieval_resolutionaudit WHERE id = %s",
    ):
        with (
            connection.cursor() as cursor,
            pytest.raises(DatabaseError, match="pgtrigger"),
            transaction.atomic(),
        ):
            cursor.execute(statement, [audit.pk])


def _community(*names: str) -> Community:
    build = CommunityBuild.objects.create(
        scope_name="public", scope={}, graph_sha256="0", method="lpa", finished_at="2026-01-01T00:00Z"
    )
    made = Community.objects.create(
        build=build, key="".join(names)[:60], title="t", summary="s", written_by="extractive"
    )
    for name in names:
        CommunityMember.objects.create(community=made, entity=entity(name))
    return made


def test_merge_and_undo_clear_the_communities_that_touched_either_side_in_every_build():
    _two()
    other = _community("gas", "ash")
    for _ in range(2):
        _community("Rice straw", "gas")
        _community("Paddy straw", "ash")

    audit = _merged("Rice straw", "Paddy straw")
    assert list(Community.objects.all()) == [other]

    _community("Rice straw", "gas")
    undoing.undo(audit=audit, by=None)
    assert list(Community.objects.all()) == [other]


def test_rows_that_nothing_supports_go_as_usual_while_two_are_one():
    _two()
    audit = _merged("Rice straw", "Paddy straw")
    gc.collect()
    undoing.undo(audit=audit, by=None)

    assert canonical("Paddy straw") == "Paddy straw"
