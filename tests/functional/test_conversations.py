"""Following up, in a browser: streamed in place, what is searched shown, and the same without scripts."""

from collections.abc import Iterator

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import expect

from answers.models import Answer
from corpus.models import Document
from tests.factories.corpus import DocumentFactory
from tests.functional.conftest import Visit
from tests.integration.answers.conftest import DIGESTER, STRAW, passages
from tests.loopback.fixtures import forget_clients
from tests.loopback.openai_server import OpenAIServer, says

pytestmark = pytest.mark.browser
QUESTION = "What is the methane yield of rice straw?"


@pytest.fixture
def library(server: str) -> Document:
    straw: Document = DocumentFactory(title="Methane from rice straw", year=2021)
    passages(straw, STRAW, locator="3 Results", section_path=["3 Results"])
    passages(DocumentFactory(title="Running a digester"), DIGESTER)
    return straw


@pytest.fixture
def model(configured_model: OpenAIServer) -> Iterator[OpenAIServer]:
    yield configured_model
    forget_clients()


def ask(visit: Visit, label: str, question: str) -> None:
    visit.page.get_by_label(label).fill(question)
    visit.page.get_by_role("button", name="Ask", exact=True).click()


def test_two_follow_ups_are_streamed_in_place_each_leaning_on_the_last(
    visit: Visit, library: Document, asker: User
) -> None:
    visit.sign_in("asker")
    ask(visit, "Your question", QUESTION)
    page = visit.page
    page.get_by_role("link", name="Follow up").click()

    ask(visit, "Your follow-up question", "Did grinding raise it?")
    expect(page.locator("#answer .prose")).to_contain_text("14 %")
    expect(page.locator("#searched-as")).to_contain_text("methane yield rice straw: Did grinding raise it?")
    second = Answer.objects.get(question="Did grinding raise it?")
    expect(page.locator("#follows")).to_have_value(str(second.id))
    ask(visit, "Your follow-up question", "And how hot?")
    expect(page.locator("#result .question")).to_have_text("And how hot?")
    expect(page.locator("#answer[data-ended]")).to_be_visible()

    third = Answer.objects.get(question="And how hot?")
    assert (third.follows, third.conversation) == (second, second.conversation)
    page.get_by_role("link", name="Change it").click()
    page.get_by_text("Search it in other words").click()
    page.get_by_label("What is searched").fill("How hot do thermophilic digesters run?")
    page.get_by_role("button", name="Search this instead").click()
    expect(page.locator("#answer .prose")).to_contain_text("53 °C")
    assert Answer.objects.count() == 4


@pytest.mark.long
def test_the_same_without_javascript_and_the_conversation_is_named_and_deleted(
    plain_visit: Visit, library: Document, asker: User
) -> None:
    plain_visit.sign_in("asker")
    page = plain_visit.page
    ask(plain_visit, "Your question", QUESTION)
    ask(plain_visit, "Your follow-up question", "Did grinding raise it?")
    expect(page.locator("#searched-as")).to_contain_text("methane yield rice straw: Did grinding raise it?")

    page.get_by_role("link", name="The whole conversation").click()
    page.get_by_text("Rename", exact=True).first.click()
    page.get_by_label("Title").fill("Straw")
    page.get_by_role("button", name="Rename").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Straw")
    page.get_by_role("link", name="History").first.click()
    page.get_by_role("link", name="Straw", exact=True).click()
    page.get_by_role("link", name="Delete this conversation").click()
    page.get_by_role("button", name="Delete").click()

    expect(page.get_by_text("2 questions deleted.")).to_be_visible()
    assert not Answer.objects.exists()


def test_a_connection_that_breaks_asks_nothing_twice_and_the_part_is_there_after_a_reload(
    visit: Visit, library: Document, asker: User, model: OpenAIServer
) -> None:
    model.will(says("Rice straw yields 210 L/kg of volatile solids [1]. ", *["More. "] * 200, pause=0.2))
    visit.sign_in("asker")
    ask(visit, "Your question", QUESTION)
    page = visit.page
    expect(page.locator("#draft")).to_contain_text("More.")

    page.reload()
    page.get_by_role("link", name="History").click()
    page.get_by_role("link", name=QUESTION).click()
    expect(page.locator("#answer")).to_contain_text("210 L/kg")

    assert Answer.objects.count() == 1
    assert len(model.requests) == 1


@pytest.mark.parametrize("width", [1280, 320])
def test_the_pages_fit(visit: Visit, library: Document, asker: User, width: int) -> None:
    visit.page.set_viewport_size({"width": width, "height": 800})
    visit.sign_in("asker")
    ask(visit, "Your question", QUESTION)
    visit.page.get_by_role("link", name="Follow up").click()
    answer = Answer.objects.get()
    for path in ("", "wrong/", "acquire/"):
        visit.open(f"/answers/{answer.id}/{path}")
        assert visit.page.evaluate("document.documentElement.scrollWidth") <= width
    for path in ("", "delete/"):
        visit.open(f"/conversations/{answer.conversation_id}/{path}")
        assert visit.page.evaluate("document.documentElement.scrollWidth") <= width
