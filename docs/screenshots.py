"""Take the pictures of the tutorials anew: `make screenshots`.

Starts a site of its own with the demo corpus, goes the ways that the tutorials describe, and writes what is
seen into docs/images. Nothing of another site is touched, and no picture is kept that is too large.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, Page, ViewportSize, sync_playwright

from benchmarks.served import free_port, wait_for

ROOT = Path(__file__).resolve().parents[1]
IMAGES = ROOT / "docs/images"
CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
DESK: ViewportSize = {"width": 1280, "height": 860}
PHONE: ViewportSize = {"width": 390, "height": 844}
LARGEST = 120_000
PATIENCE = 60_000
QUESTION = "Up to which moisture content may bales of biomass be stacked?"


@dataclass(frozen=True, slots=True)
class Site:
    """A running site with the demo corpus, and the passwords of its accounts."""

    address: str
    passwords: dict[str, str]


@contextmanager
def demo() -> Iterator[Site]:
    """Run `sci-rag demo` in a directory of its own until the pictures are taken."""
    port = free_port()
    with tempfile.TemporaryDirectory(prefix="sci-rag-screenshots-") as folder:
        var = Path(folder)
        # The database server may run under another account, which has to get in.
        var.chmod(0o755)
        environment = os.environ | {"SCI_RAG_VAR_DIR": folder, "DATABASE_URL": "", "SCI_RAG_LLM_MODEL": ""}
        command = [sys.executable, "-m", "sci_rag_site", "demo", "--port", str(port)]
        with subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL) as process:
            try:
                wait_for(port, process)
                yield Site(f"http://127.0.0.1:{port}", passwords_in(var / "demo-accounts.txt"))
            finally:
                process.terminate()


def passwords_in(file: Path) -> dict[str, str]:
    """Return the accounts of the demo with their passwords."""
    lines = (line.split() for line in file.read_text(encoding="utf-8").splitlines())
    return {words[0]: words[1] for words in lines if len(words) == 2}


class Visit:
    """Somebody who is signed in, and whose window is photographed."""

    def __init__(self, browser: Browser, site: Site, name: str, size: ViewportSize = DESK) -> None:
        context = browser.new_context(
            viewport=size, color_scheme="light", reduced_motion="reduce", locale="en-GB"
        )
        context.set_default_timeout(PATIENCE)
        self._site = site
        self.page: Page = context.new_page()
        self.open("/sign-in/")
        self.page.get_by_label("User name").fill(name)
        self.page.get_by_label("Password").fill(site.passwords[name])
        self.page.get_by_role("button", name="Sign in").click()
        self.page.get_by_role("button", name="Sign out").wait_for()

    def open(self, path: str) -> None:
        """Go to a page of the site."""
        self.page.goto(self._site.address + path)

    def take(self, name: str) -> None:
        """Keep what the window shows, less sharp where it would be too large."""
        self.page.wait_for_load_state("networkidle")
        shot = Image.open(BytesIO(self.page.screenshot())).convert("RGB")
        for quality in (82, 70, 55, 40):
            kept = BytesIO()
            shot.save(kept, "WEBP", quality=quality, method=6)
            if kept.tell() <= LARGEST:
                (IMAGES / f"{name}.webp").write_bytes(kept.getvalue())
                return
        sys.exit(f"{name} is too large to be kept.")

    def show(self, words: str) -> None:
        """Open the part of the page that is folded under `words`, and bring it into the window."""
        summary = self.page.locator("summary", has_text=words).first
        summary.click()
        summary.scroll_into_view_if_needed()
        self.page.evaluate("element => element.scrollIntoView({block: 'start'})", summary.element_handle())


def asker(browser: Browser, site: Site) -> None:
    """Go the way of docs/tutorials/asker.md."""
    visit = Visit(browser, site, "demo-asker")
    page = visit.page
    visit.open("/")
    visit.take("asker-ask")
    visit.show("Change what is searched")
    page.get_by_label("Only these:").first.check()
    page.get_by_label("Public domain").check()
    page.get_by_role("button", name="Show what this covers").click()
    visit.take("asker-scope")
    ask(visit, QUESTION)
    page.evaluate("window.scrollTo(0, 0)")
    visit.take("asker-answer")
    page.locator("#check-title").evaluate("element => element.scrollIntoView()")
    visit.take("asker-check")
    page.locator(".source-card h4 a").first.click()
    visit.take("asker-passage")
    ask(visit, "How many satellites watch the ripening of vineyards in Patagonia?")
    page.evaluate("window.scrollTo(0, 0)")
    visit.take("asker-refusal")
    phone = Visit(browser, site, "demo-asker", PHONE)
    ask(phone, QUESTION)
    phone.take("asker-phone")


def ask(visit: Visit, question: str) -> None:
    """Ask, and go to the page of the answer when it is there."""
    visit.open("/")
    visit.page.get_by_label("Your question").fill(question)
    visit.page.locator("#ask-button").click()
    # Leaving before it is written would stop it.
    visit.page.locator("summary", has_text="What was searched").wait_for()
    visit.page.get_by_role("link", name="Permanent link").click()
    visit.page.wait_for_url("**/answers/*/")


def librarian(browser: Browser, site: Site) -> None:
    """Go the way of docs/tutorials/librarian.md."""
    visit = Visit(browser, site, "demo-librarian")
    page = visit.page
    visit.open("/admin/")
    visit.take("librarian-waiting")
    page.get_by_role("link", name="Rights to decide on").click()
    visit.take("librarian-queue")
    visit.open("/documents/")
    page.get_by_role("link", name="Take documents in").click()
    visit.take("librarian-upload")
    visit.open("/documents/?q=moisture+probes")
    page.get_by_role("link", name="Field test of three moisture probes").first.click()
    visit.take("librarian-document")
    visit.open("/documents/why/")
    page.get_by_label("DOI, title or id").fill("What steam explosion costs a farm plant")
    page.get_by_label("For which account").fill("demo-asker")
    page.get_by_role("button", name="Find out").click()
    visit.take("librarian-why")
    phone = Visit(browser, site, "demo-librarian", PHONE)
    phone.open("/documents/")
    phone.take("librarian-phone")


def expert(browser: Browser, site: Site) -> None:
    """Go the way of docs/tutorials/expert.md."""
    visit = Visit(browser, site, "demo-expert")
    page = visit.page
    page.get_by_role("link", name="Evaluation", exact=True).click()
    page.get_by_role("link", name="Questions", exact=True).click()
    page.get_by_role("link", name="demo", exact=True).click()
    visit.take("expert-questions")
    page.get_by_role("link", name="How much dry matter do corn stover bales lose in the open").click()
    page.get_by_role("button", name="Sign: question, answer and evidence are right").wait_for()
    visit.take("expert-question")
    visit.open("/questions/in/demo/")
    page.get_by_role("link", name="Measure retrieval with it").click()
    page.get_by_role("button", name="Start").click()
    page.get_by_role("link", name="Show what it found").click(timeout=300_000)
    visit.take("expert-report")


def main() -> None:
    """Take all pictures."""
    if CHROMIUM is None:
        sys.exit("Chromium is needed: install it, or set CHROMIUM to its path.")
    IMAGES.mkdir(exist_ok=True)
    with demo() as site, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        for person in (asker, librarian, expert):
            person(browser, site)
        browser.close()
    taken = sorted(IMAGES.glob("*.webp"))
    print(f"{len(taken)} pictures, {sum(path.stat().st_size for path in taken) / 1000:.0f} kB in all.")


if __name__ == "__main__":
    main()
