"""A name that passages mean two things by: its passages part, stay parted, and can be joined again."""

import pytest

from corpus.actions import deletion
from retrieval.graph.actions import gc, resolution, splitting, undoing
from retrieval.graph.actions.splitting import NotSplit
from retrieval.graph.actions.undoing import NotUndone
from retrieval.graph.naming import entity_id
from retrieval.models import (
    Description,
    Entity,
    Mention,
    MergeProposal,
    PassageSense,
    Relationship,
    ResolutionAudit,
)
from tests.integration.retrieval.graph.extracting import by_rules, document
from tests.integration.retrieval.graph.merging import (
    describe,
    dump,
    edge,
    entity,
    mention,
    passage,
    propose,
    triples,
)

pytestmark = pytest.mark.django_db


def of_documents(*documents):
    return list(Mention.objects.filter(document__in=documents))


@pytest.fixture
def memory():
    """A passage that means the disease by AD, beside one that means digestion."""
    digestion = passage("AD gives methane. AD is digestion without air.")
    edge("AD", "methane", digestion, "AD gives methane.")
    describe("AD", digestion, "AD is digestion without air.")
    disease = passage("AD harms memory. Age brings AD. AD is a disease.")
    edge("AD", "memory", disease, "AD harms memory.")
    edge("Age", "AD", disease, "Age brings AD.")
    describe("AD", disease, "AD is a disease.")
    return disease


def test_the_chosen_passages_get_the_next_sense_with_all_they_say(memory, librarian):
    audit = splitting.split(entity=entity("AD"), mentions=of_documents(memory.document), by=librarian)

    first, second = Entity.objects.filter(key="ad").order_by("sense")
    assert second.pk == entity_id(entity_type="material", key="ad", sense=1)
    assert (audit.winner, audit.loser, audit.done_by_name) == (first, second, "librarian")
    edges = {row.quote: (row.source, row.target) for row in Relationship.objects.all()}
    assert edges["AD harms memory."][0] == edges["Age brings AD."][1] == second
    assert edges["AD gives methane."][0] == first
    assert Description.objects.get(entity=second).quote == "AD is a disease."
    assert "memory" not in str(audit.inverse)


def test_a_split_undone_leaves_the_graph_as_it_was(memory):
    before = dump()
    audit = splitting.split(entity=entity("AD"), mentions=of_documents(memory.document), by=None)
    assert dump() != before

    undoing.undo(audit=audit, by=None)

    assert dump() == before
    gc.collect()
    assert Entity.objects.filter(key="ad").count() == 1


def test_passages_read_again_stay_with_their_sense():
    papers = [document(f"Straw gives methane {number}.") for number in range(3)]
    by_rules()
    straw = Entity.objects.get(key="straw")
    splitting.split(entity=straw, mentions=of_documents(papers[0]), by=None)
    parted = dump()

    by_rules(again=True)

    assert dump() == parted
    undoing.undo(audit=ResolutionAudit.objects.get(), by=None)
    by_rules(again=True)
    assert Entity.objects.get(key="straw", sense=0).mentions.count() == 3


def test_documents_taken_in_again_mean_what_they_meant():
    papers = [document(f"Straw gives methane {number}.") for number in range(3)]
    by_rules()
    splitting.split(entity=Entity.objects.get(key="straw"), mentions=of_documents(papers[0]), by=None)
    parted = dump()
    for paper in papers:
        deletion.delete(document_id=paper.pk)
    gc.collect()
    assert not Entity.objects.exists()

    for number in (2, 0, 1):
        document(f"Straw gives methane {number}.")
    by_rules()

    assert dump() == parted
    undoing.undo(audit=ResolutionAudit.objects.get(), by=None)
    by_rules(again=True)
    assert Entity.objects.get(key="straw", sense=0).mentions.count() == 3
    assert not PassageSense.objects.exists()


def test_a_sense_split_again_goes_back_to_the_one_it_came_from():
    papers = [document(f"Straw gives methane {number}.") for number in range(3)]
    by_rules()
    straw = Entity.objects.get(key="straw")
    first = splitting.split(entity=straw, mentions=of_documents(*papers[:2]), by=None)
    parted = dump()
    chosen = list(Mention.objects.filter(entity=first.loser, document=papers[0]))
    second = splitting.split(entity=first.loser, mentions=chosen, by=None)
    assert sorted(PassageSense.objects.values_list("sense", flat=True)) == [1, 2]

    undoing.undo(audit=second, by=None)
    by_rules(again=True)

    assert dump() == parted


def test_the_same_text_in_another_document_goes_along():
    twins = [document("Straw gives methane.", f"Number {number}.") for number in range(2)]
    document("Straw gives biochar.")
    by_rules()
    straw = Entity.objects.get(key="straw")

    splitting.split(entity=straw, mentions=of_documents(twins[0]), by=None)

    assert [sense.mentions.count() for sense in Entity.objects.filter(key="straw").order_by("sense")] == [
        1,
        2,
    ]


def test_a_sense_that_is_gone_is_not_given_out_again(memory):
    mention("AD", passage("AD lasts."))
    first = splitting.split(entity=entity("AD"), mentions=of_documents(memory.document), by=None)
    deletion.delete(document_id=memory.document_id)
    assert not Entity.objects.filter(pk=first.loser_id).exists()

    again = splitting.split(
        entity=entity("AD"), mentions=list(Mention.objects.filter(surface="AD").order_by("pk")[:1]), by=None
    )

    assert again.loser.sense == 2
    with pytest.raises(NotUndone, match="not in effect any more"):
        undoing.undo(audit=first, by=None)


def test_what_cannot_be_split_says_why(memory):
    everything = list(Mention.objects.filter(surface="AD"))
    others = list(Mention.objects.filter(surface="memory"))

    with pytest.raises(NotSplit, match="Choose passages"):
        splitting.split(entity=entity("AD"), mentions=others, by=None)
    with pytest.raises(NotSplit, match="Leave a passage"):
        splitting.split(entity=entity("AD"), mentions=everything, by=None)
    mention("Age", passage("Age is named again."))
    mention("Age", passage("Age is named once more."))
    resolution.approve(proposals=[propose("Age", "AD")], by=None)
    with pytest.raises(NotSplit, match="merged into another one"):
        splitting.split(entity=entity("AD"), mentions=everything[:1], by=None)
    Entity.objects.filter(canonical_entity__isnull=False).update(canonical_entity=None)
    gone = entity("AD")
    Entity.objects.filter(pk=gone.pk).delete()
    with pytest.raises(NotSplit, match="gone"):
        splitting.split(entity=gone, mentions=everything[:1], by=None)


def test_a_split_waits_for_what_was_built_on_it(memory):
    audit = splitting.split(entity=entity("AD"), mentions=of_documents(memory.document), by=None)
    resolution.approve(proposals=[propose(audit.loser, entity("Age"))], by=None)

    with pytest.raises(NotUndone, match="A later act builds on it"):
        undoing.undo(audit=audit, by=None)

    undoing.undo(audit=ResolutionAudit.objects.latest("pk"), by=None)
    undoing.undo(audit=audit, by=None)
    assert not MergeProposal.objects.exists()


def test_an_edge_stays_where_its_passage_names_what_was_merged_into_the_first(memory):
    mention("Methanisation", memory_with_both := passage("AD or Methanisation gives heat."))
    edge("AD", "heat", memory_with_both, "Methanisation gives heat.")
    resolution.approve(proposals=[propose("AD", "Methanisation")], by=None)
    before = triples()

    splitting.split(entity=entity("AD"), mentions=of_documents(memory_with_both.document), by=None)

    assert triples() == before
    assert Mention.objects.filter(entity__sense=1).count() == 1
