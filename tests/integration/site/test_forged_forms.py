"""A form that another site sends in somebody's name changes nothing, on whatever route it arrives."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver, reverse

from answers.conversations import Conversation
from answers.models import Answer
from answers.notebook.models import Observation
from tests.contents import contents_but
from tests.factories.corpus import ChunkFactory, DocumentFactory, IngestionRunFactory

pytestmark = pytest.mark.django_db

FEWEST = 150
REFUSED = (401, 404, 405)
# Their callers prove themselves with a key in a header, which no browser sends by itself.
BY_KEY = ("api/", "mcp")
# What changes because somebody asked, and not by what they asked for: the last keeps what was refused.
OWN_BOOKS = ("corpus_personsession", "django_session", "corpus_auditevent")


def _routes(resolver: URLResolver, above: str = "") -> Iterator[tuple[str, URLPattern]]:
    for entry in resolver.url_patterns:
        here = above + str(entry.pattern).removeprefix("^")
        if isinstance(entry, URLResolver):
            yield from _routes(entry, here)
        elif not here.startswith(BY_KEY) and "(?P<url>" not in here and "(?P<app_label>" not in here:
            yield here.removesuffix("$").removesuffix("\\Z"), entry


def _filled(route: str, entry: URLPattern, rows: dict[str, Any]) -> str:
    for name, converter in entry.pattern.converters.items():
        kind = type(converter).__name__
        value = 1 if kind == "IntConverter" else rows.get(name, uuid.UUID(int=1))
        for prefix in ("int:", "str:", "path:", "uuid:", "slug:", ""):
            route = route.replace(f"<{prefix}{name}>", str(value))
    return "/" + route


@pytest.fixture
def person(db: None) -> User:
    """Somebody who may do everything there is to do."""
    person = User.objects.create_user("person", password="correct horse battery", is_staff=True)
    person.groups.set(Group.objects.all())
    return person


@pytest.fixture
def rows(person: User) -> dict[str, Any]:
    """Something of theirs for each kind of address."""
    talk = Conversation.objects.create(asked_by=person, title="Straw")
    answer = Answer.objects.create(
        asked_by=person, conversation=talk, question="What?", text="So.", state="done", finish="stop",
        scope_digest="0" * 64, profile="interactive", engine="extractive",
    )  # fmt: skip
    note = Observation.objects.create(owner=person, title="Straw", text="So.", last_number=0)
    document = DocumentFactory()
    return {
        "conversation_id": talk.pk,
        "answer_id": answer.pk,
        "note_id": note.pk,
        "document_id": document.pk,
        "object_id": document.pk,
        "passage_id": ChunkFactory(document=document).public_id,
        "run_id": IngestionRunFactory().pk,
    }


def _sent(client: Client, path: str, headers: dict[str, str], **form: str) -> int:
    return client.post(
        path, {"title": "Changed", "name": "Changed", "post": "yes"} | form, headers=headers
    ).status_code


@pytest.mark.parametrize("each", [25, pytest.param(1, marks=pytest.mark.long)])
def test_no_route_takes_a_form_without_the_token_of_its_own_session(
    person: User, rows: dict[str, Any], each: int
) -> None:
    client, stranger = (Client(enforce_csrf_checks=True, raise_request_exception=False) for _ in range(2))
    client.force_login(person)
    client.get(reverse("account"))
    stranger.get(reverse("login"))
    foreign, own = (one.cookies["csrftoken"].value for one in (stranger, client))
    every = [_filled(route, entry, rows) for route, entry in _routes(get_resolver())]
    paths = every[::each]
    before = contents_but(OWN_BOOKS)

    wrong = []
    for path in paths:
        answers = [
            _sent(client, path, {}),
            _sent(client, path, {}, csrfmiddlewaretoken=foreign),
            _sent(client, path, {"X-CSRFToken": "x" * 32, "HX-Request": "true"}),
            _sent(
                client,
                path,
                {"Origin": "https://evil.example", "X-CSRFToken": own},
            ),
        ]
        wrong += [f"{path}: {answers}"] if answers != [403] * 4 else []

    print(f"{len(paths)} routes, {4 * len(paths)} forged forms")  # noqa: T201 - figures
    assert len(every) >= FEWEST
    assert "\n".join(wrong) == ""
    assert contents_but(OWN_BOOKS) == before


def test_the_same_form_with_its_token_is_taken(person: User, rows: dict[str, Any]) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(person)
    client.get(reverse("account"))
    path = reverse("conversation_rename", args=[rows["conversation_id"]])

    status = _sent(client, path, {}, csrfmiddlewaretoken=client.cookies["csrftoken"].value)

    assert status == 302
    assert Conversation.objects.get().title == "Changed"


@pytest.mark.parametrize("path", ["/api/v1/search", "/api/v1/answers", "/api/v1/documents", "/mcp"])
def test_a_session_opens_no_route_of_keys(person: User, path: str) -> None:
    client = Client(raise_request_exception=False)
    client.force_login(person)

    assert client.post(path, {"question": "What?"}, content_type="application/json").status_code in REFUSED
