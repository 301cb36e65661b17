"""Asking in a browser, from the question to the page of the passage."""

import time
from collections.abc import Callable, Iterator

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import expect

from answers.models import Answer
from corpus.models import Document
from tests.factories.corpus import DocumentFactory
from tests.functional.conftest import Visit
from tests.integration.answers.conftest import DIGESTER, RESTRICTED, STRAW, passages
from tests.loopback.fixtures import forget_clients
from tests.loopback.openai_server import OpenAIServer, fails, says

pytestmark = pytest.mark.browser
QUESTION = "What is the methane yield of rice straw?"


@pytest.fixture
def library(server: str) -> dict[str, Document]:
    straw = DocumentFactory(title="Methane from rice straw", year=2021)
    passages(straw, STRAW, locator="3 Results", section_path=["3 Results"])
    digester = DocumentFactory(title="Running a digester", license_class="public", bucket="reports")
    passages(digester, DIGESTER)
    secret = DocumentFactory(title="Calder pilot plant", license_class="restricted")
    passages(secret, RESTRICTED)
    return {"straw": straw, "digester": digester, "secret": secret}


@pytest.fixture
def model(configured_model: OpenAIServer) -> Iterator[OpenAIServer]:
    yield configured_model
    forget_clients()


def ask(visit: Visit, question: str = QUESTION) -> None:
    visit.page.get_by_label("Your question").fill(question)
    visit.page.get_by_role("button", name="Ask", exact=True).click()


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.05)


def test_from_a_question_to_the_page_of_the_document(
    visit: Visit, library: dict[str, Document], asker: User
) -> None:
    visit.sign_in("asker")
    ask(visit)
    page = visit.page

    expect(page.locator("#answer .prose")).to_contain_text("210 L/kg")
    expect(page.locator("#status")).to_contain_text("Answer ready")
    expect(page.locator("#result")).to_have_attribute("aria-busy", "false")
    page.locator("a.cite").first.click()
    card = page.locator("#source-1")
    expect(card).to_be_in_viewport()
    card.get_by_text("Read the passage").click()
    expect(card.locator(".quoted")).to_contain_text("Grinding the straw")
    expect(card).to_contain_text("Open, commercial use allowed")
    card.get_by_role("link", name="Methane from rice straw").click()
    expect(page.locator("mark")).to_contain_text("210 L/kg")
    page.get_by_role("link", name="Whole document").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Methane from rice straw")


def test_the_same_without_javascript(plain_visit: Visit, library: dict[str, Document], asker: User) -> None:
    plain_visit.sign_in("asker")
    ask(plain_visit)
    page = plain_visit.page

    answer = Answer.objects.get()
    expect(page).to_have_url(f"{plain_visit.server}/answers/{answer.id}/")
    expect(page.locator("#answer .prose")).to_contain_text("210 L/kg")
    page.locator("#source-1").get_by_role("link", name="Methane from rice straw").click()
    expect(page.locator("mark")).to_contain_text("210 L/kg")
    page.get_by_role("link", name="Whole document").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Methane from rice straw")


def test_sources_stand_before_the_text_and_the_draft_is_kept_from_screen_readers(
    visit: Visit, library: dict[str, Document], asker: User, model: OpenAIServer
) -> None:
    model.will(says("Rice straw yields ", "210 L/kg ", "[1].", pause=1.0))
    visit.sign_in("asker")
    ask(visit)
    page = visit.page

    expect(page.locator("#sources .source-card").first).to_be_visible()
    expect(page.locator("#draft")).to_be_attached()
    assert page.locator("a.cite").count() == 0
    assert page.locator("#draft").evaluate("node => node.closest('[aria-hidden]') !== null")
    expect(page.locator("#draft")).to_contain_text("Rice straw yields")
    expect(page.locator("#answer a.cite")).to_have_text("1")
    expect(page.locator("#draft")).to_have_count(0)
    expect(page.locator(".engine-line")).to_have_text("Written by openai/test-model.")


def test_stopping_keeps_what_was_written(
    visit: Visit, library: dict[str, Document], asker: User, model: OpenAIServer
) -> None:
    model.will(says("Rice straw yields 210 L/kg [1]. ", *["More. "] * 200, pause=0.2))
    visit.sign_in("asker")
    ask(visit)
    page = visit.page
    expect(page.locator("#draft")).to_contain_text("More.")

    page.get_by_role("button", name="Stop").click()

    expect(page.get_by_text("Stopped before it was done.")).to_be_visible()
    expect(page.get_by_role("button", name="Stop")).to_be_hidden()
    wait_until(lambda: Answer.objects.get().finish == Answer.Finish.CANCELLED)
    page.get_by_role("link", name="Open it").click()
    expect(page.locator("#answer")).to_contain_text("You stopped this answer")
    expect(page.locator("#answer .prose")).to_contain_text("Rice straw yields 210 L/kg")


def test_leaving_the_page_ends_the_answer(
    visit: Visit, library: dict[str, Document], asker: User, model: OpenAIServer
) -> None:
    model.will(says(*["Word. "] * 200, pause=0.2))
    visit.sign_in("asker")
    ask(visit)
    expect(visit.page.locator("#draft")).to_contain_text("Word.")

    visit.page.close()

    wait_until(lambda: Answer.objects.get().finish == Answer.Finish.CANCELLED)


def test_a_model_that_fails_leaves_the_sources_and_offers_the_extractive_answer(
    visit: Visit, library: dict[str, Document], asker: User, model: OpenAIServer
) -> None:
    model.will(fails(401))
    visit.sign_in("asker")
    ask(visit)
    page = visit.page

    expect(page.locator("#answer")).to_contain_text("The model did not answer")
    expect(page.locator("#sources .source-card").first).to_be_visible()
    expect(page.get_by_label("Your question")).to_have_value(QUESTION)
    page.get_by_role("button", name="Show the extractive answer").click()
    expect(page.locator("#answer .prose")).to_contain_text("210 L/kg")
    expect(page.locator(".engine-line")).to_contain_text("quotes passages word for word")
    failed, instead = Answer.objects.order_by("created_at")
    assert instead.instead_of == failed
    assert instead.question == failed.question


def test_the_extractive_answer_is_offered_without_javascript_too(
    plain_visit: Visit, library: dict[str, Document], asker: User, model: OpenAIServer
) -> None:
    model.will(fails(401))
    plain_visit.sign_in("asker")
    ask(plain_visit)

    plain_visit.page.get_by_role("button", name="Show the extractive answer").click()

    expect(plain_visit.page.locator("#answer .prose")).to_contain_text("210 L/kg")


def test_what_a_model_writes_is_text_whatever_it_writes(
    visit: Visit, library: dict[str, Document], asker: User, model: OpenAIServer
) -> None:
    dialogs: list[object] = []
    visit.page.on("dialog", lambda dialog: dialogs.append(dialog))  # noqa: PLW0108 it cannot mark a method
    model.will(
        says(
            "<script>alert(1)</script>",
            '<img src="/x" onerror="alert(1)"> <hx-partial hx-target="main">gone</hx-partial>',
            "</hx-partial><template hx type=partial hx-target=main>gone</template>",
            "\n\ndata: <b>x</b>\n\n![a](/y) [b](javascript:alert(1)) [1]. {{ 7|add:7 }}",
        )
    )
    visit.sign_in("asker")
    ask(visit)

    expect(visit.page.locator("#answer .prose")).to_contain_text("<script>alert(1)</script>")
    assert dialogs == []
    assert (
        visit.page.locator("#answer img, #answer script, #answer a:not(.cite):not([href^='#'])").count() == 0
    )
    expect(visit.page.get_by_label("Your question")).to_be_visible()


def test_a_question_asked_while_another_is_answered_takes_its_place(
    visit: Visit, library: dict[str, Document], asker: User, model: OpenAIServer
) -> None:
    model.will(says(*["Old. "] * 200, pause=0.1), says("New, 210 L/kg [1]."))
    visit.sign_in("asker")
    ask(visit)
    expect(visit.page.locator("#draft")).to_contain_text("Old.")

    ask(visit, "How much methane does rice straw give?")

    expect(visit.page.locator("#answer .prose")).to_contain_text("New, 210 L/kg")
    expect(visit.page.locator("#result .question")).to_have_text("How much methane does rice straw give?")
    wait_until(lambda: Answer.objects.order_by("created_at")[0].finish == Answer.Finish.CANCELLED)


def test_a_session_that_ended_keeps_the_question(
    visit: Visit, library: dict[str, Document], asker: User
) -> None:
    visit.sign_in("asker")
    visit.page.context.clear_cookies(name="sessionid")
    ask(visit)

    expect(visit.page.get_by_text("You are signed out.")).to_be_visible()
    expect(visit.page.get_by_label("Your question")).to_have_value(QUESTION)
    # The browser itself reports the refusal.
    assert len(visit.complaints) == 1
    visit.complaints.clear()


def test_the_scope_is_shown_as_it_is_chosen_and_stands_in_the_address(
    visit: Visit, library: dict[str, Document], asker: User
) -> None:
    visit.sign_in("asker")
    page = visit.page
    line = page.locator("#scope-line")
    expect(line).to_contain_text("Searching 2 documents")

    page.get_by_text("Change what is searched").click()
    page.get_by_label("Public domain").check()

    expect(line).to_contain_text("Searching 1 document, 1 passage")
    expect(page).to_have_url(f"{visit.server}/?rights=chosen&license_class=public")
    page.get_by_label("Public domain").uncheck()
    expect(line.locator(".denied")).to_contain_text("nothing allowed")
    ask(visit)
    expect(page.locator("#answer")).to_contain_text("The scope leaves no document to search")
    page.reload()
    expect(line.locator(".denied")).to_be_visible()
    line.get_by_role("link", name="Remove the condition: Rights").click()
    expect(line).to_contain_text("Searching 2 documents")


def test_the_scope_can_be_looked_at_without_javascript_and_the_question_stays(
    plain_visit: Visit, library: dict[str, Document], asker: User
) -> None:
    plain_visit.sign_in("asker")
    page = plain_visit.page
    page.get_by_label("Your question").fill(QUESTION)
    page.get_by_text("Change what is searched").click()
    page.locator("input[name=collections][value=chosen]").check()
    page.get_by_label("reports").check()

    page.get_by_role("button", name="Show what this covers").click()

    expect(page.locator("#scope-line")).to_contain_text("Searching 1 document")
    expect(page.get_by_label("Your question")).to_have_value(QUESTION)
    expect(page.get_by_label("reports")).to_be_checked()
    assert not Answer.objects.exists()


def test_the_keyboard_alone_asks_and_opens_the_cited_source(
    visit: Visit, library: dict[str, Document], asker: User
) -> None:
    visit.sign_in("asker")
    page = visit.page
    expect(page.get_by_label("Your question")).to_be_focused()
    page.keyboard.type(QUESTION)
    page.keyboard.press("Enter")
    expect(page.locator("#answer a.cite").first).to_be_visible()
    expect(page.get_by_label("Your question")).to_be_focused()

    for _ in range(40):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.className") == "cite":
            break
    page.keyboard.press("Enter")

    assert page.url.endswith("#source-1")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('#source-1') !== null")


def test_a_citation_shows_its_source_beside_it(
    visit: Visit, library: dict[str, Document], asker: User
) -> None:
    visit.sign_in("asker")
    ask(visit)

    visit.page.locator("#answer a.cite").first.hover()

    expect(visit.page.locator("#source-1-card")).to_be_visible()
    visit.page.keyboard.press("Escape")
    expect(visit.page.locator("#source-1-card")).to_be_hidden()


def test_history_finds_a_question_again(visit: Visit, library: dict[str, Document], asker: User) -> None:
    visit.sign_in("asker")
    ask(visit)
    expect(visit.page.locator("#answer .prose")).to_be_visible()
    visit.page.get_by_role("link", name="History").click()

    visit.page.get_by_label("Words of the question").fill("methane")
    visit.page.get_by_role("link", name=QUESTION).click()

    expect(visit.page.get_by_role("heading", level=1)).to_have_text(QUESTION)
    visit.page.get_by_text("What was searched").click()
    expect(visit.page.locator(".methods")).to_contain_text("a corpus of 2 documents")
    visit.page.get_by_role("link", name="Ask again").click()
    expect(visit.page.get_by_label("Your question")).to_have_value(QUESTION)
