"""What strangers wrote is text on every page that shows it: no page has an element that it has not anyway.

The same pages with the same rows are looked at in a browser by `tests/functional/test_hostile_markup.py`.
"""

from __future__ import annotations

import re

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from corpus.models import Chunk
from tests.factories.corpus import ChunkFactory, DocumentFactory
from tests.integration.site.markup import ALLOWED_IN_ANSWERS, HARMLESS
from tests.reliability.hostile import scripts, sinks
from tests.reliability.hostile.sinks import Shapes, Sinks

pytestmark = pytest.mark.django_db

TEXTS = [text for _, text in scripts.payloads()]
# Of places that have a page for each row.
SOME = slice(0, None, 40)
# Templates of every kind, and pages that are quickly made.
FEW = ("title", "table cell", "file name", "answer text", "graph entity", "note")


def _pages(made: Sinks, name: str) -> list[str]:
    pages = made.pages[name]
    return pages[SOME] if len(pages) > 40 else pages[:2] + pages[2::6]


def _look(made: Sinks, names: tuple[str, ...]) -> dict[str, Shapes]:
    """Return for each place what its pages are made of."""
    client = Client()
    client.force_login(made.person)
    looked: dict[str, Shapes] = {}
    for name in names:
        if name == "admin delete confirmation":
            continue
        if name == "messages":
            sinks.leave_messages(made, client)
        parts = []
        for page in _pages(made, name):
            response = client.get(page)
            assert response.status_code == 200, page
            parts.append(response.text)
        looked[name] = Shapes("".join(parts))
    return looked


def test_there_are_a_hundred_and_fifty_payloads_and_twelve_places() -> None:
    assert len(set(TEXTS)) >= scripts.COUNT
    assert len(sinks.NAMES) >= 12


@pytest.mark.parametrize(
    "names", [FEW, pytest.param(sinks.NAMES, marks=pytest.mark.long)], ids=["few", "all"]
)
def test_a_payload_is_text_wherever_it_is_shown(names: tuple[str, ...]) -> None:
    harmless = _look(sinks.furnish(HARMLESS[:27]), names)

    hostile = _look(sinks.furnish(TEXTS[::13]), names)

    for name, found in hostile.items():
        allowed = harmless[name].shapes | (ALLOWED_IN_ANSWERS if name == "answer text" else set())
        assert found.shapes - allowed == set(), name
        assert "alert(1)" in "".join(found.text), name


def test_every_payload_is_text_on_the_page_of_a_document(librarian: User) -> None:
    document = DocumentFactory(title="Straw", chunk_count=len(TEXTS))
    passages = [ChunkFactory.build(document=document, ordinal=n, body=text) for n, text in enumerate(TEXTS)]
    Chunk.objects.bulk_create(passages)
    client = Client()
    client.force_login(librarian)

    page = client.get(reverse("document", args=[document.pk])).text

    assert not re.search(r"alert\(1\)[^<]*</script|<(img|svg|iframe|math|form id|base|portal)", page)
    read = " ".join("".join(Shapes(page).text).split())
    assert [text for text in TEXTS if " ".join(text.split()) not in read] == []


def test_the_names_of_groups_are_text_where_the_admin_asks_before_deleting_them() -> None:
    harmless, hostile = sinks.furnish(HARMLESS[:2]), sinks.furnish(TEXTS[::30])
    client = Client()
    client.force_login(hostile.person)

    def look(made: Sinks) -> Shapes:
        return Shapes("".join(client.get(page).text for page in made.pages["admin delete confirmation"]))

    assert look(hostile).shapes - look(harmless).shapes == set()
    assert "alert(1)" in "".join(look(hostile).text)
