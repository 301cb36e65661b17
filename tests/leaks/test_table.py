"""The leak table: every route, every kind of person, and words that must not reach them."""

import uuid

import pytest
from asgiref.sync import async_to_sync
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from corpus.rights import ALL_CLASSES
from tests.leaks import routes
from tests.leaks.world import CEILINGS, World, build, canary

pytestmark = pytest.mark.django_db(transaction=True)

ACTORS = list(CEILINGS)


@pytest.fixture
def world() -> World:
    return build()


def client_of(world: World, actor: str) -> Client:
    client = Client(raise_request_exception=False)
    person = world.people[actor]
    if person is not None:
        client.force_login(person)
    return client


def ask(client: Client, call: routes.Call) -> HttpResponse:
    return getattr(client, call.method)(call.path, call.data, headers=call.headers, follow=True)


async def drained(response: HttpResponse) -> bytes:
    return b"".join([piece async for piece in response.streaming_content])  # type: ignore[attr-defined]


def seen(response: HttpResponse) -> str:
    body = async_to_sync(drained)(response) if response.streaming else response.content
    addresses = "".join(url for url, _ in getattr(response, "redirect_chain", []))
    return body.decode(errors="replace") + str(response.headers) + addresses


def test_every_route_is_in_the_table(world: World) -> None:
    assert set(routes.names()) == set(routes.calls(world))


@pytest.mark.parametrize("actor", ACTORS)
def test_no_route_shows_a_word_to_whom_it_must_not_reach(world: World, actor: str) -> None:
    client = client_of(world, actor)
    hidden = world.hidden_words(actor)

    for name, calls in routes.calls(world).items():
        if name == "logout":
            continue
        for call in calls:
            response = ask(client, call)
            text = seen(response)
            # What the asker typed comes back to them: it tells nothing.
            typed = [word for word in hidden if word in call.data.get("q", "")]
            leaked = [word for word in hidden if word in text and word not in typed]
            assert not leaked, f"{actor} read {leaked} at {call}"
            assert response.status_code < 500, f"{call} failed for {actor}"


@pytest.mark.parametrize("actor", ["narrow", "asker", "librarian"])
def test_the_table_sees_what_may_be_seen(world: World, actor: str) -> None:
    """A sweep that finds nothing anywhere would be blind."""
    client = client_of(world, actor)
    allowed = CEILINGS[actor]

    for route in ("documents", "document", "passage"):
        text = "".join(seen(ask(client, call)) for call in routes.calls(world)[route])
        assert all(canary(item) in text for item in allowed), route


def test_a_librarian_reads_an_old_answer_whole(world: World) -> None:
    text = seen(client_of(world, "librarian").get(reverse("answer", args=[world.answers["asker"].id])))

    assert all(canary(item) in text for item in ALL_CLASSES)


@pytest.mark.parametrize("actor", ["anonymous", "without_role", "narrow", "asker"])
def test_the_admin_shows_nothing_to_whom_it_is_closed(world: World, actor: str) -> None:
    client = client_of(world, actor)

    for path in routes.admin_paths(world):
        response = client.get(path, follow=True)
        assert "canary" not in seen(response).replace(str(path), ""), path
        assert response.status_code in (200, 403, 404, 405), path
        if response.status_code == 200:
            assert response.redirect_chain[-1][0].startswith("/sign-in/"), path


@pytest.mark.parametrize("route", ["document", "passage", "answer"])
@pytest.mark.parametrize("actor", ["without_role", "narrow", "asker"])
def test_what_is_kept_back_answers_exactly_like_what_does_not_exist(
    world: World, actor: str, route: str
) -> None:
    client = client_of(world, actor)
    absent = client.get(reverse(route, args=[uuid.uuid4()]))

    for identifier in kept_back(world, actor, route):
        present = client.get(reverse(route, args=[identifier]))
        assert present.status_code == absent.status_code == 404
        assert present.content == absent.content
        assert without_request_id(present) == without_request_id(absent)


@pytest.mark.parametrize("actor", ["without_role", "narrow", "asker"])
def test_a_picture_kept_on_disk_for_one_reader_is_not_there_for_another(world: World, actor: str) -> None:
    client, librarian = client_of(world, actor), client_of(world, "librarian")
    absent = client.get(reverse("page_image", args=[uuid.uuid4(), 1]))

    for license_class, document in world.documents.items():
        address = reverse("page_image", args=[document.id, 1])
        drawn = librarian.get(address)
        assert drawn.status_code == 200
        assert drawn.headers["Content-Type"] == "image/webp"
        found = client.get(address)
        if license_class in CEILINGS[actor]:
            assert found.content == drawn.content
        else:
            assert found.status_code == absent.status_code == 404
            assert found.content == absent.content
            assert without_request_id(found) == without_request_id(absent)


def kept_back(world: World, actor: str, route: str) -> list[uuid.UUID]:
    hidden = [item for item in ALL_CLASSES if item not in CEILINGS[actor]]
    return {
        "document": [world.documents[item].id for item in hidden],
        "passage": [world.passages[item].public_id for item in hidden],
        "answer": [answer.id for owner, answer in world.answers.items() if owner != actor],
    }[route]


def without_request_id(response: HttpResponse) -> dict[str, str]:
    return {name: value for name, value in response.headers.items() if name != "X-Request-ID"}


@pytest.mark.parametrize("route", ["run", "run_events", "run_cancel", "run_retry"])
@pytest.mark.parametrize("actor", ["without_role", "narrow", "asker"])
def test_runs_are_not_there_for_whom_they_are_not_for(world: World, actor: str, route: str) -> None:
    client = client_of(world, actor)
    send = client.post if route in {"run_cancel", "run_retry"} else client.get

    present, absent = (send(reverse(route, args=[item])) for item in (world.runs[0].id, uuid.uuid4()))

    assert present.status_code == absent.status_code == 404
    assert present.content == absent.content


def test_visitors_are_sent_to_sign_in_alike_for_what_exists_and_what_does_not(world: World) -> None:
    client = Client()

    for route in ("document", "passage", "answer"):
        known = {"document": world.documents, "passage": world.passages, "answer": world.answers}[route]
        present = next(iter(known.values()))
        identifier = getattr(present, "public_id", None) or present.id
        absent = uuid.uuid4()
        answers = [client.get(reverse(route, args=[item])) for item in (identifier, absent)]
        assert [response.status_code for response in answers] == [302, 302]
        assert answers[0].content == answers[1].content
        assert answers[0]["Location"].replace(str(identifier), str(absent)) == answers[1]["Location"]
