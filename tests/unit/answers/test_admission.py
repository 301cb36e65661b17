"""Turns at searching and storing: two at a time, in bounded time."""

import threading
import time

import pytest

from answers import admission


def test_no_more_are_at_work_than_there_are_turns() -> None:
    busy, most = 0, 0
    lock = threading.Lock()

    def work() -> None:
        nonlocal busy, most
        with admission.at_work():
            with lock:
                busy += 1
                most = max(most, busy)
            time.sleep(0.02)
            with lock:
                busy -= 1

    threads = [threading.Thread(target=work) for _ in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)

    assert most == admission.MOST_AT_WORK


def test_whoever_holds_a_turn_for_too_long_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(admission, "LONGEST_WAIT_SECONDS", 0.05)
    monkeypatch.setattr(admission, "_work", threading.Semaphore(1))

    with admission.at_work(), admission.at_work():
        pass

    assert admission._work.acquire(blocking=False), "one turn was taken, and one given back"
    assert not admission._work.acquire(blocking=False)
