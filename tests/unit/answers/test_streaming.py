"""A generator that blocks, as a stream that notices when nobody listens."""

import asyncio
import threading
from collections.abc import Iterator

import pytest

from answers.streaming import in_a_thread
from corpus.event_stream import message


async def collected(start: object) -> list[str]:
    return [piece async for piece in in_a_thread(start)]  # type: ignore[arg-type]


def test_every_piece_arrives_in_order() -> None:
    assert asyncio.run(collected(lambda: iter(["a", "b", "c"]))) == ["a", "b", "c"]


def test_the_whole_generator_runs_in_one_thread_that_is_not_the_loops() -> None:
    seen = []

    def pieces() -> Iterator[str]:
        for _ in range(5):
            seen.append(threading.get_ident())
            yield "x"

    asyncio.run(collected(pieces))

    assert len(set(seen)) == 1
    assert seen[0] != threading.get_ident()


def test_a_fault_reaches_the_consumer() -> None:
    def pieces() -> Iterator[str]:
        yield "x"
        raise LookupError("gone")

    with pytest.raises(LookupError):
        asyncio.run(collected(pieces))


def test_the_generator_is_closed_when_the_consumer_goes_away() -> None:
    closed = threading.Event()
    go_on = threading.Event()

    def pieces() -> Iterator[str]:
        try:
            yield "first"
            go_on.wait(5)
            yield "second"
            yield "never"
        finally:
            closed.set()

    async def consume() -> None:
        stream = in_a_thread(pieces)
        assert await anext(stream) == "first"
        await stream.aclose()  # type: ignore[attr-defined]
        go_on.set()

    asyncio.run(consume())

    assert closed.wait(5)


@pytest.mark.parametrize(
    ("html", "event"),
    [
        ("<p>a</p>", "data: <p>a</p>\n\n"),
        ("a\nb", "data: a\ndata: b\n\n"),
        ("a\r\nb\rc", "data: a\ndata: b\ndata: c\n\n"),
        ("", "data: \n\n"),
        ("event: done\n\nid: 1", "data: event: done\ndata: \ndata: id: 1\n\n"),
        ("a\u2028b\x0bc", "data: a\u2028b\x0bc\n\n"),
    ],
)
def test_no_text_can_end_its_event_or_begin_another(html: str, event: str) -> None:
    assert message(html) == event
