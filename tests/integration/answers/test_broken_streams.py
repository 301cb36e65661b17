"""A stream that breaks leaves one answer, its text kept and marked, whoever broke it."""

import http.client
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.db import OperationalError, connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from answers import engine, processes
from answers.actions.answers import close_abandoned
from answers.models import Answer
from corpus.models import Document
from corpus.scope import scope
from tests.loopback.fixtures import forget_clients
from tests.loopback.openai_server import OpenAIServer, says

pytestmark = pytest.mark.django_db(transaction=True)
QUESTION = "What is the methane yield of rice straw?"
ANSWERS = scope(exclude_retracted=True)
ROOT = Path(__file__).resolve().parents[3]
WORDS = ["Rice straw yields 210 L/kg of volatile solids [1]. ", "It yields 999 L/kg [1]. ", *["More. "] * 300]


@pytest.fixture(scope="module", autouse=True)
def _close_clients() -> Iterator[None]:
    yield
    forget_clients()


@pytest.fixture
def reader(client: Client, asker: User) -> Client:
    client.force_login(asker)
    return client


@pytest.mark.usefixtures("small_corpus")
def test_a_reader_who_hangs_up_finds_what_was_written_once(
    reader: Client, asker: User, configured_model: OpenAIServer
) -> None:
    configured_model.will(says(*WORDS, pause=0.12))
    events = engine.ask(question=QUESTION, requested=ANSWERS, by=asker)
    seen = [next(events) for _ in range(5)]
    events.close()

    address = reverse("answer", args=[Answer.objects.get().pk])
    pages = [reader.get(address).text for _ in range(2)]

    row = Answer.objects.get()
    assert (row.state, row.finish) == ("partial", "cancelled")
    assert row.text == "".join(event.data.get("text", "") for event in seen)
    assert all("You stopped this answer" in page and "<strong>Partial.</strong>" in page for page in pages)
    # A third sentence may have come before the reader hung up.
    assert [f.kind for f in row.findings.order_by("sentence")][:2] == ["supported", "number_not_in_source"]


@pytest.mark.usefixtures("small_corpus")
def test_a_model_that_breaks_off_leaves_its_part_and_one_alternative(
    reader: Client, configured_model: OpenAIServer
) -> None:
    configured_model.will(says(WORDS[0], ending="cut"))
    page = reader.post(reverse("ask"), {"question": QUESTION}, follow=True)

    again = reader.get(page.redirect_chain[-1][0]).text

    row = Answer.objects.get()
    assert (row.state, row.finish, row.text) == ("partial", "model_failed", WORDS[0])
    assert "marked partial" in again
    reader.post(reverse("ask"), {"instead_of": str(row.pk)})
    assert "Show the extractive answer" not in reader.get(page.redirect_chain[-1][0]).text
    assert Answer.objects.count() == 2


@pytest.mark.usefixtures("small_corpus", "configured_model")
def test_what_a_database_breaks_off_is_not_put_on_the_model(
    reader: Client, asker: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone(**_: object) -> None:
        raise OperationalError("the connection was closed")

    monkeypatch.setattr("answers.actions.answers.record_writing", gone)
    answer = engine.answer(question=QUESTION, requested=ANSWERS, by=asker)

    assert (answer.state, answer.finish, answer.error) == ("failed", "abandoned", "internal_error")
    assert answer.sources.count() > 0
    page = reader.get(reverse("answer", args=[answer.pk])).text
    assert "The answer was interrupted" in page
    assert "The model" not in page


class Site:
    """A web process of its own on the tests' database, killed when the test says so."""

    def __init__(self, model: OpenAIServer) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        name = connection.settings_dict["NAME"]
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.loopback.web_process", str(self.port), str(name), model.base_url],
            cwd=ROOT,
            env={**os.environ, "DJANGO_SETTINGS_MODULE": "tests.settings", "PYTHONPATH": str(ROOT)},
        )
        deadline = time.monotonic() + 60
        while not self._answers():
            assert self.process.poll() is None, "the web process ended"
            assert time.monotonic() < deadline, "the web process did not start"
            time.sleep(0.1)

    def _answers(self) -> bool:
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(10)


@pytest.fixture
def site(model_server: OpenAIServer) -> Iterator[Site]:
    site = Site(model_server)
    yield site
    site.kill()


@pytest.mark.long
def test_a_web_process_that_is_killed_leaves_what_it_wrote_marked_at_the_next_look(
    site: Site, small_corpus: dict[str, Document], reader: Client, model_server: OpenAIServer
) -> None:
    model_server.will(says(*WORDS, pause=0.05))
    secret = "a" * 32
    cookies = f"sessionid={reader.cookies['sessionid'].value}; {settings.CSRF_COOKIE_NAME}={secret}"
    stream = http.client.HTTPConnection("127.0.0.1", site.port, timeout=60)
    stream.request(
        "POST", reverse("answer_stream"), urlencode({"question": QUESTION}),
        {"Content-Type": "application/x-www-form-urlencoded", "Cookie": cookies, "X-CSRFToken": secret},
    )  # fmt: skip
    response = stream.getresponse()
    assert response.status == 200
    deadline = time.monotonic() + 30
    while not Answer.objects.filter(text__contains="More.").exists():
        assert response.read1(4096)
        assert time.monotonic() < deadline
    running = Answer.objects.get()
    assert not processes.is_gone(running.process), "it lives in another process"
    assert close_abandoned(timezone.now()) == 0
    assert "Still being written" in reader.get(reverse("answer", args=[running.pk])).text

    site.kill()
    response.close()
    stream.close()
    page = reader.get(reverse("answer", args=[running.pk])).text

    row = Answer.objects.get()
    assert (row.state, row.finish) == ("partial", "abandoned")
    assert row.text.startswith(
        "Rice straw yields 210 L/kg of volatile solids [1]. It yields 999 L/kg [1]. More."
    )
    assert "Broken off" in page
    assert "<strong>Partial.</strong>" in page
    kinds = list(row.findings.order_by("sentence", "id").values_list("kind", flat=True))
    assert kinds[:3] == ["supported", "number_not_in_source", "uncited"]
    assert row.sources.get(number=1).is_cited
    assert close_abandoned(timezone.now()) == 0
    assert reader.get(reverse("answer", args=[running.pk])).text.count("Broken off") == 1
    assert row.findings.count() == len(kinds)


def test_a_process_is_gone_when_its_lock_is_free_and_not_before() -> None:
    code = (
        "import django; django.setup()\n"
        "from answers import processes\n"
        "print(processes.mine(), flush=True)\n"
        "input()\n"
    )
    other = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT,
        env={**os.environ, "DJANGO_SETTINGS_MODULE": "tests.settings"},
    )  # fmt: skip
    assert other.stdout is not None
    name = other.stdout.readline().strip()

    assert not processes.is_gone(name)
    other.kill()
    other.communicate()
    assert processes.is_gone(name)
    assert not processes.is_gone(processes.mine())
    assert not processes.is_gone("")
    assert not processes.is_gone("0" * 32), "of what left no lock nothing is known"


@pytest.mark.usefixtures("small_corpus")
def test_quotations_that_were_broken_off_are_withheld_with_what_they_may_quote(
    reader: Client, asker: User, small_corpus: dict[str, Document]
) -> None:
    events = engine.ask(question=QUESTION, requested=ANSWERS, by=asker, engine="extractive")
    for _ in range(3):
        last = next(events)
    row = Answer.objects.get()
    Answer.objects.filter(pk=row.pk).update(text="“The methane yield of rice straw was 210 L/kg.” [1]")
    Document.objects.filter(pk=small_corpus["straw"].pk).update(license_class="restricted")

    page = reader.get(reverse("answer", args=[row.pk])).text

    assert last.name == "generation_started"
    assert "210 L/kg" not in page
    assert "The text is not shown" in page
    events.close()
