"""Where layers read: never from a server that is no replica, and from the primary when the replica is lost.

A real pair of servers is in tests/reliability/test_replica.py.
"""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy

import pytest
from django.conf import settings
from django.db import connections
from django.db.backends.base.base import BaseDatabaseWrapper

from corpus.scope import RetrievalScope
from retrieval import replica
from retrieval.following import Follower, Place
from retrieval.retriever import retrieve
from retrieval.types import RetrievalResult, StageStatus
from tests.integration.retrieval.corpora import add

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _let_it_be_connected_to(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests reach the databases that settings name, and this one is made by them."""
    guarded = BaseDatabaseWrapper.ensure_connection

    def ensure_connection(self: BaseDatabaseWrapper) -> None:
        if self.alias != replica.REPLICA:
            guarded(self)
        elif self.connection is None:
            with self.wrap_database_errors:
                self.connect()

    monkeypatch.setattr(BaseDatabaseWrapper, "ensure_connection", ensure_connection)


@contextmanager
def _beside_the_primary(**changed: object) -> Iterator[None]:
    """Call a server the replica for a while."""
    there = deepcopy(connections.databases["default"]) | changed
    connections.databases[replica.REPLICA] = settings.DATABASES[replica.REPLICA] = there
    try:
        yield
    finally:
        connections[replica.REPLICA].close()
        connections[replica.REPLICA].close_pool()
        del connections[replica.REPLICA]
        del connections.databases[replica.REPLICA]
        settings.DATABASES.pop(replica.REPLICA, None)


@pytest.fixture
def follower(monkeypatch: pytest.MonkeyPatch) -> Iterator[Follower]:
    follower = Follower(replica._replayed, wait=2.0, rest=60.0, leave=replica._leave)
    monkeypatch.setattr(replica, "_follower", follower)
    yield follower
    follower.failed()


@pytest.fixture
def lost() -> Iterator[None]:
    """A replica that nothing is left of."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    options = {"connect_timeout": 2, "pool": {"min_size": 0, "max_size": 4, "timeout": 0.2}}
    place = {"HOST": "127.0.0.1", "PORT": port, "USER": "x", "PASSWORD": "x", "OPTIONS": options}
    with _beside_the_primary(ENGINE="django.db.backends.postgresql", **place):
        yield


def found() -> RetrievalResult:
    return retrieve(question="How much methane does rice straw give?", scope=RetrievalScope())


def test_a_server_that_repeats_nothing_is_not_read_from(follower: Follower) -> None:
    with _beside_the_primary():
        place = replica.place()

        assert place is not None
        assert replica._asked(replica.REPLICA, "SELECT 1, 1") == Place(1, 1)
        assert replica.server_for(place) == replica.PRIMARY
        follower.failed()


def test_without_a_replica_nothing_is_asked_for_it(statements: list[str]) -> None:
    add("Straw", ["Rice straw gave 230 litres of methane."])
    statements.clear()
    found()

    assert not any("lsn" in statement for statement in statements)


def test_a_replica_that_cannot_be_reached_costs_no_layer(lost: None, follower: Follower) -> None:
    add("Straw", ["Rice straw gave 230 litres of methane."])

    result = found()

    assert [item.title for item in result.items] == ["Straw"]
    assert result.degraded == ()


def test_layers_that_lose_the_replica_go_on_with_the_primary(
    lost: None, follower: Follower, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was there a moment ago, when it was chosen."""
    add("Straw", ["Rice straw gave 230 litres of methane."])
    monkeypatch.setattr(replica, "server_for", lambda _place: replica.REPLICA)

    result = found()

    assert [item.title for item in result.items] == ["Straw"]
    assert {trace.stage: trace.status for trace in result.traces}["vector"] == StageStatus.OK
    assert result.degraded == ()
    assert not follower.has_reached(replica._asked(replica.PRIMARY, replica._PLACE))  # type: ignore[arg-type]
