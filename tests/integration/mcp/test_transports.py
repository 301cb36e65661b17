"""The doors of the tools: who is turned away, what is told meanwhile, what ends when a client goes away."""

from __future__ import annotations

import asyncio
import json
import subprocess
import time
from typing import Any

import httpx
import pytest
from django.contrib.auth.models import User
from mcp.client import Client

from answers.models import Answer
from corpus.models import Document
from tests.factories.keys import bearer, secret_of
from tests.integration.mcp.talking import ROOT, call, over_http, over_stdio, parameters
from tests.loopback.openai_server import OpenAIServer, says

pytestmark = pytest.mark.django_db(transaction=True)
QUESTION = "What is the methane yield of rice straw?"
WORDS = ["Rice straw yields 210 L/kg of volatile solids [1]. ", *["More. "] * 400]
DISCOVER = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
ACCEPTS = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-06-18"}


def post(site: str, secret: str | None, body: Any = DISCOVER, **headers: str) -> httpx.Response:
    sent = ACCEPTS | (bearer(secret) if secret is not None else {}) | headers
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return httpx.post(
        f"{site}/mcp", content=content, headers={"Content-Type": "application/json"} | sent, timeout=30
    )


def test_nobody_without_a_key_gets_past_the_door(site: str, client: Any, asker: User) -> None:
    client.force_login(asker)
    session = client.cookies["sessionid"].value
    answers = {
        "none": post(site, None),
        "cookie": post(site, None, Cookie=f"sessionid={session}"),
        "empty": post(site, None, Authorization="Bearer"),
        "wrong": post(site, "sr_aaaaaaaa_" + "x" * 43),
        "basic": post(site, None, Authorization="Basic YTpi"),
    }

    assert {answer.status_code for answer in answers.values()} == {401}
    codes = {name: answer.json()["code"] for name, answer in answers.items()}
    assert codes == dict.fromkeys(("none", "cookie", "empty", "basic"), "missing_key") | {
        "wrong": "invalid_key"
    }
    for answer in answers.values():
        assert answer.headers["content-type"] == "application/problem+json"
        assert answer.headers["www-authenticate"].startswith("Bearer")
        assert len(answer.headers["x-request-id"]) == 32
        assert answer.headers["cache-control"] == "private, no-store"


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "evil.example"}, 421),
        ({"Host": "localhost.evil.example:80"}, 421),
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({}, 200),
    ],
)
def test_a_page_of_another_site_cannot_reach_the_tools_by_a_name_of_its_own(
    site: str, asker: User, headers: dict[str, str], status: int
) -> None:
    assert post(site, secret_of(asker), **headers).status_code == status


@pytest.mark.parametrize(
    ("body", "statuses"),
    [
        (b"", {400}),
        (b"{", {400}),
        (b"[]", {400}),
        (b"\xff\xfe", {400}),
        (b"[" * 100_000, {400}),
        (json.dumps(DISCOVER | {"method": "no/such"}).encode(), {200, 400, 404}),
        (b'{"a": "' + b"x" * 1_100_000 + b'"}', {413}),
    ],
)
def test_what_is_no_message_is_refused_and_nothing_breaks(
    site: str, asker: User, body: bytes, statuses: set[int]
) -> None:
    answer = post(site, secret_of(asker), body)

    assert answer.status_code in statuses
    assert answer.headers["x-request-id"]


def test_other_addresses_are_still_the_sites(site: str) -> None:
    assert httpx.get(f"{site}/healthz").status_code == 200
    assert httpx.get(f"{site}/mcpx").status_code == 404


async def ask(client: Client, heard: list[str]) -> dict[str, Any]:
    async def hear(_step: float, _total: float | None, words: str | None) -> None:
        heard.append(words or "")

    result = await client.call_tool("answer_question", {"query": QUESTION}, progress_callback=hear)
    assert result.structured_content is not None
    return result.structured_content


def test_an_answer_tells_how_far_it_is(
    site: str, asker: User, straw: Document, configured_model: OpenAIServer
) -> None:
    configured_model.will(says(*WORDS[:3]))
    heard: list[str] = []

    told = over_http(site, secret_of(asker), lambda client: ask(client, heard))

    assert told["answer"] == "".join(WORDS[:3])
    assert heard[0] == "Searching"
    assert [words for words in heard if not words.startswith("Writing:")] == [
        "Searching",
        "1 sources found",
        "Writing",
        "Citations checked",
    ]


async def give_up(client: Client) -> None:
    """Ask, and go away once the model writes."""
    writing = asyncio.Event()

    async def hear(_step: float, _total: float | None, words: str | None) -> None:
        if words and words.startswith("Writing:"):
            writing.set()

    task = asyncio.create_task(
        client.call_tool("answer_question", {"query": QUESTION}, progress_callback=hear)
    )
    await asyncio.wait_for(writing.wait(), 60)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    # The server is still there for other calls.
    await call(client, "list_buckets")


def ended() -> Answer:
    deadline = time.monotonic() + 20
    while Answer.objects.get().state in {"asked", "retrieved", "generating", "writing"}:
        assert time.monotonic() < deadline, "the answer goes on"
        time.sleep(0.05)
    return Answer.objects.get()


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_client_that_gives_up_stops_the_model_over_http(
    site: str, asker: User, straw: Document, configured_model: OpenAIServer, mode: str
) -> None:
    configured_model.will(says(*WORDS, pause=0.05))

    over_http(site, secret_of(asker), give_up, mode=mode)

    assert configured_model.hung_up.wait(15)
    row = ended()
    assert (row.state, row.finish) == ("partial", "cancelled")
    assert len(row.text) < len("".join(WORDS))


def test_a_client_that_gives_up_stops_the_model_over_stdio(
    asker: User, straw: Document, model_server: OpenAIServer
) -> None:
    model_server.will(says(*WORDS, pause=0.05))

    over_stdio([], give_up, secret=secret_of(asker), model=model_server.base_url)

    assert model_server.hung_up.wait(15)
    assert (ended().state, ended().finish) == ("partial", "cancelled")


def test_a_model_that_fails_is_a_tool_error_with_the_code_of_the_api(
    site: str, asker: User, straw: Document, configured_model: OpenAIServer
) -> None:
    configured_model.will(says(WORDS[0], ending="cut"))

    told = over_http(site, secret_of(asker), lambda client: ask(client, []))

    assert told["code"] == "generation_failed"
    assert told["answer_id"] == str(Answer.objects.get().pk)
    assert told["offer"] == "extractive"


def run(arguments: list[str], secret: str, sent: str) -> subprocess.CompletedProcess[str]:
    how = parameters(arguments, secret)
    return subprocess.run(
        [how.command, *how.args],
        cwd=ROOT,
        env=how.env,
        input=sent,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_nothing_but_the_protocol_is_on_standard_output(asker: User, straw: Document) -> None:
    me = {"name": "t", "version": "0"}
    params = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": me}
    opening = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}
    lines = [
        opening,
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {
            "jsonrpc": "2.0",
            "id": 2,
            "method": "tools/call",
            "params": {"name": "corpus_stats", "arguments": {}},
        },
    ]
    sent = "".join(json.dumps(line) + "\n" for line in lines) + "this is no message\n"

    done = run([], secret_of(asker), sent)

    assert done.returncode == 0, done.stderr
    told = [json.loads(line) for line in done.stdout.splitlines()]
    assert all(line["jsonrpc"] == "2.0" for line in told)
    assert {line.get("id") for line in told} >= {1}


@pytest.mark.parametrize(
    ("arguments", "secret", "code", "said"),
    [
        ([], "", 2, "SCI_RAG_API_KEY"),
        (["--user", "asker"], "sr_aaaaaaaa_" + "x" * 43, 2, "not both"),
        (["--user", "nobody"], "", 1, "nobody"),
        ([], "sr_aaaaaaaa_" + "x" * 43, 1, "not valid"),
    ],
)
def test_a_server_for_nobody_does_not_start(
    asker: User, arguments: list[str], secret: str, code: int, said: str
) -> None:
    done = run(arguments, secret, "")

    assert (done.returncode, done.stdout) == (code, "")
    assert said in done.stderr
    assert "x" * 43 not in done.stderr
