"""What the database itself refuses about the graph, and what goes with a document."""

from collections.abc import Callable
from uuid import UUID

import pgtrigger
import pytest
from django.db import IntegrityError, connection, transaction
from django.db.utils import DatabaseError

from retrieval.models import (
    Community,
    CommunityBuild,
    CommunityDocument,
    CommunityMember,
    Entity,
    Mention,
    MergeProposal,
    PassageSense,
    Relationship,
    ResolutionAudit,
)
from tests.factories.corpus import ChunkFactory, DocumentFactory
from tests.factories.graph import EntityFactory, MentionFactory, RelationshipFactory

pytestmark = pytest.mark.django_db


def _self_edge() -> object:
    entity = EntityFactory()
    return RelationshipFactory(source=entity, target=entity, quote="x")


def _same_edge_twice() -> object:
    edge = RelationshipFactory()
    return RelationshipFactory(source=edge.source, target=edge.target, chunk=edge.chunk, confidence=0.4)


def _pair_the_other_way_round() -> object:
    low, high = sorted([EntityFactory(), EntityFactory()], key=lambda entity: entity.id)
    return MergeProposal.objects.create(low=high, high=low, tier=1, method="name", confidence=1)


def _own_tombstone() -> object:
    entity = EntityFactory()
    entity.canonical_entity = entity
    return entity.save()


def _two_builds_at_once() -> object:
    return [CommunityBuild.objects.create(scope_name="a", scope={}) for _ in "ab"]


def _sense(sense: int) -> object:
    return PassageSense.objects.create(first_id=UUID(int=1), content_sha256="0" * 64, sense=sense)


REFUSED: dict[str, Callable[[], object]] = {
    "relationship_joins_two_entities": _self_edge,
    "relationship_once_per_passage": _same_edge_twice,
    "relationship_confidence_is_a_level": lambda: RelationshipFactory(confidence=0.9),
    "relationship_quotes": lambda: RelationshipFactory(quote=""),
    "mention_says_something": lambda: MentionFactory(surface=""),
    "entity_one_per_name": lambda: [Entity.objects.create(name="Ash", key="ash", type="a") for _ in "ab"],
    "entity_is_named": lambda: EntityFactory(key=""),
    "entity_not_its_own_tombstone": _own_tombstone,
    "communitybuild_one_is_being_made": _two_builds_at_once,
    "mergeproposal_lesser_id_first": _pair_the_other_way_round,
    "passagesense_one_per_text": lambda: [_sense(1), _sense(2)],
    "passagesense_is_split_off": lambda: _sense(0),
}


@pytest.mark.parametrize("name", REFUSED)
def test_the_database_refuses(name: str) -> None:
    with pytest.raises(IntegrityError, match=f"retrieval_{name}"), transaction.atomic():
        REFUSED[name]()


def test_the_same_triple_from_two_passages_is_two_rows() -> None:
    edge = RelationshipFactory()

    RelationshipFactory(source=edge.source, target=edge.target)

    assert Relationship.objects.count() == 2


def test_the_log_of_merges_is_append_only() -> None:
    entry = ResolutionAudit.objects.create(
        act="merge", winner=EntityFactory(), loser=EntityFactory(), method="name"
    )

    for change in (
        lambda: ResolutionAudit.objects.update(method="else"),
        lambda: ResolutionAudit.objects.filter(pk=entry.pk).delete(),
    ):
        with pytest.raises(DatabaseError, match="pgtrigger"), transaction.atomic():
            change()


def test_the_log_of_merges_cannot_be_truncated() -> None:
    pgtrigger.enable("retrieval.ResolutionAudit:no_truncate")
    with (
        connection.cursor() as cursor,
        pytest.raises(DatabaseError, match="Cannot truncate"),
        transaction.atomic(),
    ):
        cursor.execute("TRUNCATE retrieval_resolutionaudit")


def test_a_community_goes_with_each_document_that_went_into_it() -> None:
    build = CommunityBuild.objects.create(scope_name="public", scope={}, graph_sha256="0", method="lpa 1")
    documents = [DocumentFactory(), DocumentFactory(), DocumentFactory()]
    coarse, fine, other = (
        Community.objects.create(
            build=build, key=key, level=level, title=key, summary="Says.", written_by="extractive"
        )
        for key, level in (("coarse", 1), ("fine", 0), ("other", 0))
    )
    Community.objects.filter(pk=other.pk).update(parent=coarse)
    for community, used in ((coarse, documents[:2]), (fine, documents[:2]), (other, documents[2:])):
        CommunityMember.objects.create(community=community, entity=EntityFactory())
        for document in used:
            CommunityDocument.objects.create(community=community, document=document)

    documents[1].delete()

    assert [community.key for community in Community.objects.all()] == ["other"]
    assert CommunityDocument.objects.count() == CommunityMember.objects.count() == 1


def test_mentions_and_edges_go_with_their_passage_and_no_others() -> None:
    chunk, other = ChunkFactory(), ChunkFactory()
    entity = EntityFactory()
    for each in (chunk, other):
        MentionFactory(entity=entity, chunk=each)
        RelationshipFactory(source=entity, chunk=each)

    chunk.document.delete()

    assert [mention.chunk for mention in Mention.objects.all()] == [other]
    assert [edge.chunk for edge in Relationship.objects.all()] == [other]
