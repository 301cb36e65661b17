"""Twelve askers at once over real sockets: each answer is whole, its asker's own, and stored as streamed.

`python -m benchmarks.answer_streams` is the same with fifty, and with the times of pages.
"""

import asyncio
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from django.contrib.auth.models import Group, User
from django.test import Client
from django.urls import reverse

from answers.models import Answer
from benchmarks import askers
from tests.integration.answers.conftest import small_corpus, straw  # noqa: F401 fixtures
from tests.integration.answers.test_broken_streams import Site
from tests.loopback.steady_model import tokens

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.long]
ROOT = Path(__file__).resolve().parents[2]
ASKERS, TOKENS = 12, 60


@pytest.fixture
def site() -> Iterator[Site]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "tests.loopback.steady_model", str(port), "30", str(TOKENS)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE) as model:
        assert model.stdout is not None
        model.stdout.readline()
        site = Site(SimpleNamespace(base_url=f"http://127.0.0.1:{port}/v1"))  # type: ignore[arg-type]
        yield site
        site.kill()
        model.terminate()


def session_of(number: int) -> str:
    user = User.objects.create_user(f"asker-{number}")
    user.groups.add(Group.objects.get(name="asker"))
    client = Client()
    client.force_login(user)
    return client.cookies["sessionid"].value


@pytest.mark.usefixtures("small_corpus")
def test_twelve_who_ask_at_once_get_their_own_answers_whole_and_pages_are_served_meanwhile(
    site: Site,
) -> None:
    sessions = [session_of(number) for number in range(ASKERS)]
    paths = [reverse("ask"), reverse("answers"), reverse("healthz")]

    told = asyncio.run(
        askers.crowd(
            port=site.port, sessions=sessions, question="What is the methane yield of straw?", paths=paths
        )
    )

    for number, reply in enumerate(told.streams):
        expected = "".join(tokens(str(number), TOKENS))
        row = Answer.objects.get(pk=reply.answer_id)
        assert (row.state, row.finish) == ("done", "stop")
        assert row.text == reply.text == expected
    assert Answer.objects.count() == ASKERS
    assert {page.status for pages in told.pages.values() for page in pages} == {200}
