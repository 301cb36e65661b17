"""Places for work in the database."""

from threading import Barrier, Thread
from time import monotonic, sleep

import pytest

from retrieval.turns import Turns


def wait_until(turns: Turns, waiting: int) -> None:
    until = monotonic() + 5
    while len(turns._waiting) < waiting and monotonic() < until:
        sleep(0.001)
    assert len(turns._waiting) == waiting


def test_whoever_arrived_first_is_served_first_whenever_it_asks() -> None:
    turns = Turns(1)
    first, second, third = (turns.arrive() for _ in range(3))
    served: list[int] = []

    def work(arrival: int) -> None:
        with turns.taken(arrival):
            served.append(arrival)

    with turns.taken(turns.arrive()):
        threads = [Thread(target=work, args=(arrival,)) for arrival in (third, first, second)]
        for number, thread in enumerate(threads, start=1):
            thread.start()
            wait_until(turns, number)
    for thread in threads:
        thread.join()

    assert served == [first, second, third]


def test_no_more_work_at_once_than_there_are_places_and_all_come_back() -> None:
    turns = Turns(3)
    start, at_work, most = Barrier(12), [0], [0]

    def work() -> None:
        start.wait()
        for _ in range(20):
            with turns.taken(turns.arrive()):
                at_work[0] += 1
                most[0] = max(most[0], at_work[0])
                sleep(0.0005)
                at_work[0] -= 1

    threads = [Thread(target=work) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert most[0] <= 3
    assert turns._free == 3
    assert turns._waiting == []


def test_a_place_comes_back_from_work_that_fails() -> None:
    turns = Turns(1)

    with pytest.raises(RuntimeError), turns.taken(turns.arrive()):
        raise RuntimeError

    assert turns._free == 1


def test_who_waits_too_long_goes_ahead_and_gives_no_place_back() -> None:
    turns = Turns(1)

    with turns.taken(turns.arrive()):
        with turns.taken(turns.arrive(), patience=0.01):
            assert turns._free == 0
        assert turns._free == 0

    assert turns._free == 1
    assert turns._waiting == []
