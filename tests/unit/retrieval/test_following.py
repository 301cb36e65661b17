"""Whether a replica may be read from: only when it holds what the request must know of."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator

import pytest

from retrieval.following import Follower, Place

WAIT, REST = 0.1, 0.3


class Replica:
    """A replica that is where it is told to be, and counts who looks."""

    def __init__(self) -> None:
        self.place: Place | None = Place(1, 100)
        self.looks = 0
        self.gone = False
        self.hangs = threading.Event()
        self.hangs.set()

    def __call__(self) -> Place | None:
        self.looks += 1
        self.hangs.wait(5)
        if self.gone:
            raise ConnectionError
        return self.place


@pytest.fixture
def replica() -> Iterator[Replica]:
    replica = Replica()
    yield replica
    replica.hangs.set()


@pytest.fixture
def follower(replica: Replica) -> Follower:
    return Follower(replica, wait=WAIT, rest=REST)


def timed(call: Callable[[], bool]) -> tuple[bool, float]:
    started = time.monotonic()
    return call(), time.monotonic() - started


def test_a_replica_that_has_replayed_as_much_is_read_from(follower: Follower) -> None:
    assert follower.has_reached(Place(1, 100))
    assert follower.has_reached(Place(1, 99))


def test_what_was_seen_before_the_request_counts_for_nothing(follower: Follower, replica: Replica) -> None:
    follower.has_reached(Place(1, 100))
    replica.place = Place(1, 50)

    assert not follower.has_reached(Place(1, 100))


def test_a_replica_that_catches_up_in_time_is_waited_for(follower: Follower, replica: Replica) -> None:
    replica.place = Place(1, 99)
    catches_up = threading.Timer(WAIT / 3, lambda: setattr(replica, "place", Place(1, 100)))
    catches_up.start()

    assert follower.has_reached(Place(1, 100))


@pytest.mark.parametrize(
    "place",
    [
        pytest.param(Place(1, 99), id="behind"),
        pytest.param(Place(2, 500), id="another system"),
        pytest.param(None, id="promoted"),
    ],
)
def test_no_other_server_is_read_from(follower: Follower, replica: Replica, place: Place | None) -> None:
    replica.place = place

    assert not follower.has_reached(Place(1, 100))


def test_a_replica_that_is_behind_is_left_alone_for_a_while_and_then_tried_again(
    follower: Follower, replica: Replica
) -> None:
    replica.place = Place(1, 99)
    first, waited = timed(lambda: follower.has_reached(Place(1, 100)))
    replica.place = Place(1, 100)
    second, at_once = timed(lambda: follower.has_reached(Place(1, 100)))
    time.sleep(REST)

    assert (first, second) == (False, False)
    assert waited >= WAIT > at_once
    assert follower.has_reached(Place(1, 100))


def test_a_replica_that_cannot_be_reached_is_not_waited_for(follower: Follower, replica: Replica) -> None:
    replica.gone = True

    assert not follower.has_reached(Place(1, 100))
    replica.gone = False
    time.sleep(REST)
    assert follower.has_reached(Place(1, 100))


def test_a_replica_that_hangs_holds_nobody_longer_than_the_wait(follower: Follower, replica: Replica) -> None:
    replica.hangs.clear()

    reached, waited = timed(lambda: follower.has_reached(Place(1, 100)))

    assert not reached
    assert waited < 10 * WAIT


def test_one_that_failed_a_reader_is_left_alone(follower: Follower, replica: Replica) -> None:
    assert follower.has_reached(Place(1, 100))
    follower.failed()

    assert not follower.has_reached(Place(1, 100))


def test_many_requests_share_the_looks(follower: Follower, replica: Replica) -> None:
    found: list[bool] = []
    askers = [
        threading.Thread(target=lambda: found.append(follower.has_reached(Place(1, 100)))) for _ in range(50)
    ]
    for asker in askers:
        asker.start()
    for asker in askers:
        asker.join()

    assert found == [True] * 50
    assert replica.looks <= 50
