"""Messages as files: private, whole, in order."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from kombu import Connection, Queue

from sci_rag_site import file_broker


@pytest.fixture
def broker(tmp_path: Path) -> Connection:
    file_broker.register()
    return Connection(
        f"{file_broker.NAME}://localhost", transport_options=file_broker.options(tmp_path / "broker")
    )


def test_messages_come_out_whole_and_in_order(broker: Connection, tmp_path: Path) -> None:
    with broker as connection:
        # A name of its own: bindings are remembered by name for the whole process, and another test may have
        # bound this one elsewhere.
        queue = connection.SimpleQueue("in-order")
        for number in range(20):
            queue.put({"number": number})
        assert file_broker.waiting(tmp_path / "broker")[0] == 20

        taken = [queue.get(timeout=2) for _ in range(20)]
        for message in taken:
            message.ack()
        queue.close()

    assert [message.payload["number"] for message in taken] == list(range(20))
    assert file_broker.waiting(tmp_path / "broker") == (0, 0.0)


def test_a_message_nobody_finished_with_is_back_when_its_reader_ends(
    broker: Connection, tmp_path: Path
) -> None:
    with broker as connection:
        queue = connection.SimpleQueue("unfinished")
        queue.put({"number": 1})
        queue.get(timeout=2)
        queue.close()

    assert file_broker.waiting(tmp_path / "broker")[0] == 1


def test_nobody_else_can_read_them(broker: Connection, tmp_path: Path) -> None:
    assert (tmp_path / "broker").stat().st_mode & 0o777 == 0o700


def test_a_message_being_written_is_not_seen(broker: Connection, tmp_path: Path) -> None:
    with broker as connection:
        channel = connection.channel()
        Queue("light")(channel).declare()
        (tmp_path / "broker" / "messages" / ".1_half.light.msg").write_text('{"bo')

        assert channel._size("light") == 0


def test_the_age_of_the_oldest_waiting_message_is_known(broker: Connection, tmp_path: Path) -> None:
    hour_ago = time.time_ns() - 3600 * 10**9
    (tmp_path / "broker" / "messages" / f"{hour_ago:020d}_x.light.msg").write_text("{}")

    count, age = file_broker.waiting(tmp_path / "broker")

    assert count == 1
    assert 3590 < age < 3700


def test_taken_messages_are_forgotten_after_a_day(broker: Connection, tmp_path: Path) -> None:
    old, new = (tmp_path / "broker" / "taken" / name for name in ("1_a.light.msg", "2_b.light.msg"))
    for path in (old, new):
        path.write_text("{}")
    os.utime(old, (0, 0))

    assert file_broker.forget_taken(tmp_path / "broker") == 1
    assert [path.name for path in new.parent.iterdir()] == [new.name]
