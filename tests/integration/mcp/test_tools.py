"""Every tool by the official client over both transports, and what a key or a ceiling keeps from them."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.db import connections
from mcp.client import Client
from mcp.shared.exceptions import MCPError

from corpus.keys import actions as key_actions
from corpus.keys.permissions import Permission
from corpus.models import Document, DocumentCitation
from corpus.rights import LicenseClass
from corpus.scope import Ceiling
from sci_rag_site.mcp.tools import TOOLS
from tests.factories.graph import EntityFactory, MentionFactory, RelationshipFactory
from tests.factories.keys import make_key, secret_of
from tests.integration.mcp.talking import call, over_http, over_stdio, refusal

pytestmark = pytest.mark.django_db(transaction=True)
QUESTION = "What is the methane yield of rice straw?"
NAMES = [tool.name for tool in TOOLS]


@pytest.fixture
def world(small_corpus: dict[str, Document]) -> dict[str, Any]:
    """The small corpus, with a reference and an entity from its open and its restricted part."""
    straw, hidden = small_corpus["straw"], small_corpus["secret"]
    DocumentCitation.objects.create(citing=straw, ordinal=0, text="Old yields", doi_normalised="10.1/old")
    DocumentCitation.objects.create(citing=hidden, ordinal=0, text="Secret list", doi_normalised="10.1/x")
    passage, secret = straw.chunks.get(), hidden.chunks.get()
    biogas, plant = (
        EntityFactory(name="Rice straw", type="material"),
        EntityFactory(name="Calder", type="place"),
    )
    MentionFactory(entity=biogas, chunk=passage, surface="rice straw")
    MentionFactory(entity=biogas, chunk=secret, surface="rice straw")
    MentionFactory(entity=plant, chunk=secret, surface="Calder")
    RelationshipFactory(source=plant, target=biogas, chunk=secret, type="uses", quote=secret.body[:60])
    return {
        "straw": straw,
        "hidden": hidden,
        "passage": passage,
        "secret": secret,
        "entity": biogas,
        "plant": plant,
    }


async def use_everything(client: Client, world: dict[str, Any]) -> dict[str, Any]:
    listed = await client.list_tools()
    resources = await client.list_resources()
    straw = str(world["straw"].pk)
    return {
        "names": [tool.name for tool in listed.tools],
        "search": await call(client, "search_corpus", query=QUESTION, top_k=3),
        "answer": await call(client, "answer_question", query=QUESTION),
        "document": await call(client, "get_document", document_id=straw),
        "passage": await call(client, "get_passage", passage_id=str(world["passage"].public_id)),
        "citations": await call(client, "get_citations", document_id=straw),
        "entities": await call(client, "search_entities", q="rice"),
        "relationships": await call(client, "get_entity_relationships", entity_id=str(world["entity"].pk)),
        "buckets": await call(client, "list_buckets"),
        "stats": await call(client, "corpus_stats"),
        "why": await call(client, "why_not", wanted="Methane from rice straw"),
        "resources": [str(one.uri) for one in resources.resources],
        "manifest": (await client.read_resource("corpus://manifest")).contents[0].text,
        "methodology": (await client.read_resource("corpus://methodology")).contents[0].text,
    }


def check_everything(told: dict[str, Any], world: dict[str, Any]) -> None:
    straw = str(world["straw"].pk)
    assert told["names"] == NAMES
    assert told["search"]["items"][0]["document_id"] == straw
    assert told["answer"]["answered"]
    assert "210" in told["answer"]["answer"]
    assert told["document"]["id"] == straw
    assert told["passage"]["body"] == world["passage"].body
    assert [one["text"] for one in told["citations"]["references"]] == ["Old yields"]
    assert told["entities"]["items"][0]["name"].lower() == "rice straw"
    assert told["relationships"]["entity"]["mentions"] == 1
    assert sum(one["documents"] for one in told["buckets"]["buckets"]) == 3
    assert told["stats"]["counts"]["documents"] == 3
    assert told["why"]["found"][0]["document_id"] == straw
    assert told["resources"] == ["corpus://manifest", "corpus://methodology"]
    assert json.loads(told["manifest"])["counts"]["documents"] == 3
    assert told["methodology"].startswith("# ")
    assert "Zanzibar" not in str(told)
    assert "Calder" not in str(told)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_the_official_client_lists_and_calls_every_tool_over_http(
    site: str, asker: User, world: dict[str, Any], mode: str
) -> None:
    told = over_http(site, secret_of(asker), lambda client: use_everything(client, world), mode=mode)

    check_everything(told, world)


def test_the_official_client_lists_and_calls_every_tool_over_stdio(
    asker: User, world: dict[str, Any]
) -> None:
    told = over_stdio([], lambda client: use_everything(client, world), secret=secret_of(asker))

    check_everything(told, world)


def test_an_account_that_the_operator_names_needs_no_key(asker: User, world: dict[str, Any]) -> None:
    async def talk(client: Client) -> dict[str, Any]:
        return await call(client, "search_corpus", query=QUESTION)

    told = over_stdio(["--user", "asker"], talk)

    assert told["items"]
    assert "Zanzibar" not in str(told)


@pytest.mark.parametrize("permission", list(Permission))
def test_a_key_lists_and_calls_what_it_allows_and_nothing_else(
    site: str, asker: User, world: dict[str, Any], permission: Permission
) -> None:
    sound = {
        "search_corpus": {"query": QUESTION}, "answer_question": {"query": QUESTION},
        "get_document": {"document_id": str(world["straw"].pk)},
        "get_passage": {"passage_id": str(world["passage"].public_id)},
        "get_citations": {"document_id": str(world["straw"].pk)}, "search_entities": {},
        "get_entity_relationships": {"entity_id": str(world["entity"].pk)}, "list_buckets": {},
        "corpus_stats": {}, "why_not": {"wanted": "Methane"},
    }  # fmt: skip

    async def talk(client: Client) -> tuple[list[str], dict[str, str]]:
        listed = [tool.name for tool in (await client.list_tools()).tools]
        outcomes = {}
        for name, arguments in sound.items():
            result = await client.call_tool(name, arguments)
            outcomes[name] = result.structured_content["code"] if result.is_error else "ok"
        return listed, outcomes

    listed, outcomes = over_http(site, secret_of(asker, permissions=[permission]), talk)

    allowed = [tool.name for tool in TOOLS if tool.permission == permission]
    assert listed == allowed
    assert outcomes == {name: "ok" if name in allowed else "insufficient_scope" for name in NAMES}


def test_a_key_without_permissions_reads_no_resource(site: str, asker: User, world: dict[str, Any]) -> None:
    async def talk(client: Client) -> tuple[int, str]:
        listed = len((await client.list_resources()).resources)
        with pytest.raises(MCPError) as raised:
            await client.read_resource("corpus://manifest")
        return listed, raised.value.data["code"]

    assert over_http(site, secret_of(asker, permissions=[]), talk) == (0, "insufficient_scope")


def test_an_owner_who_may_not_ask_gets_no_answer_whatever_the_key_allows(
    site: str, asker: User, world: dict[str, Any]
) -> None:
    secret = secret_of(asker)
    Group.objects.get(name="asker").permissions.clear()

    async def talk(client: Client) -> str:
        return str((await refusal(client, "answer_question", query=QUESTION))["code"])

    assert over_http(site, secret, talk) == "insufficient_scope"


def test_a_narrow_ceiling_holds_in_every_tool(site: str, librarian: User, world: dict[str, Any]) -> None:
    """The librarian may see everything; the key sees the open part, or nothing."""
    wide = secret_of(librarian)
    narrow = make_key(librarian, ceiling=Ceiling((LicenseClass.OPEN_COMMERCIAL,), None)).secret.reveal()
    none = make_key(librarian, ceiling=Ceiling((LicenseClass.PUBLIC,), None)).secret.reveal()
    hidden, secret = str(world["hidden"].pk), str(world["secret"].public_id)

    async def look(client: Client) -> dict[str, Any]:
        found = {}
        for name, arguments in (
            ("get_passage", {"passage_id": secret}),
            ("get_document", {"document_id": hidden}),
            ("get_citations", {"document_id": hidden}),
            ("get_entity_relationships", {"entity_id": str(world["plant"].pk)}),
        ):
            result = await client.call_tool(name, arguments)
            found[name] = result.structured_content["code"] if result.is_error else "ok"
        entities = await call(client, "search_entities")
        found["entities"] = sorted(one["name"].lower() for one in entities["items"])
        found["edges"] = (await client.call_tool(
            "get_entity_relationships", {"entity_id": str(world["entity"].pk)}
        )).structured_content.get("count")  # fmt: skip
        found["items"] = len((await call(client, "search_corpus", query="Zanzibar Biogas"))["items"])
        found["why"] = len((await call(client, "why_not", wanted=hidden))["found"])
        found["documents"] = (await call(client, "corpus_stats"))["counts"]["documents"]
        return found

    wide_told, narrow_told, none_told = (over_http(site, one, look) for one in (wide, narrow, none))

    assert (wide_told["entities"], wide_told["edges"], wide_told["documents"]) == (
        ["calder", "rice straw"],
        1,
        4,
    )
    for name in ("get_passage", "get_document", "get_citations", "get_entity_relationships"):
        assert (wide_told[name], narrow_told[name], none_told[name]) == ("ok", "not_found", "not_found")
    assert (narrow_told["entities"], narrow_told["edges"]) == (["rice straw"], 0)
    assert (none_told["entities"], none_told["edges"], none_told["items"]) == ([], None, 0)
    assert (narrow_told["why"], none_told["documents"]) == (0, 0)


def test_a_missing_id_and_a_hidden_one_are_refused_alike(
    site: str, asker: User, world: dict[str, Any]
) -> None:
    missing = "00000000-0000-4000-8000-000000000000"

    async def talk(client: Client) -> list[Any]:
        return [
            (await client.call_tool(name, {field: key})).model_dump(exclude={"meta"})
            for name, field, hidden in (
                ("get_passage", "passage_id", world["secret"].public_id),
                ("get_document", "document_id", world["hidden"].pk),
                ("get_citations", "document_id", world["hidden"].pk),
                ("get_entity_relationships", "entity_id", world["plant"].pk),
            )
            for key in (missing, str(hidden))
        ]

    told = over_http(site, secret_of(asker), talk)

    assert told[0::2] == told[1::2]
    assert all(one["is_error"] for one in told)


WRONG: list[tuple[str, Any]] = [
    ("search_corpus", {}),
    ("search_corpus", {"query": ""}),
    ("search_corpus", {"query": "x" * 2001}),
    ("search_corpus", {"query": "x", "top_k": 0}),
    ("search_corpus", {"query": "x", "top_k": 51}),
    ("search_corpus", {"query": "x", "top_k": "3"}),
    ("search_corpus", {"query": "x", "top_k": 3.0}),
    ("search_corpus", {"query": "x", "limit": 3}),
    ("search_corpus", {"query": "a\0b"}),
    ("search_corpus", {"query": "x", "scope": {"license_classes": ["free"]}}),
    ("search_corpus", {"query": "x", "scope": {"year_min": 2020, "year_max": 2010}}),
    ("search_corpus", {"query": "x", "scope": {"as_of": "someday"}}),
    ("answer_question", {"query": "x", "engine": "oracle"}),
    ("get_passage", {"passage_id": "1"}),
    ("get_passage", {"passage_id": None}),
    ("get_document", {"document_id": ["a"]}),
    ("list_buckets", {"all": True}),
    ("get_entity_relationships", {"entity_id": "00000000-0000-4000-8000-000000000000", "limit": 101}),
    ("why_not", {"wanted": ""}),
    ("no_such_tool", {}),
]


def test_what_makes_no_sense_is_refused_with_what_is_wrong(site: str, asker: User, straw: Document) -> None:
    async def talk(client: Client) -> list[dict[str, Any]]:
        return [await refusal(client, name, **arguments) for name, arguments in WRONG]

    told = over_http(site, secret_of(asker), talk)

    unreadable = WRONG.index(("search_corpus", {"query": "a\0b"}))
    assert told.pop(unreadable)["code"] == "malformed_request"
    assert [one["code"] for one in told] == ["invalid_request"] * (len(WRONG) - 1)
    assert all(one["detail"] for one in told)


def test_an_empty_list_allows_nothing_and_a_missing_one_everything(
    site: str, asker: User, straw: Document
) -> None:
    async def talk(client: Client) -> list[int]:
        found = []
        for scope in ({}, {"license_classes": None}, {"license_classes": []}, {"buckets": []}):
            told = await call(client, "search_corpus", query=QUESTION, scope=scope)
            found.append(len(told["items"]))
        return found

    with_all, with_null, without_classes, without_buckets = over_http(site, secret_of(asker), talk)

    assert with_all == with_null > 0
    assert (without_classes, without_buckets) == (0, 0)


def test_a_key_that_is_revoked_ends_with_the_next_call(site: str, asker: User, straw: Document) -> None:
    made = make_key(asker)

    async def talk(client: Client) -> str:
        await call(client, "list_buckets")
        await asyncio.to_thread(_revoke, made.key)
        return str((await refusal(client, "list_buckets"))["code"])

    assert over_stdio([], talk, secret=made.secret.reveal()) == "invalid_key"


def _revoke(key: Any) -> None:
    key_actions.revoke(key=key, by=None)
    connections.close_all()


def test_the_limit_of_a_key_is_the_same_as_for_the_api(site: str, asker: User, straw: Document) -> None:
    # With the first result the client asks, of itself, for the list of tools: that is a fourth request.
    secret = make_key(asker, requests_per_minute=4).secret.reveal()

    async def talk(client: Client) -> list[Any]:
        return [(await client.call_tool("list_buckets", {})) for _ in range(5)]

    told = over_http(site, secret, talk)

    assert [one.is_error for one in told] == [False, False, False, True, True]
    assert told[-1].structured_content["code"] == "rate_limited"
    assert 1 <= told[-1].structured_content["retry_after"] <= 60


def test_lists_are_counted_against_the_limit_as_calls_are(site: str, asker: User, straw: Document) -> None:
    secret = make_key(asker, requests_per_minute=3).secret.reveal()

    async def talk(client: Client) -> str:
        await client.list_tools()
        await client.list_resources()
        await client.list_tools()
        with pytest.raises(MCPError) as refused:
            await client.list_tools()
        return str(refused.value.data["code"])

    assert over_http(site, secret, talk) == "rate_limited"
