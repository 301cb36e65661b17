"""The leak table: every route, every kind of person, and words that must not reach them."""

import pytest
from django.urls import reverse

from corpus import browsing
from tests.leaks import routes
from tests.leaks.asking import ask, client_of, seen
from tests.leaks.world import CEILINGS, READABLE, World, allowed, canary
from tests.loopback.fixtures import forget_clients
from tests.loopback.openai_server import OpenAIServer, says

pytestmark = pytest.mark.django_db(transaction=True)

# Of two with the same ceiling, one is asked with every test.
LATER = {"branch", "curator", "expert"}
ADMIN_CLOSED = [
    *("anonymous", "narrow", "asker"),
    *(pytest.param(name, marks=pytest.mark.long) for name in ("without_role", "branch", "expert")),
]
ACTORS = [pytest.param(name, marks=[pytest.mark.long] * (name in LATER)) for name in CEILINGS]


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


@pytest.mark.parametrize("actor", ["narrow", "branch", "asker", "librarian"])
def test_the_table_sees_what_may_be_seen(world: World, actor: str) -> None:
    """A sweep that finds nothing anywhere would be blind."""
    client = client_of(world, actor)
    shown = [case for case in allowed(actor) if case in READABLE]

    for route in ("documents", "document", "passage"):
        text = "".join(seen(ask(client, call)) for call in routes.calls(world)[route])
        assert all(canary(case) in text for case in shown), route


@pytest.mark.parametrize("actor", ["asker", "librarian"])
def test_a_retracted_work_is_in_no_new_answer_unless_it_is_asked_for(world: World, actor: str) -> None:
    client, word = client_of(world, actor), canary("retracted")

    answered = [seen(ask(client, call)) for call in answering(routes.QUESTION)]
    asked_for = [seen(ask(client, call)) for call in answering(routes.QUESTION | {"include_retracted": "on"})]

    assert not any(word in text for text in answered)
    assert all(word in text for text in asked_for)
    assert all(canary("public") in text for text in answered)


def answering(data: dict[str, str]) -> list[routes.Call]:
    return [
        routes.Call(reverse("ask"), "post", data),
        routes.Call(reverse("answer_stream"), "post", data, routes.HTMX),
    ]


def test_a_librarian_reads_an_old_answer_whole(world: World) -> None:
    text = seen(client_of(world, "librarian").get(reverse("answer", args=[world.answers["asker"].id])))

    assert all(canary(case) in text for case in READABLE)


@pytest.mark.parametrize("actor", ADMIN_CLOSED)
def test_the_admin_shows_nothing_to_whom_it_is_closed(world: World, actor: str) -> None:
    client = client_of(world, actor)

    for path in routes.admin_paths(world):
        response = client.get(path, follow=True)
        assert "canary" not in seen(response).replace(str(path), ""), path
        assert response.status_code in (200, 403, 404, 405), path
        if response.status_code == 200:
            assert response.redirect_chain[-1][0].startswith("/sign-in/"), path


def test_nothing_the_table_asks_for_is_in_a_log(
    world: World, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    client = client_of(world, "librarian")

    for name in ("ask", "answer_stream", "document", "passage", "page_image"):
        for call in routes.calls(world)[name]:
            seen(ask(client, call))

    captured = capsys.readouterr()
    assert "canary" not in caplog.text + captured.out + captured.err


def test_a_model_is_told_nothing_that_its_asker_may_not_see(
    world: World, configured_model: OpenAIServer
) -> None:
    configured_model.will(says("Biochar holds water [1]."))

    for actor in ("narrow", "branch", "asker"):
        configured_model.requests.clear()
        for call in answering(routes.QUESTION | {"include_retracted": "on"}):
            assert ask(client_of(world, actor), call).status_code == 200
        told = " ".join(str(request.body) for request in configured_model.requests)
        assert all(canary(case) in told for case in allowed(actor) if case in READABLE)
        assert [word for word in world.hidden_words(actor) if word in told] == []
    forget_clients()


def test_an_error_page_does_not_repeat_what_went_wrong(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(document: object) -> None:
        raise RuntimeError(canary("restricted"))

    monkeypatch.setattr(browsing, "sections", fails)
    address = reverse("document", args=[world.documents["public"].id])

    response = client_of(world, "librarian").get(address)

    assert response.status_code == 500
    assert "canary" not in seen(response)
