"""The tools of the Model Context Protocol and the Python client against rows their key may not see."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest
from django.contrib.auth.models import User
from mcp.client import Client as ToolClient

from corpus.rights import LicenseClass
from corpus.scope import Ceiling
from sci_rag_site.client import Client, ClientError, NotFound
from sci_rag_site.mcp import server
from sci_rag_site.mcp.callers import ByKey
from tests.factories.keys import make_key
from tests.leaks.world import CASES, READABLE, World, allowed, canary
from tests.loopback import served
from tests.loopback.fixtures import forget_clients

pytestmark = pytest.mark.django_db(transaction=True)
ACTORS = ["without_role", "narrow", "branch", "asker", "curator", "librarian"]
QUESTION = "What does biochar hold?"
# Everything that a librarian may do, by a key that sees next to nothing.
NARROWED = "librarian by a narrow key"


@pytest.fixture(scope="module", autouse=True)
def _close_clients() -> Iterator[None]:
    yield
    forget_clients()


def secret_of(world: World, actor: str) -> str:
    owner = world.people["librarian" if actor == NARROWED else actor]
    assert isinstance(owner, User)
    if actor == NARROWED:
        return make_key(owner, ceiling=Ceiling((LicenseClass.PUBLIC,), None)).secret.reveal()
    return make_key(owner).secret.reveal()


def seen_as(actor: str) -> str:
    return "narrow" if actor == NARROWED else actor


def calls(world: World) -> Iterator[tuple[str, dict[str, Any], str]]:
    """Yield each call: the tool, what it is given, and the word that was typed to ask for it."""
    for scope in ({}, {"license_classes": ["restricted"]}, {"exclude_retracted": False}):
        yield "search_corpus", {"query": QUESTION, "top_k": 50, "scope": scope}, ""
        yield "answer_question", {"query": QUESTION, "scope": scope}, ""
    yield "list_buckets", {}, ""
    yield "corpus_stats", {}, ""
    yield "search_entities", {}, ""
    for name in CASES:
        word = canary(name)
        for wanted in (f"10.9999/{word}", f"10.9999/{word}.work", f"Biochar and {word}", f"{word}.pdf"):
            yield "why_not", {"wanted": wanted}, word
        yield "search_entities", {"q": word}, word
        key = str(world.documents[name].pk)
        yield "search_entities", {"document_id": key}, ""
        for tool in ("get_document", "get_citations"):
            yield tool, {"document_id": key}, ""
        yield "why_not", {"wanted": key}, ""
    for passage in world.passages.values():
        yield "get_passage", {"passage_id": str(passage.public_id)}, ""
        yield "why_not", {"wanted": str(passage.public_id)}, ""
    for entity in (*world.entities.values(), *world.tombstones.values()):
        yield "get_entity_relationships", {"entity_id": str(entity.pk)}, ""


async def _everything(secret: str, planned: list[tuple[str, dict[str, Any], str]]) -> list[tuple[str, str]]:
    """Return what each call said, without the word that was typed, and what the resources say."""
    async with ToolClient(server.build(ByKey(secret))) as client:
        told = []
        for tool, arguments, typed in planned:
            result = await client.call_tool(tool, arguments)
            said = json.dumps(result.structured_content) + "".join(one.text for one in result.content)
            told.append((tool, said.replace(typed, "") if typed else said))
        manifest = await client.read_resource("corpus://manifest")
        return [*told, ("manifest", manifest.contents[0].text)]


@pytest.mark.parametrize("actor", [*ACTORS, NARROWED])
def test_no_tool_tells_what_its_key_may_not_see(
    world: World, actor: str, caplog: pytest.LogCaptureFixture
) -> None:
    secret = secret_of(world, actor)
    caplog.set_level(logging.INFO)
    caplog.clear()
    told = asyncio.run(_everything(secret, list(calls(world))))

    hidden = world.hidden_words(seen_as(actor))
    ids = [str(document.pk) for document in world.hidden_documents(seen_as(actor))]
    leaked = [(tool, word) for tool, said in told for word in (*hidden, *ids) if word in said]
    # A document's id that was asked for may come back in no other form than that it is not there.
    assert leaked == []
    everything = "".join(said for _, said in told)
    shown = [name for name in allowed(seen_as(actor)) if name in READABLE]
    assert all(canary(name) in everything for name in shown)
    counts = json.loads(told[-1][1])["counts"]["documents"]
    assert counts == len(shown)
    assert "internal_error" not in everything
    assert "mcp.called" in caplog.text
    assert "canary" not in caplog.text
    assert secret not in caplog.text + everything


def _through_the_client(client: Client, world: World) -> Iterator[Callable[[], Any]]:
    yield partial(client.query, QUESTION, top_k=50)
    yield partial(client.answer, QUESTION)
    yield lambda: "".join(str(event) for event in client.stream(QUESTION))
    for name in CASES:
        yield partial(client.document, world.documents[name].pk)
        yield partial(client.documents, q=f"Biochar and {canary(name)}")
        yield partial(client.sources, q=canary(name))
        yield partial(client.entities, q=canary(name))
    for passage in world.passages.values():
        yield partial(client.passage, passage.public_id)
    for run in world.runs:
        yield partial(client.run, run.pk)
    yield from (
        client.documents,
        client.sources,
        client.entities,
        client.notes,
        client.manifest,
        client.status,
    )


def test_nothing_else_comes_through_the_client(world: World) -> None:
    told = []
    with served.site() as address, Client(address, secret_of(world, "asker")) as client:
        for call in _through_the_client(client, world):
            try:
                told.append(repr(call()))
            except NotFound as refusal:
                told.append(str(refusal))
            except ClientError as error:
                pytest.fail(f"{error}")

    said = "".join(told)
    assert [word for word in world.hidden_words("asker") if word in said] == []
    assert all(canary(name) in said for name in allowed("asker") if name in READABLE)
