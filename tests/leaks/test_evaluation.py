"""Questions and evaluation runs: shown as far as a ceiling goes, without a trace of the rest."""

from __future__ import annotations

import pytest
from django.urls import reverse

from corpus.models import Document
from tests.leaks import evaluation_rows
from tests.leaks.asking import ask, client_of, content_of, seen
from tests.leaks.test_twins import masked
from tests.leaks.world import READABLE, World, allowed, canary

pytestmark = pytest.mark.django_db(transaction=True)


def pages(world: World, actor: str) -> dict[str, tuple[int, str]]:
    client, known = client_of(world, actor), {str(row.pk) for row in world.documents.values()}
    found = {}
    for name, calls in evaluation_rows.calls(world).items():
        for number, call in enumerate(one for one in calls if one.method == "get"):
            response = ask(client, call)
            found[f"{name} {number}"] = (
                response.status_code,
                masked(content_of(response).decode(errors="replace"), known),
            )
    return found


@pytest.mark.parametrize("actor", ["expert", "curator", "librarian"])
def test_the_pages_show_what_may_be_seen(world: World, actor: str) -> None:
    """A sweep that finds nothing anywhere would be blind."""
    client = client_of(world, actor)
    shown = [case for case in allowed(actor) if case in READABLE]

    for route in ("questions", "question", "evaluation", "evaluation_question"):
        text = "".join(seen(ask(client, call)) for call in evaluation_rows.calls(world)[route])
        assert all(canary(case) in text for case in shown), route


@pytest.mark.parametrize("actor", [pytest.param("expert", marks=pytest.mark.long), "curator"])
def test_the_pages_are_the_same_without_what_their_reader_may_not_see(world: World, actor: str) -> None:
    with_all = pages(world, actor)
    hidden = [document.pk for document in world.hidden_documents(actor)]
    Document.objects.filter(pk__in=hidden).delete()

    assert pages(world, actor) == with_all


def test_the_numbers_of_a_run_over_everything_are_not_for_who_sees_a_part(world: World) -> None:
    over_everything = reverse("evaluation", args=[world.evaluations[-1].pk])

    assert client_of(world, "expert").get(over_everything).status_code == 404
    assert client_of(world, "librarian").get(over_everything).status_code == 200


def test_a_hidden_run_and_a_hidden_question_answer_as_missing_ones_do(world: World) -> None:
    client = client_of(world, "expert")
    missing = reverse("question", args=[world.evaluations[0].pk])
    hidden = [question for question in world.questions if question.key == canary("restricted")]

    answers = {
        masked(content_of(client.get(address)).decode(), set())
        for address in (missing, *(reverse("question", args=[one.pk]) for one in hidden))
    }

    assert len(answers) == 1
