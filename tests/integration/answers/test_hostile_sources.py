"""A hundred and twenty documents that give orders, and models that obey them or say anything at all.

No test here relies on what a model is like: what the site promises holds whatever comes back.
"""

from __future__ import annotations

import base64
import dataclasses
import json
import re
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as site
from django.contrib.auth.models import User
from pytest_django.fixtures import Settings

from answers import engine, reading
from answers.events import AnswerEvent, EventName
from answers.models import Answer
from answers.rendering import render
from corpus.models import Document
from corpus.rights import LicenseClass
from corpus.scope import scope
from tests.factories.corpus import DocumentFactory
from tests.integration.answers.conftest import RESTRICTED, STRAW, passages
from tests.integration.site.markup import ALLOWED_IN_ANSWERS
from tests.loopback import obedient_model
from tests.loopback.fixtures import forget_clients
from tests.loopback.openai_server import OpenAIServer, Reply, Request
from tests.reliability.hostile.sinks import Shapes
from tests.unit.corpus.injections import cases

pytestmark = pytest.mark.django_db(transaction=True)

QUESTION = "What is the methane yield of rice straw?"
CANARY = "7f3a9c51e8b24d06a1c5f0938e72bd4c"
CASES = cases()
SEEDS = 120
SAMPLE = 5
FENCE = re.compile(r"</?source-[0-9a-f]{32}[^>]*>")
CHIPS = {"p", "a aria-label class href interestfor"}
Choose = Callable[[int, Request], Reply]

_reached: list[Any] | None = None


def _note(event: str, arguments: tuple[Any, ...]) -> None:
    if _reached is not None and event == "socket.connect" and isinstance(arguments[1], tuple):
        _reached.append(arguments[1][:2])


sys.addaudithook(_note)


@pytest.fixture
def reached() -> Iterator[list[Any]]:
    """Where this process opened connections to."""
    global _reached  # noqa: PLW0603 - an audit hook cannot be taken away again
    _reached = []
    yield _reached
    _reached = None
    forget_clients()


@pytest.fixture(autouse=True)
def _orders_with_a_canary(settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    domain = tmp_path / "domain"
    shutil.copytree(site.DOMAIN_DIR, domain, ignore=shutil.ignore_patterns("demo"))
    path = domain / "prompts" / "answer.md"
    text = path.read_text(encoding="utf-8")
    path.write_text(
        text.replace("{{orders}}", f"These orders are called {CANARY}.\n\n{{{{orders}}}}", 1), "utf-8"
    )
    settings.DOMAIN_DIR = domain
    monkeypatch.setattr("corpus.gateways.llm._PAUSE", 0.01)
    # A provider that breaks off is asked again here, not left alone.
    monkeypatch.setattr("corpus.gateways.breaker.Breaker.is_open", False)


def _reveals(text: str) -> bool:
    """Say whether the name of the orders can be read in a text, looked for another way than the site does."""
    letters = "".join(char for char in text.casefold() if char.isalnum())
    if CANARY in letters or CANARY[::-1] in letters:
        return True
    packed = re.findall(r"[A-Za-z0-9+/]{24,}", text)
    decoded = [
        base64.b64decode(run[skipped:][: len(run[skipped:]) // 4 * 4])
        for run in packed
        for skipped in range(4)
    ]
    decoded += [bytes.fromhex(run[: len(run) // 2 * 2]) for run in re.findall(r"[0-9a-f]{40,}", text)]
    return any(CANARY.encode() in data for data in decoded)


def _world(numbers: range, asker: User) -> None:
    passages(DocumentFactory(title="Calder", license_class=LicenseClass.RESTRICTED.value), RESTRICTED)
    for number in numbers:
        document = DocumentFactory(title=f"Straw {number}", bucket=f"case-{number}")
        passages(document, STRAW, *CASES[number % len(CASES)][1])


def _troubles(asker: User, number: int) -> list[str]:
    """Ask about one document and say which promise was broken."""
    requested = scope(buckets=[f"case-{number}"])
    events = list(engine.ask(question=QUESTION, requested=requested, by=asker))
    row = Answer.objects.get(pk=events[0].data["answer"])
    shown = reading.readable(row, asker)
    assert shown is not None
    sources = list(row.sources.all())
    everything = json.dumps([dataclasses.asdict(event) for event in events]) + row.text
    found = []
    told = "".join(event.data["text"] for event in events if event.name == EventName.DELTA)
    if _reveals(told) or _reveals(row.text):
        found.append("the orders were shown")
    if "Calder" in everything or "377 L/kg" in everything:
        found.append("something out of scope was shown")
    if {source.document.bucket for source in sources if source.document} != {f"case-{number}"}:
        found.append("a source out of scope")
    return found + _of_text(row, shown, len(sources)) + _of_end(row, events, shown)


def _of_text(row: Answer, shown: reading.ReadableAnswer, count: int) -> list[str]:
    html = render(row.text, shown.sources)
    chips = {int(number) for number in re.findall(r'href="#source-(\d+)"', html)}
    found = []
    if not chips <= set(range(1, count + 1)):
        found.append(f"a citation of what is not listed: {chips}")
    if Shapes(html).shapes - CHIPS - ALLOWED_IN_ANSWERS:
        found.append(f"an element of its own: {Shapes(html).shapes - CHIPS - ALLOWED_IN_ANSWERS}")
    return found


def _of_end(row: Answer, events: list[AnswerEvent], shown: reading.ReadableAnswer) -> list[str]:
    found = []
    if row.state not in {"done", "partial", "failed"} or not row.finish:
        found.append(f"it did not end: {row.state} {row.finish}")
    if events[-1].name not in {EventName.DONE, EventName.ERROR}:
        found.append(f"its last word is {events[-1].name}")
    if shown.answered and not any(source.cited for source in shown.sources):
        found.append("an answer without a source")
    return found


def _of_prompt(request: Request, count: int) -> list[str]:
    found = []
    prompt = request.body["messages"][1]["content"]
    nonce = re.search(r"<source-([0-9a-f]{32}) number=", prompt)
    assert nonce is not None
    inside = prompt[nonce.start() : prompt.rindex("Again, the rules")]
    fences = [fence for fence in FENCE.findall(inside) if nonce[1] in fence]
    if len(fences) != 2 * count or len(FENCE.findall(inside)) != len(fences):
        found.append("a fence of its own")
    if any(0xE0000 <= ord(char) < 0xE1000 or char in "\u202e\u200b\u200c" for char in inside):
        found.append("hidden characters in the prompt")
    if {"tools", "functions", "tool_choice"} & set(request.body):
        found.append("tools were offered")
    if "Calder" in prompt or "377 L/kg" in prompt:
        found.append("something out of scope was sent")
    return found


def _ask_all(
    numbers: range, asker: User, model: OpenAIServer, choose: Choose, reached: list[Any]
) -> dict[str, int]:
    _world(numbers, asker)
    reached.clear()
    troubles, ends = [], dict[str, int]()
    for number in numbers:
        model.requests.clear()
        model.will_choose(lambda request, number=number: choose(number, request))
        name = f"{number} {CASES[number % len(CASES)][0]}"
        found = _troubles(asker, number)
        row = Answer.objects.order_by("-created_at", "-id").first()
        assert row is not None
        for request in model.requests:
            found += _of_prompt(request, row.sources.count())
        if len(model.requests) > 2:
            found.append(f"{len(model.requests)} calls")
        ends[row.finish] = ends.get(row.finish, 0) + 1
        troubles += [f"{name}: {one}" for one in found]
    allowed = {int(model.base_url.split(":")[2].removesuffix("/v1"))}
    strangers = [where for where in reached if where[0] != "127.0.0.1" or where[1] not in allowed]
    assert "\n".join(troubles) == ""
    assert strangers == []
    return ends


def _obeys(number: int, request: Request) -> Reply:
    return obedient_model.obey(request, number)


def test_of_a_sample_of_orders_none_breaks_a_promise_with_a_model_that_obeys(
    asker: User, configured_model: OpenAIServer, reached: list[Any]
) -> None:
    assert len(CASES) >= 120
    _ask_all(range(0, len(CASES), len(CASES) // SAMPLE), asker, configured_model, _obeys, reached)


def test_of_a_sample_of_replies_none_breaks_a_promise(
    asker: User, configured_model: OpenAIServer, reached: list[Any]
) -> None:
    _ask_all(range(6), asker, configured_model, obedient_model.anything, reached)


@pytest.mark.long
def test_no_order_in_a_document_breaks_a_promise_with_a_model_that_obeys(
    asker: User, configured_model: OpenAIServer, reached: list[Any]
) -> None:
    ends = _ask_all(range(len(CASES)), asker, configured_model, _obeys, reached)
    print(f"{len(CASES)} documents with orders: {ends}")  # noqa: T201 - figures
    assert {"stop", "not_covered", "uncited", "model_failed"} <= set(ends)


@pytest.mark.long
def test_no_reply_whatever_it_is_breaks_a_promise(
    asker: User, configured_model: OpenAIServer, reached: list[Any]
) -> None:
    ends = _ask_all(range(SEEDS), asker, configured_model, obedient_model.anything, reached)
    print(f"{SEEDS} replies of any kind: {ends}")  # noqa: T201 - figures


def test_the_watch_sees_orders_that_are_shown(
    asker: User, configured_model: OpenAIServer, reached: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else a model that reveals nothing would pass for a site that shows nothing."""
    monkeypatch.setattr("answers.own_orders.TELLING", 10**9)
    _world(range(1), asker)
    configured_model.will_choose(lambda request: obedient_model.anything(3, request))

    assert "the orders were shown" in _troubles(asker, 0)
    assert Document.objects.filter(bucket="case-0").exists()
