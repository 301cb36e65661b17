"""What a provider of models can do wrong, by name: what it answers, and how that may be called."""

from __future__ import annotations

import gzip
import json
from dataclasses import dataclass

from tests.loopback.openai_server import EMPTY, HANGS, HTML, NOT_JSON, Reply, fails, says

FINE = "fine"
STATUSES = (400, 401, 403, 404, 408, 409, 413, 422, 500, 502, 503, 529)
WAITS = {
    "none": {},
    "zero": {"Retry-After": "0"},
    "past": {"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"},
    "long": {"Retry-After": "1000000000"},
}
# Nobody answers there, nobody has that name, and nobody speaks TLS there.
PLACES = {"refused": "http://127.0.0.1:9/v1", "no name": "http://nowhere.invalid/v1", "tls": ""}


@dataclass(frozen=True)
class ProviderFault:
    """`codes` are what a caller may call it, `FINE` if it takes the reply. `place` replaces the server."""

    codes: frozenset[str]
    reply: Reply | None = None
    place: str = ""


def _fault(*codes: str, reply: Reply | None = None, place: str = "") -> ProviderFault:
    return ProviderFault(frozenset(codes), reply, place)


def _frame(**delta: object) -> str:
    choice = {"index": 0, "delta": {"role": "assistant", **delta}, "finish_reason": None}
    return json.dumps({"id": "1", "object": "chat.completion.chunk", "model": "m", "choices": [choice]})


def _end(reason: str = "stop", **more: object) -> str:
    choice = {"index": 0, "delta": {}, "finish_reason": reason}
    return json.dumps(
        {"id": "1", "object": "chat.completion.chunk", "model": "m", "choices": [choice], **more}
    )


def transport() -> dict[str, ProviderFault]:
    """Return the faults that any request can meet, of chat or of vectors."""
    paper = {"Content-Type": "application/pdf"}
    packed = {"Content-Encoding": "gzip", "Content-Type": "application/json"}
    found = {name: _fault("unavailable", place=place or name) for name, place in PLACES.items()}
    found |= {
        "hangs": _fault("timeout", reply=HANGS),
        "empty": _fault("garbage", "unavailable", reply=EMPTY),
        "html": _fault("garbage", "unavailable", reply=HTML),
        "truncated json": _fault("garbage", "unavailable", reply=Reply(body=b'{"choices": [{"del')),
        "invalid utf-8": _fault("garbage", "unavailable", reply=Reply(body=b"data: \xff\xfe\x80{}\n\n")),
        "wrong type": _fault(
            "garbage", "unavailable", reply=Reply(body=b"%PDF-1.7", headers=paper)
        ),
        "gzip bomb": _fault(
            "garbage", "unavailable", "cut_off", "timeout",
            reply=Reply(body=gzip.compress(bytes(30_000_000)), headers=packed),
        ),
        "huge": _fault("garbage", "unavailable", "cut_off", "timeout", reply=Reply(body=b"x" * 30_000_000)),
    }  # fmt: skip
    for status in STATUSES:
        code = {408: "timeout"}.get(
            status, "unavailable" if status in (409, 500, 502, 503, 529) else "rejected"
        )
        found[f"{status}"] = _fault(code, "rejected" if status == 409 else code, reply=fails(status))
    found |= {f"429 {name}": _fault("rate_limited", reply=fails(429, headers=h)) for name, h in WAITS.items()}
    return found


def chat(good: str) -> dict[str, ProviderFault]:
    """Return the faults of a streamed reply, which would else have been `good`."""
    half = good[: len(good) // 2] or "x"
    nonsense = {"prompt_tokens": float("nan"), "completion_tokens": 1e400, "total_tokens": None}
    below = {"prompt_tokens": -1, "completion_tokens": -9}
    return transport() | {
        "stall": _fault("timeout", reply=says(half, ending="silence")),
        "drip": _fault("timeout", reply=Reply(pieces=tuple(" " * 300), pause=0.1)),
        "reset": _fault("unavailable", reply=says(half, ending="reset")),
        "cut": _fault("unavailable", reply=says(half, ending="cut")),
        "not json": _fault("garbage", reply=NOT_JSON),
        "no choices": _fault("garbage", reply=Reply(raw_events=('{"choices": []}',))),
        "null content": _fault("garbage", reply=Reply(raw_events=(_frame(content=None), _end()))),
        "refusal": _fault("garbage", "rejected", reply=Reply(raw_events=(_frame(refusal="No."), _end()))),
        "filter": _fault("rejected", reply=says(half, ending="content_filter")),
        "length": _fault("cut_off", reply=says(half, ending="length")),
        "tool calls": _fault("garbage", reply=says(ending="tool_calls")),
        "error event": _fault(
            "unavailable", "garbage", reply=Reply(raw_events=('{"error": {"code": 500}}',))
        ),
        "end twice": _fault(FINE, reply=Reply(raw_events=(_frame(content=good), _end(), _end()))),
        "usage nan": _fault(FINE, reply=says(good, usage=nonsense)),
        "usage negative": _fault(FINE, reply=says(good, usage=below)),
        "usage missing": _fault(FINE, reply=says(good, usage=None)),
        "other model": _fault(FINE, reply=Reply(raw_events=(_frame(content=good), _end(model="another")))),
    }
