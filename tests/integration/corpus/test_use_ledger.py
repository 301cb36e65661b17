"""The ledger of calls to models: each is entered once, whoever makes it, and it holds nobody up."""

import ast
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import structlog
from django.contrib.auth.models import User
from django.db import connection, connections, transaction
from django.db.models import Sum
from django.db.utils import IntegrityError
from pytest_django.fixtures import Settings

from corpus import ingestion
from corpus.egress import NOTHING_HELD
from corpus.gateways.embedding import forget
from corpus.gateways.embedding.hosted import HostedEmbedder
from corpus.gateways.embedding.protocol import EmbeddingError
from corpus.gateways.llm import LiteLLMChat, ModelError, complete
from corpus.inputs import from_paths
from corpus.manifest import Described
from corpus.usage import accounts, ledger, storing
from corpus.usage.ledger import Amount, Key, Ledger
from corpus.usage.models import ModelUse
from corpus.usage.purposes import Purpose
from tests.loopback.counting import provider_tokens
from tests.loopback.fixtures import KEY_CANARY, forget_clients
from tests.loopback.openai_server import OpenAIServer, Reply, Request, fails, says

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.xdist_group("use-ledger")]

ROOT = Path(__file__).resolve().parents[3]
CANARY = "zirconium-canary-phrase"
SUMS = {
    name: Sum(name)
    for name in (
        "calls", "failures", "prompt_tokens", "completion_tokens", "estimated_calls", "unpriced_calls",
    )
}  # fmt: skip


@pytest.fixture(autouse=True)
def _a_clean_ledger(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Begin with what earlier tests asked for written and gone."""
    ledger.settle(20)
    ModelUse.objects.all().delete()
    monkeypatch.setattr("corpus.gateways.llm._PAUSE", 0.01)
    monkeypatch.setattr("corpus.gateways.embedding.hosted._PAUSE", 0.01)
    yield
    ledger.settle(20)
    forget_clients()


@pytest.fixture
def chat(model_server: OpenAIServer) -> LiteLLMChat:
    return LiteLLMChat(model="openai/test-model", api_base=model_server.base_url, api_key=KEY_CANARY)


@pytest.fixture
def embedder(model_server: OpenAIServer) -> HostedEmbedder:
    return HostedEmbedder(
        model="openai/test-embedding", dimensions=384, api_base=model_server.base_url, api_key=KEY_CANARY
    )


def say(chat: LiteLLMChat, user: str, purpose: Purpose = Purpose.ANSWER) -> str:
    return complete(chat, system="You answer.", user=user, purpose=purpose, carries=NOTHING_HELD, timeout=20)[
        0
    ]


def sums(**wanted: Any) -> dict[str, int]:
    assert ledger.settle(20)
    return {name: value or 0 for name, value in ModelUse.objects.filter(**wanted).aggregate(**SUMS).items()}


def key(user: int = -1, purpose: str = "answer") -> Key:
    return Key(datetime.now(UTC).date(), user, purpose, "", "m")


class TestOneCall:
    def test_is_entered_with_what_the_provider_said(
        self, chat: LiteLLMChat, model_server: OpenAIServer, asker: User
    ) -> None:
        model_server.will(says(f"{CANARY} [1]."))

        with accounts.charged_to(asker, collection="theses"):
            say(chat, CANARY, Purpose.HYDE)

        assert ledger.settle(20)
        (row,) = ModelUse.objects.all()
        assert (row.user_id, row.purpose, row.collection) == (asker.pk, "hyde", "theses")
        assert (row.calls, row.prompt_tokens, row.completion_tokens, row.failures) == (1, 11, 7, 0)
        assert (row.estimated_calls, row.unpriced_calls, row.cost_usd) == (0, 1, 0)
        assert abs((row.day - datetime.now(UTC).date()).days) <= 1
        assert CANARY not in str(row.__dict__)

    def test_of_nobody_is_the_systems_own(self, chat: LiteLLMChat, model_server: OpenAIServer) -> None:
        model_server.will(says("Yes."))

        say(chat, "?")
        say(chat, "?")

        assert sums(user_id=None, collection="")["calls"] == 2
        assert ModelUse.objects.count() == 1

    def test_costs_what_the_settings_say(
        self, chat: LiteLLMChat, model_server: OpenAIServer, settings: Settings
    ) -> None:
        settings.SCI_RAG_MODEL_PRICES = ["openai/test-model=1/2"]
        model_server.will(says("Yes."))

        say(chat, "?")

        assert ledger.settle(20)
        row = ModelUse.objects.get()
        assert (row.unpriced_calls, row.cost_usd) == (0, Decimal("0.000025"))

    def test_that_nobody_said_the_tokens_of_is_estimated_and_marked(
        self, chat: LiteLLMChat, model_server: OpenAIServer
    ) -> None:
        model_server.will(says("The straw gave more gas than expected.", usage=None))

        say(chat, "Which substrate gave the most gas in the long trial?")

        found = sums()
        assert found["estimated_calls"] == found["calls"] == 1
        assert 12 <= found["prompt_tokens"] <= 40
        assert 5 <= found["completion_tokens"] <= 12

    def test_that_was_hung_up_on_counts_what_had_come(
        self, chat: LiteLLMChat, model_server: OpenAIServer
    ) -> None:
        model_server.will(says(*["word "] * 40, pause=0.1))

        stream = chat.stream(system="s", user="u", purpose=Purpose.ANSWER, carries=NOTHING_HELD, timeout=20)
        next(stream)
        stream.close()

        found = sums()
        assert (found["calls"], found["failures"], found["estimated_calls"]) == (1, 0, 1)
        assert 0 < found["completion_tokens"] < 40

    def test_that_was_never_begun_is_none(self, chat: LiteLLMChat) -> None:
        chat.stream(system="s", user="u", purpose=Purpose.ANSWER, carries=NOTHING_HELD, timeout=20).close()

        assert sums()["calls"] == 0

    def test_that_a_provider_refused_cost_nothing(
        self, chat: LiteLLMChat, model_server: OpenAIServer
    ) -> None:
        model_server.will(fails(401))

        with pytest.raises(ModelError):
            say(chat, CANARY)

        found = sums()
        assert (found["calls"], found["failures"], found["unpriced_calls"]) == (1, 1, 0)
        assert found["prompt_tokens"] == found["completion_tokens"] == 0

    def test_that_was_tried_again_counts_twice(self, chat: LiteLLMChat, model_server: OpenAIServer) -> None:
        model_server.will(fails(503), says("Yes."))

        say(chat, "?")

        assert (sums()["calls"], sums()["failures"], len(model_server.requests)) == (2, 1, 2)

    def test_is_charged_to_whoever_began_it_and_not_to_whoever_reads_it(
        self, chat: LiteLLMChat, model_server: OpenAIServer, asker: User
    ) -> None:
        model_server.will(says("Yes."))
        with accounts.charged_to(asker):
            stream = chat.stream(
                system="s", user="u", purpose=Purpose.ANSWER, carries=NOTHING_HELD, timeout=20
            )

        thread = threading.Thread(target=list, args=(stream,))
        thread.start()
        thread.join(20)

        assert sums(user_id=asker.pk)["calls"] == 1


def test_the_ledger_equals_the_servers_own_count_over_a_mixed_flow_with_threads(
    chat: LiteLLMChat, embedder: HostedEmbedder, model_server: OpenAIServer
) -> None:
    people = [User.objects.create_user(f"person{number}") for number in range(4)]
    model_server.will_count(provider_tokens)
    model_server.will_choose(_mixed)
    purposes = [Purpose.ANSWER, Purpose.JUDGING, Purpose.EXTRACTION]

    def one(number: int) -> None:
        try:
            with accounts.charged_to(people[number % 4], collection=f"bucket{number % 2}"):
                if number % 5 == 0:
                    embedder.embed([f"passage {number}", "another"], task="document", carries=NOTHING_HELD)
                else:
                    say(chat, f"question {number} {'straw ' * number}", purposes[number % 3])
        except (ModelError, EmbeddingError):
            pass
        finally:
            connections.close_all()

    # One of each kind first: of clients that threads make at once litellm drops all but one, unclosed.
    for number in (0, 1):
        copy_context().run(one, number)
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda number: copy_context().run(one, number), range(2, 60)))

    found = sums()
    assert found["calls"] == len(model_server.requests) > 60
    assert found["failures"] == found["calls"] - len(model_server.counted) > 0
    assert found["prompt_tokens"] == sum(prompt for prompt, _ in model_server.counted)
    assert found["completion_tokens"] == sum(completion for _, completion in model_server.counted)
    assert found["estimated_calls"] == 0
    assert ModelUse.objects.values("user_id").distinct().count() == 4
    paths = [request.path.rpartition("/")[2] for request in model_server.requests]
    assert sums(purpose="passage_vectors")["calls"] == paths.count("embeddings")


def _mixed(request: Request) -> Reply:
    """Fail now and then, in ways that are tried again and in ways that are not."""
    said = str(request.body)
    if "question 7 " in said:
        return fails(400)
    if "question 11 " in said or "passage 10" in said:
        return fails(503)
    return says("A reply of ", "some ", "words.")


def test_writers_that_add_to_one_row_at_once_lose_nothing() -> None:
    """As two processes do: each has a connection and a batch of its own."""

    def add(_: int) -> None:
        for _ in range(20):
            storing.add({key(): Amount(1, prompt_tokens=3), key(purpose="judging"): Amount(1)})
        connections.close_all()

    with ThreadPoolExecutor(6) as threads:
        list(threads.map(add, range(6)))

    assert (sums(purpose="answer")["calls"], sums(purpose="answer")["prompt_tokens"]) == (120, 360)
    assert sums(purpose="judging")["calls"] == 120
    assert ModelUse.objects.count() == 2


def test_a_table_that_somebody_holds_keeps_no_answer_waiting(
    chat: LiteLLMChat, model_server: OpenAIServer
) -> None:
    model_server.will(says("Yes."))
    say(chat, "warm")
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("LOCK TABLE corpus_modeluse IN ACCESS EXCLUSIVE MODE")
        started = time.monotonic()
        thread = threading.Thread(target=say, args=(chat, "?"))
        thread.start()
        thread.join(20)
        took = time.monotonic() - started
        assert not ledger.settle(0.1)

    assert took < 2.0
    assert sums()["calls"] == 2


def test_a_write_that_fails_is_logged_without_content_tried_again_and_given_up() -> None:
    written: list[int] = []

    def store(batch: Any) -> None:
        if len(written) < 2:
            written.append(0)
            raise RuntimeError(CANARY)
        written.append(sum(amount.calls for amount in batch.values()))

    patient = Ledger(store)
    with structlog.testing.capture_logs() as logs:
        patient.add(key(), Amount(1))
        assert patient.settle(20)

    assert written == [0, 0, 1]
    assert [each["event"] for each in logs] == ["usage.not_written"] * 2
    assert CANARY not in str(logs)


def test_what_is_given_up_says_how_much_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ledger, "_PAUSE", 0.01)

    def store(batch: Any) -> None:
        raise RuntimeError(CANARY)

    lost = Ledger(store)
    with structlog.testing.capture_logs() as logs:
        lost.add(key(), Amount(3))
        assert lost.settle(20)

    assert (logs[-1]["event"], logs[-1]["calls"]) == ("usage.lost", 3)


def test_parts_of_a_row_are_within_its_calls() -> None:
    with pytest.raises(IntegrityError, match="parts_are_within_the_calls"), transaction.atomic():
        ModelUse.objects.create(day=date(2026, 1, 1), purpose="answer", model="m", calls=1, failures=2)


def test_there_is_one_row_a_day_for_nobody_too() -> None:
    row = {"day": date(2026, 1, 1), "purpose": "answer", "model": "m", "calls": 1}
    ModelUse.objects.create(**row)
    with pytest.raises(IntegrityError, match="one_row_a_day"), transaction.atomic():
        ModelUse.objects.create(**row)


class TestEveryCall:
    """What the source says: there is no way around the ledger, and no purpose that nothing has."""

    sources = {
        path.relative_to(ROOT): path.read_text(encoding="utf-8")
        for app in ("corpus", "retrieval", "answers", "evaluation", "sci_rag_site")
        for path in sorted((ROOT / app).rglob("*.py"))
    }

    def calls_of(self, name: str) -> Iterator[tuple[Path, ast.Call]]:
        for path, text in self.sources.items():
            for node in ast.walk(ast.parse(text)):
                function = getattr(node, "func", None)
                called = getattr(function, "attr", None) or getattr(function, "id", None)
                if isinstance(node, ast.Call) and called == name:
                    yield path, node

    def test_names_its_purpose(self) -> None:
        chats = [*self.calls_of("complete"), *self.calls_of("stream")]
        named = [
            keyword.value
            for _, call in chats
            for keyword in call.keywords
            if keyword.arg == "purpose" and any(each.arg == "timeout" for each in call.keywords)
        ]

        assert len(named) >= 12
        assert all(isinstance(value, ast.Attribute) or ast.unparse(value) == "purpose" for value in named)

    def test_goes_through_the_two_requests_that_are_entered(self) -> None:
        assert [str(path) for path, _ in self.calls_of("completion")] == ["corpus/gateways/model_call.py"]
        assert [str(path) for path, _ in self.calls_of("embedding")] == [
            "corpus/gateways/embedding/hosted.py"
        ]
        entered = {str(path) for path, _ in self.calls_of("chat_ended")}
        entered |= {str(path) for path, _ in self.calls_of("embedding_ended")}
        assert entered == {"corpus/gateways/model_call.py", "corpus/gateways/embedding/hosted.py"}

    def test_has_one_door_into_the_ledger(self) -> None:
        doors = [path for path, call in self.calls_of("record") if "ledger" in ast.unparse(call.func)]

        assert {str(path) for path in doors} == {"corpus/gateways/metering.py"}

    @pytest.mark.parametrize("purpose", list(Purpose))
    def test_has_a_purpose_that_something_uses(self, purpose: Purpose) -> None:
        elsewhere = [text for path, text in self.sources.items() if path.parts[:2] != ("corpus", "usage")]

        assert any(f"Purpose.{purpose.name}" in text for text in elsewhere)


def test_files_that_are_taken_in_are_charged_to_whom_and_what_they_are_for(
    model_server: OpenAIServer, settings: Settings, librarian: User, tmp_path: Path
) -> None:
    settings.SCI_RAG_EMBEDDING_MODEL = "openai/test-embedding"
    settings.SCI_RAG_EMBEDDING_API_BASE = model_server.base_url
    settings.SCI_RAG_EMBEDDING_API_KEY = KEY_CANARY
    settings.SCI_RAG_EMBEDDING_DIMENSIONS = 384
    forget()
    model_server.will(says())
    (tmp_path / "straw.md").write_text("# Straw\n\nCorn stover was stored in the open for six months.\n")

    ingestion.ingest(from_paths([tmp_path], Described(bucket="theses")), by=librarian)

    forget()
    assert ledger.settle(20)
    row = ModelUse.objects.get()
    assert (row.user_id, row.purpose, row.collection) == (librarian.pk, "passage_vectors", "theses")
    assert row.calls == len(model_server.requests) == 1
