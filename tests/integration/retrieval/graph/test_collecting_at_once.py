"""Collecting while a worker stores what it found in the same passage: they wait, and not in a ring."""

import threading
import time
from collections.abc import Callable

import pytest
from django.db import connection, transaction

from retrieval.graph import storing
from retrieval.graph.actions import gc
from retrieval.graph.extraction.types import Edge, Found, Passage, Spot, Verified
from retrieval.graph.models import DIRECT, INFERRED, Entity, Mention, Relationship
from retrieval.graph.storing import Placing
from tests.factories.corpus import ChunkFactory
from tests.factories.graph import EntityFactory, RelationshipFactory

pytestmark = pytest.mark.django_db(transaction=True)

BODY = "Rice straw yields methane."


class Worker(threading.Thread):
    """Something that is done beside the test, with a connection of its own."""

    def __init__(self, work: Callable[[], object]) -> None:
        super().__init__(daemon=True)
        self.work = work
        self.pid = 0
        self.known = threading.Event()
        self.failure: BaseException | None = None

    def run(self) -> None:
        try:
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_backend_pid()")
                (self.pid,) = cursor.fetchone()
            self.known.set()
            self.work()
        except BaseException as failure:  # noqa: BLE001 - told by the test
            self.failure = failure
        finally:
            connection.close()

    def waits_for_a_lock(self) -> bool:
        """Wait until it waits for a lock, or has ended; say which."""
        self.known.wait(10)
        until = time.monotonic() + 10
        while self.is_alive() and time.monotonic() < until:
            with connection.cursor() as cursor:
                cursor.execute("SELECT wait_event_type FROM pg_stat_activity WHERE pid = %s", [self.pid])
                row = cursor.fetchone()
            if row and row[0] == "Lock":
                return True
            time.sleep(0.02)
        return False


@pytest.mark.parametrize("merged", [False, True])
def test_a_worker_that_reads_the_passage_again_is_waited_for(*, merged: bool) -> None:
    """The passage lost its mentions and kept an edge; a worker is finding both of them again."""
    passage = ChunkFactory(body=BODY)
    straw, gas = EntityFactory(name="rice straw"), EntityFactory(name="methane")
    source = straw
    if merged:
        source = EntityFactory(name="straw of rice")
        Entity.objects.filter(pk=straw.pk).update(canonical_entity=source)
    edge = RelationshipFactory(source=source, target=gas, chunk=passage, type="yields", confidence=INFERRED)
    identities = {(one.type, one.key): one.name for one in (straw, gas)}
    ends = [(straw.type, straw.key), (gas.type, gas.key)]
    page = Verified(
        Passage(passage.pk, BODY, passage.content_sha256),
        tuple(
            Found(*end, name, (Spot(name, BODY.casefold().index(name)),), None)
            for end, name in zip(ends, ("rice straw", "methane"), strict=True)
        ),
        (Edge(ends[0], ends[1], "yields", Spot(BODY, 0), DIRECT),),
    )
    documents = {passage.pk: passage.document_id}
    collector = Worker(gc.collect)

    with transaction.atomic():
        rows, _ = storing.entities(identities)
        collector.start()
        assert collector.waits_for_a_lock()
        placing = Placing(rows, {})
        storing.mentions([page], documents, placing)
        storing.relationships([page], documents, placing)
    collector.join(20)

    assert not collector.is_alive()
    assert collector.failure is None
    assert Relationship.objects.get().pk == edge.pk
    assert Relationship.objects.get().confidence == DIRECT
    assert Mention.objects.count() == 2
    assert Entity.objects.count() == 2 + merged
