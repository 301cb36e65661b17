"""Keeping a note of an answer in a browser: what was retrieved is linked in one click."""

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import expect

from answers.notebook.models import Observation
from corpus.models import Document
from tests.factories.corpus import DocumentFactory, SourceFactory
from tests.functional.conftest import Visit
from tests.integration.answers.conftest import DIGESTER, STRAW, passages

pytestmark = pytest.mark.browser
QUESTION = "What is the methane yield of rice straw?"


@pytest.fixture
def library(server: str) -> Document:
    straw: Document = DocumentFactory(title="Methane from rice straw", year=2021, source=SourceFactory())
    passages(straw, STRAW, locator="3 Results", section_path=["3 Results"])
    passages(DocumentFactory(title="Running a digester", source=SourceFactory()), DIGESTER)
    return straw


def test_saving_from_an_answer_links_what_was_retrieved_in_one_click(
    plain_visit: Visit, library: Document, asker: User
) -> None:
    plain_visit.sign_in("asker")
    page = plain_visit.page
    page.get_by_label("Your question").fill(QUESTION)
    page.get_by_role("button", name="Ask", exact=True).click()
    page.get_by_text("Save to the notebook").click()
    page.get_by_label("What you want to keep").fill("Straw yields 210 L/kg.")
    page.get_by_role("button", name="Save", exact=True).click()

    expect(page.get_by_text("Kept, with 2 retrieved works.")).to_be_visible()
    sources = page.locator(".source-card")
    expect(sources.first).to_contain_text("Methane from rice straw")
    expect(sources.first).to_contain_text("Retrieved")
    note = Observation.objects.get()
    assert set(note.links.values_list("relationship", flat=True)) == {"retrieved"}
    assert note.links.count() == 2

    page.get_by_text("Add a source").click()
    page.get_by_label("Identifier or title").fill("10.1234/other")
    page.get_by_role("button", name="Add it").click()
    expect(page.locator("#source-3")).to_contain_text("10.1234/other")
    page.get_by_role("link", name="Notebook").first.click()
    page.get_by_role("link", name="Straw yields 210 L/kg.").click()
    page.get_by_role("link", name="Delete").click()
    page.get_by_role("button", name="Delete").click()
    expect(page.get_by_text("No notes yet")).to_be_visible()
