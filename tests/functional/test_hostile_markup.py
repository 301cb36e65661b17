"""In a browser, what strangers wrote stays text on every page: nothing runs, is fetched, or appears.

All payloads in all places, with the policy of the site watched over. The sample of every run is
`tests/integration/site/test_hostile_markup.py`, without a browser.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.test import Client
from playwright.sync_api import Browser, BrowserContext, expect
from playwright.sync_api import Error as PlaywrightError

from answers.models import Answer
from corpus.gateways.llm import warm_up
from tests.factories.corpus import DocumentFactory
from tests.integration.answers.conftest import STRAW, passages
from tests.integration.site.markup import ALLOWED_IN_ANSWERS, HARMLESS
from tests.loopback.fixtures import forget_clients
from tests.loopback.openai_server import OpenAIServer, says
from tests.reliability.hostile import scripts, sinks
from tests.reliability.hostile.sinks import Sinks

pytestmark = [pytest.mark.browser, pytest.mark.long]

WATCH = """
window.violations = [];
document.addEventListener("securitypolicyviolation", (event) =>
    window.violations.push(event.effectiveDirective + " " + event.blockedURI));
"""
# Every element as its tag with the names of its attributes, and what looks like script wherever it came from.
LOOK = """() => {
    const shapes = new Set(), running = [];
    const all = (root) => { for (const one of root.querySelectorAll("*")) {
        const names = one.getAttributeNames();
        shapes.add((one.localName + " " + names.sort().join(" ")).trim());
        for (const name of names) {
            const value = one.getAttribute(name), is_address = /href|src|action|data/.test(name);
            if (name.startsWith("on")
                || (is_address && /^\\s*(javascript|vbscript|data):/i.test(value))
                || (/^(data-)?hx-/.test(name) && value.includes("evil")))
                running.push(one.outerHTML.slice(0, 200));
        }
        if (one.shadowRoot) all(one.shadowRoot);
    } };
    all(document);
    return {shapes: [...shapes], running, violations: window.violations || [], text: document.body.innerText};
}"""
SETTLED = 60


class Watched:
    """One window, and everything it did that it should not."""

    def __init__(self, context: BrowserContext, server: str) -> None:
        self.server = server
        self.troubles: list[str] = []
        self.requests = 0
        context.add_init_script(WATCH)
        self.page = context.new_page()
        self.page.on("dialog", self._dialog)
        self.page.on("request", self._request)
        self.page.on("console", self._console)

    def _dialog(self, dialog: Any) -> None:
        self.troubles.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def _request(self, request: Any) -> None:
        self.requests += 1
        where = urlsplit(request.url)
        own = f"{where.scheme}://{where.netloc}" == self.server
        if (not own and where.scheme != "data") or "evil" in request.url:
            self.troubles.append(f"request: {request.url}")

    def _console(self, message: Any) -> None:
        if "Content Security Policy" in message.text or "Content-Security-Policy" in message.text:
            self.troubles.append(f"policy: {message.text[:200]}")

    def look(self, path: str) -> dict[str, Any]:
        """Open a page, let what would run run, and return what there is."""
        response = self.page.goto(self.server + path)
        assert response is not None
        assert response.status == 200, path
        self.page.wait_for_timeout(SETTLED)
        found: dict[str, Any] = self.page.evaluate(LOOK)
        self.troubles += [f"policy: {one}" for one in found["violations"]]
        self.troubles += [f"would run: {one}" for one in found["running"]]
        return found


@pytest.fixture
def watched(browser: Browser, server: str) -> Iterator[Watched]:
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    yield Watched(context, server)
    context.close()


def _signed_in(watched: Watched, client: Client) -> None:
    watched.page.context.clear_cookies()
    watched.page.context.add_cookies(
        [
            {"name": name, "value": cookie.coded_value, "url": watched.server}
            for name, cookie in client.cookies.items()
            if name in (settings.SESSION_COOKIE_NAME, "messages")
        ]
    )


def _shapes(watched: Watched, made: Sinks, names: list[str], *, some: bool = False) -> dict[str, set[str]]:
    client = Client()
    client.force_login(made.person)
    _signed_in(watched, client)
    found: dict[str, set[str]] = {}
    for name in names:
        if name == "messages":
            sinks.leave_messages(made, client)
            _signed_in(watched, client)
        found[name], text = set(), ""
        pages = made.pages[name]
        for path in pages[:8] + pages[8:][-3:] if some else pages:
            before = len(watched.troubles)
            looked = watched.look(path)
            found[name] |= set(looked["shapes"])
            text += looked["text"]
            watched.troubles[before:] = [f"{name} {path} {one}" for one in watched.troubles[before:]]
        if not some:
            assert "alert(1)" in text, f"{name}: the payloads are not on the pages"
    return found


def test_a_page_without_defences_shows_that_the_payloads_work(watched: Watched) -> None:
    """Else a browser that runs nothing would pass for a site that lets nothing run."""
    page = watched.page.context.new_page()
    ran: list[str] = []
    page.on("dialog", lambda dialog: (ran.append(dialog.message), dialog.dismiss()))
    fetched: list[str] = []
    page.on("request", lambda request: fetched.append(request.url))
    texts = [text for _, text in scripts.payloads()]

    def answer(route: Any) -> None:
        where = urlsplit(route.request.url)
        if where.netloc == "undefended.example" and where.path.strip("/").isdigit():
            body = f"<!doctype html><body><p>{texts[int(where.path.strip('/'))]}</p>"
            route.fulfill(body=body, content_type="text/html; charset=utf-8")
        else:
            route.abort()

    page.route("**/*", answer)
    for number in range(len(texts)):
        # Some leave the page before it is there.
        with contextlib.suppress(PlaywrightError):
            page.goto(f"http://undefended.example/{number}", wait_until="commit", timeout=3_000)
            page.wait_for_timeout(80)
    assert len(ran) >= 30
    assert len([url for url in fetched if "evil" in url]) >= 15


def test_no_payload_runs_in_any_place(watched: Watched) -> None:
    texts = [text for _, text in scripts.payloads()]
    names = sorted(sinks.NAMES, key=lambda name: name == "messages")
    harmless = _shapes(watched, sinks.furnish(HARMLESS), names, some=True)

    hostile = _shapes(watched, sinks.furnish(texts), names)

    harmless["answer text"] |= ALLOWED_IN_ANSWERS
    appeared = {name: sorted(hostile[name] - harmless[name]) for name in names}
    cells = len(texts) * len(names)
    print(f"{len(texts)} payloads x {len(names)} places = {cells}, {watched.requests} requests")  # noqa: T201
    assert len(texts) >= scripts.COUNT
    assert "\n".join(watched.troubles) == ""
    assert {name: shapes for name, shapes in appeared.items() if shapes} == {}


def test_no_answer_makes_a_browser_fetch_anything(
    watched: Watched, asker: User, configured_model: OpenAIServer
) -> None:
    warm_up()
    passages(DocumentFactory(title="Methane from rice straw"), STRAW)
    client = Client()
    client.force_login(asker)
    _signed_in(watched, client)
    for echo in scripts.ECHOES:
        # As it is streamed, in pieces, and as it is stored.
        configured_model.will(
            says("It yields 210 L/kg [1].\n\n", echo[: len(echo) // 2], echo[len(echo) // 2 :])
        )
        watched.look("/")
        watched.page.get_by_label("Your question").fill("What is the methane yield of rice straw?")
        watched.page.get_by_role("button", name="Ask", exact=True).click()
        expect(watched.page.locator("#answer .prose a.cite").first).to_be_visible()
        watched.page.wait_for_timeout(SETTLED)
        looked = watched.page.evaluate(LOOK)
        watched.troubles += looked["violations"] + looked["running"]
    for answer in Answer.objects.order_by("created_at", "id"):
        watched.look(f"/answers/{answer.pk}/")
        others = "#answer img, #answer svg, #answer object, #answer a:not(.cite):not([href^='#'])"
        assert watched.page.locator(others).count() == 0, answer.text
    forget_clients()

    print(f"{len(scripts.ECHOES)} ways to leak, streamed and stored, {watched.requests} requests")  # noqa: T201
    assert len(scripts.ECHOES) >= 40
    assert watched.troubles == []
