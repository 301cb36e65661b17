"""People, workers and deletions at the same time: nobody waits in a ring, and nothing ends up half merged."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import combinations
from threading import Event, Thread
from typing import Any

import pytest
from django.db import connection, transaction
from django.db.models import Q

from corpus.actions import deletion
from corpus.models import Document
from retrieval.graph import holding
from retrieval.graph.actions import gc, resolution, splitting, undoing
from retrieval.graph.actions.undoing import NotUndone
from retrieval.graph.holding import Busy
from retrieval.models import Entity, Mention, MergeProposal, Relationship, ResolutionAudit
from tests.integration.retrieval.graph.extracting import by_rules, document
from tests.integration.retrieval.graph.merging import dump, edge, entity, mention, passage, propose

pytestmark = pytest.mark.django_db(transaction=True)

THINGS = ("pyrolysis", "biochar", "methane", "straw", "anaerobic digestion")
SAID = "Pyrolysis produces biochar. Anaerobic digestion (AD) produces methane. Straw gives biochar."


def at_once(*acts: Callable[[], Any]) -> list[Any]:
    """Start all acts together, each with a connection of its own; return what they return."""
    go = Event()

    def one(act: Callable[[], Any]) -> Any:
        go.wait(30)
        try:
            return act()
        finally:
            connection.close()

    with ThreadPoolExecutor(len(acts)) as pool:
        running = [pool.submit(one, act) for act in acts]
        go.set()
        return [found.result(60) for found in running]


def is_whole() -> None:
    """No tombstone has edges or tombstones of its own."""
    gone = Q(source__canonical_entity__isnull=False) | Q(target__canonical_entity__isnull=False)
    assert not Relationship.objects.filter(gone).exists()
    assert not Entity.objects.filter(canonical_entity__canonical_entity__isnull=False).exists()


def undo_everything() -> None:
    for audit in undoing.in_effect().order_by("-pk"):
        undoing.undo(audit=audit, by=None)


def test_two_who_approve_the_same_pair_make_it_one_once(librarian, administrator):
    mention("Rice straw", passage("Rice straw."))
    mention("Paddy straw", passage("Paddy straw."))
    pair = propose("Rice straw", "Paddy straw")

    done = at_once(
        *[lambda who=who: resolution.approve(proposals=[pair], by=who) for who in (librarian, administrator)]
    )

    assert sorted(done) == [0, 1]
    assert ResolutionAudit.objects.count() == 1


def test_pairs_that_share_entities_are_approved_in_opposite_orders_without_a_ring():
    for name in "ABCDEF":
        mention(name, passage(f"{name} is named."))
    pairs = [propose(one, other) for one, other in combinations("ABCDEF", 2)]
    before = dump()

    done = at_once(
        *[
            lambda each=each: sum(resolution.approve(proposals=[pair], by=None) for pair in each)
            for each in (pairs[:8], pairs[:7:-1], pairs[3:12])
        ]
    )

    # Six things become one by five merges, whoever made them; the other pairs were one already.
    assert sum(done) == ResolutionAudit.objects.count() == 5
    is_whole()
    undo_everything()
    assert dump() == before


def test_merges_undos_and_extraction_at_once_leave_what_extraction_alone_leaves():
    documents = [document(SAID, f"Straw {number} gives methane. {SAID}") for number in range(4)]
    by_rules()
    alone = dump()
    ids = list(Entity.objects.order_by("pk"))
    pairs = [propose(one, other) for one, other in combinations(ids, 2)][:12]

    def merges() -> None:
        for pair in pairs:
            resolution.approve(proposals=[pair], by=None)

    def undos() -> None:
        for _ in range(12):
            for audit in undoing.in_effect().order_by("-pk")[:1]:
                try:
                    undoing.undo(audit=audit, by=None)
                except NotUndone:
                    continue

    at_once(merges, undos, *[lambda: by_rules(again=True) for _ in range(3)])

    is_whole()
    undo_everything()
    by_rules(again=True)
    assert dump() == alone
    assert len(documents) == 4


def test_documents_are_deleted_while_their_entities_are_merged_and_parted():
    doomed = [document(SAID, f"Straw {number} gives methane. {SAID}") for number in range(6)]
    document("Pyrolysis produces biochar. Straw gives methane.", "AD produces methane.")
    by_rules()
    ids = list(Entity.objects.order_by("pk"))
    pairs = [propose(one, other) for one, other in combinations(ids, 2)][:10]

    def merges() -> None:
        for pair in pairs:
            resolution.approve(proposals=[pair], by=None)
        for audit in undoing.in_effect().order_by("-pk")[:4]:
            try:
                undoing.undo(audit=audit, by=None)
            except NotUndone:
                continue

    def deletions(some: list[Document]) -> None:
        for each in some:
            deletion.delete(document_id=each.pk)

    at_once(merges, lambda: deletions(doomed[:3]), lambda: deletions(doomed[3:]), gc.collect)

    is_whole()
    for audit in undoing.in_effect().order_by("-pk"):
        undoing.undo(audit=audit, by=None)
    left = dump()
    Entity.objects.update(canonical_entity=None)
    Entity.objects.all().delete()
    by_rules(again=True)
    assert dump() == left


@pytest.fixture
def removal() -> Iterator[Callable[[Document], Event]]:
    """Begin to delete a document and keep at it until the event is set."""
    threads = []

    def begin(doomed: Document) -> Event:
        deleted, end = Event(), Event()

        def delete() -> None:
            try:
                with transaction.atomic():
                    deletion.delete(document_id=doomed.pk)
                    deleted.set()
                    end.wait(30)
            finally:
                connection.close()

        thread = Thread(target=delete)
        threads.append((thread, end))
        thread.start()
        assert deleted.wait(30)
        return end

    yield begin
    for thread, end in threads:
        end.set()
        thread.join(30)


def _said_twice() -> Document:
    page = passage("Rice straw makes gas. Paddy straw makes gas.")
    edge("Rice straw", "gas", page, "Rice straw makes gas.")
    edge("Paddy straw", "gas", page, "Paddy straw makes gas.")
    for name in ("Rice straw", "Paddy straw", "gas"):
        mention(name, passage(f"{name}, again."))
    document: Document = page.document
    return document


def test_a_merge_that_meets_a_deletion_waits_for_its_end(removal):
    doomed = _said_twice()
    end = removal(doomed)
    pair = propose("Rice straw", "Paddy straw")
    Thread(target=lambda: (holding.sleep(0.4), end.set())).start()

    assert resolution.approve(proposals=[pair], by=None) == 1

    assert not Relationship.objects.exists()
    is_whole()


def test_a_merge_gives_up_on_a_deletion_without_end_and_changes_nothing(removal, monkeypatch):
    monkeypatch.setattr(holding, "_PATIENCE", 0.2)
    removal(_said_twice())
    pair = propose("Rice straw", "Paddy straw")

    with pytest.raises(Busy, match="try again"):
        resolution.approve(proposals=[pair], by=None)

    assert MergeProposal.objects.get().state == "proposed"
    assert not ResolutionAudit.objects.exists()


def test_an_undo_that_meets_a_deletion_gives_up_too(removal, monkeypatch):
    doomed = _said_twice()
    assert resolution.approve(proposals=[propose("Rice straw", "Paddy straw")], by=None) == 1
    audit = ResolutionAudit.objects.get()
    monkeypatch.setattr(holding, "_PATIENCE", 0.2)
    end = removal(doomed)

    with pytest.raises(Busy):
        undoing.undo(audit=audit, by=None)

    end.set()
    monkeypatch.setattr(holding, "_PATIENCE", 20.0)
    undoing.undo(audit=audit, by=None)
    assert not Relationship.objects.exists()


def test_a_sense_that_is_split_off_while_its_passages_are_read_keeps_them():
    for number in range(4):
        document(f"Straw gives methane {number}.", f"Straw gives biochar {number}.")
    by_rules()
    straw = entity("straw")
    some = list(Mention.objects.filter(entity=straw).order_by("pk")[:3])
    chunks = {each.chunk_id for each in some}

    at_once(
        lambda: splitting.split(entity=straw, mentions=some, by=None),
        *[lambda: by_rules(again=True) for _ in range(2)],
    )
    by_rules(again=True)

    senses = Entity.objects.filter(key="straw").order_by("sense")
    assert [set(sense.mentions.values_list("chunk", flat=True)) & chunks for sense in senses] == [
        set(),
        chunks,
    ]
