"""A real server and a real browser. The server runs in a thread on the test database."""

import os
import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from tests.loopback import served

CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
# Two cores, and other tests beside this one.
PATIENCE = 20_000


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Debian's chromium, driven by playwright.

    Playwright keeps an event loop in the test's own thread, where Django then refuses to use the
    database. It is told otherwise for as long as the browser lives, and not longer.
    """
    if CHROMIUM is None:
        pytest.skip("needs chromium: apt-get install chromium, or set CHROMIUM to its path")
    expect.set_options(timeout=PATIENCE)
    with pytest.MonkeyPatch.context() as patch, sync_playwright() as playwright:
        patch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "1")
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield chromium
        chromium.close()


@pytest.fixture
def server(browser: Browser, transactional_db: None) -> Iterator[str]:
    """The address of the site, served by uvicorn as in production."""
    with served.site() as address:
        yield address


class Visit:
    """One browser window on the site, with whatever the page complained about."""

    def __init__(self, context: BrowserContext, server: str) -> None:
        context.set_default_timeout(PATIENCE)
        self.page: Page = context.new_page()
        self.server = server
        self.complaints: list[str] = []
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("console", self._note)
        self.page.on("request", self._stays_here)

    def _note(self, message: object) -> None:
        if message.type in {"error", "warning"}:  # type: ignore[attr-defined]
            self.complaints.append(message.text)  # type: ignore[attr-defined]

    def _stays_here(self, request: object) -> None:
        if not request.url.startswith(self.server):  # type: ignore[attr-defined]
            self.complaints.append(f"request to {request.url}")  # type: ignore[attr-defined]

    def open(self, path: str) -> None:
        self.page.goto(self.server + path)

    def sign_in(self, name: str) -> None:
        self.open("/sign-in/")
        self.page.get_by_label("User name").fill(name)
        self.page.get_by_label("Password").fill("correct horse battery")
        self.page.get_by_role("button", name="Sign in").click()
        expect(self.page.get_by_role("button", name="Sign out")).to_be_visible()


@pytest.fixture
def visit(browser: Browser, server: str) -> Iterator[Visit]:
    """A window with JavaScript. Fails the test when the page broke its policy or threw."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    visit = Visit(context, server)
    yield visit
    context.close()
    assert visit.complaints == []


@pytest.fixture
def plain_visit(browser: Browser, server: str) -> Iterator[Visit]:
    """A window with JavaScript switched off."""
    context = browser.new_context(java_script_enabled=False, viewport={"width": 1280, "height": 900})
    visit = Visit(context, server)
    yield visit
    context.close()
    assert visit.complaints == []
