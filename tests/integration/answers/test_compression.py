"""Answers written from condensed sources: what the model reads, what is stored, what a bad summary costs."""

import json
import time
from collections.abc import Callable, Iterator
from concurrent.futures import wait
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.urls import reverse
from pytest_django.fixtures import Settings

from answers import compression, engine
from answers.cli import ask
from answers.condensing import Outcome
from answers.events import AnswerEvent, EventName
from answers.models import Answer
from corpus.egress import NOTHING_HELD
from corpus.gateways import llm
from corpus.models import Document
from corpus.rights import LicenseClass
from corpus.scope import scope
from corpus.usage import ledger
from corpus.usage.models import ModelUse
from corpus.usage.purposes import Purpose
from tests.factories.corpus import DocumentFactory
from tests.integration.answers.conftest import passages
from tests.integration.answers.test_views import streamed
from tests.loopback.fixtures import forget_clients
from tests.loopback.openai_server import HANGS, OpenAIServer, Reply, Request, fails, says

pytestmark = pytest.mark.django_db(transaction=True)
ROOT = Path(__file__).resolve().parents[3]
QUESTION = "What is the methane yield of rice straw?"
ANSWERS = scope(exclude_retracted=True)
FILLER = "The reactors were stirred by hand and fed once a day by two students of the institute. " * 8
YIELD = f"The methane yield of rice straw was 210 L/kg of volatile solids. {FILLER}"
RANGE = f"Rice straw from the delta gave a methane yield of 190 L/kg. {FILLER}"
STORES = f"Rice straw that is stored wet loses a tenth of its methane yield within 3 months. {FILLER}"
BOUND = f"Rice straw gave a methane yield of 230 L/kg in the pilot plant at Aberlour. {FILLER}"
SECRET = f"At Calder the methane yield of rice straw was 377 L/kg of volatile solids. {FILLER}"
SUMMARIES = {
    "210 L/kg": (9, "Methane yield of rice straw: 210 L/kg of volatile solids."),
    "190 L/kg": (8, "Delta straw yielded 190 L/kg."),
    "3 months": (1, ""),
}


@pytest.fixture(scope="module", autouse=True)
def _close_clients() -> Iterator[None]:
    yield
    forget_clients()


@pytest.fixture(autouse=True)
def _fresh(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr("corpus.gateways.llm._PAUSE", 0.01)
    yield
    llm._configured.cache_clear()


@pytest.fixture
def condensing_site(settings: Settings, tmp_path: Path, configured_model: OpenAIServer) -> OpenAIServer:
    """The site with a domain folder in which quick answers are written from condensed sources."""
    for prompt in (ROOT / "domain/prompts").glob("*.md"):
        target = tmp_path / "prompts" / prompt.name
        target.parent.mkdir(exist_ok=True)
        target.write_text(prompt.read_text(encoding="utf-8"), encoding="utf-8")
    (tmp_path / "domain.yaml").write_text(
        "compression: {profiles: [interactive], floor: 3, seconds: 5}\n", encoding="utf-8"
    )
    settings.DOMAIN_DIR = tmp_path
    settings.SCI_RAG_FAST_MODEL = "openai/fast-model"
    _connect(configured_model)
    return configured_model


def _connect(server: OpenAIServer) -> None:
    """Have litellm make its client now: of those that several threads make at once, one alone is closed."""
    model = llm.fast_model()
    assert model is not None
    server.will(says("Here."))
    # The first call of a process loads more of litellm, whatever time it has.
    for seconds in (60.0, 5.0):
        llm.complete(model, system="", user="", purpose=Purpose.PROBE, carries=NOTHING_HELD, timeout=seconds)
    server.requests.clear()


@pytest.fixture
def library(transactional_db: None) -> dict[str, Document]:
    """Three documents to be condensed, one that is only quoted verbatim, and one out of the asker's reach."""
    made = {}
    for name, body, values in (
        ("yield", YIELD, {}),
        ("delta", RANGE, {}),
        ("stores", STORES, {}),
        ("bound", BOUND, {"no_derivatives": True}),
        ("secret", SECRET, {"license_class": LicenseClass.RESTRICTED.value}),
    ):
        made[name] = DocumentFactory(title=f"Straw {name}", **values)
        passages(made[name], body)
    return made


def is_summary(request: Request) -> bool:
    return bool(request.body["model"] == "fast-model")


def summary_of(request: Request) -> Reply:
    relevance, summary = next(value for key, value in SUMMARIES.items() if key in request.prompt)
    return says(json.dumps({"relevance": relevance, "summary": summary}))


def serving(
    summarise: Callable[[Request], Reply] = summary_of, written: Reply | None = None
) -> Callable[[Request], Reply]:
    answer = written or says("Rice straw yields 210 L/kg ", "of volatile solids [1].")
    return lambda request: summarise(request) if is_summary(request) else answer


def told(by: User | None, **values: Any) -> list[AnswerEvent]:
    return list(engine.ask(question=QUESTION, requested=ANSWERS, by=by, **values))


def written_from(server: OpenAIServer) -> Request:
    (request,) = [request for request in server.requests if not is_summary(request)]
    return request


def numbers(row: Answer) -> dict[str, int]:
    return {source.title.removeprefix("Straw "): source.number for source in row.sources.order_by("number")}


def test_the_model_reads_summaries_under_the_numbers_the_sources_have(
    library: dict[str, Document], asker: User, condensing_site: OpenAIServer
) -> None:
    condensing_site.will_choose(serving())

    events = told(asker)

    row = Answer.objects.get()
    place, prompt = numbers(row), written_from(condensing_site).prompt
    assert [event.name.value for event in events][:4] == [
        "retrieval_started", "retrieval_done", "compression_done", "generation_started",
    ]  # fmt: skip
    assert set(place) == {"yield", "delta", "stores", "bound"}
    shown = {name for name, number in place.items() if f'number="{number}"' in prompt}
    assert shown == {"yield", "delta", "bound"}
    assert SUMMARIES["210 L/kg"][1] in prompt
    assert prompt.count("stirred by hand") == FILLER.count("stirred") == 8, "only the bound one is whole"
    assert BOUND.strip() in prompt


def test_what_is_only_quoted_verbatim_and_what_is_out_of_reach_is_never_sent_to_be_condensed(
    library: dict[str, Document], asker: User, condensing_site: OpenAIServer
) -> None:
    condensing_site.will_choose(serving())

    told(asker)

    sent = "\n".join(request.prompt for request in condensing_site.requests if is_summary(request))
    assert "210 L/kg" in sent
    assert "Aberlour" not in sent
    assert "377" not in "\n".join(request.prompt for request in condensing_site.requests)


def test_citations_are_held_against_the_passage_and_not_against_its_summary(
    library: dict[str, Document], asker: User, condensing_site: OpenAIServer
) -> None:
    condensing_site.will_choose(
        serving(written=says("The reactors were fed once a day by two students of the institute [1]."))
    )

    told(asker)

    row = Answer.objects.get()
    assert list(row.findings.values_list("kind", flat=True)) == ["supported"]


def test_the_tokens_before_and_after_are_measured_told_stored_and_shown(
    library: dict[str, Document], asker: User, client: Client, condensing_site: OpenAIServer
) -> None:
    condensing_site.will_choose(serving())

    events = told(asker)

    row = Answer.objects.get()
    record = row.model_parameters["compression"]
    (event,) = [event for event in events if event.name is EventName.COMPRESSION_DONE]
    assert event.data == record
    assert (record["condensed"], record["set_aside"], record["whole"]) == (2, 1, {"no_derivatives": 1})
    assert record["model"] == "openai/fast-model"
    assert record["taken"] == {"prompt": 33, "completion": 21}
    assert record["tokens"]["after"] < 0.7 * record["tokens"]["before"]
    assert row.timings.keys() == {"retrieval", "compression", "generation", "total"}
    client.force_login(asker)
    page = client.get(reverse("answer", args=[row.pk])).text
    assert f"Condensed: 4 sources, {record['tokens']['before']:,} → " in page
    assert "1 set aside as not relevant, 1 kept whole (to be quoted verbatim)." in page
    assert page.count("Unused: set aside") == 1


def test_the_record_of_the_answer_holds_the_measure_and_marks_the_source(
    library: dict[str, Document], asker: User, client: Client, condensing_site: OpenAIServer
) -> None:
    condensing_site.will_choose(serving())
    told(asker)
    row = Answer.objects.get()
    client.force_login(asker)

    record = json.loads(client.get(reverse("answer_export", args=[row.pk, "json"])).content)
    text = client.get(reverse("answer_export", args=[row.pk, "markdown"])).content.decode()

    assert record["model_parameters"]["compression"]["set_aside"] == 1
    assert "sources" not in record["model_parameters"]["compression"]
    aside = [source["number"] for source in record["sources"] if source["set_aside"]]
    assert aside == [numbers(row)["stores"]]
    assert text.count("not read by the model") == 1


def test_the_stream_says_what_was_condensed_before_the_first_word(
    library: dict[str, Document], asker: User, client: Client, condensing_site: OpenAIServer
) -> None:
    condensing_site.will_choose(serving())
    client.force_login(asker)

    stream = streamed(client, question=QUESTION)

    assert 0 < stream.index('hx-target="#condensed"') < stream.index('hx-target="#draft"')
    assert "Condensed: 4 sources" in stream


def test_the_command_says_what_was_condensed(
    library: dict[str, Document], condensing_site: OpenAIServer
) -> None:
    condensing_site.will_choose(serving())

    for_people = CliRunner().invoke(ask, [QUESTION, "--license", "open_commercial"])
    for_programs = CliRunner().invoke(ask, [QUESTION, "--license", "open_commercial", "--json"])

    assert "Note: Condensed: 4 sources" in for_people.stderr
    assert json.loads(for_programs.stdout)["compression"]["condensed"] == 2


# --- What a bad summary costs --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (says("Methane yield: 210 L/kg."), Outcome.MALFORMED),
        (says("I cannot help with that."), Outcome.MALFORMED),
        (says('{"relevance": 9, "summary": "It was 999 L/kg."}'), Outcome.FIGURES),
        (says(json.dumps({"relevance": 9, "summary": YIELD * 2})), Outcome.LONGER),
        (says('{"relevance": 9, ', ending="length"), Outcome.CUT_OFF),
        (says("{}", ending="content_filter"), Outcome.REJECTED),
        (fails(400), Outcome.REJECTED),
        (fails(429), Outcome.RATE_LIMITED),
        (HANGS, Outcome.TIMEOUT),
    ],
    ids=lambda value: value.value if isinstance(value, Outcome) else "",
)
def test_a_bad_summary_leaves_that_passage_whole_and_is_counted_by_its_reason(
    library: dict[str, Document], asker: User, condensing_site: OpenAIServer, bad: Reply, reason: Outcome
) -> None:
    condensing_site.will_choose(
        serving(lambda request: bad if "210 L/kg" in request.prompt else summary_of(request))
    )

    told(asker)

    row = Answer.objects.get()
    record = row.model_parameters["compression"]
    assert record["whole"] == {reason.value: 1, "no_derivatives": 1}
    assert record["failures"] == 1
    assert YIELD.strip() in written_from(condensing_site).prompt
    assert (row.state, row.finish) == ("done", "stop")


def test_when_everything_is_called_irrelevant_everything_is_read_whole(
    library: dict[str, Document], asker: User, condensing_site: OpenAIServer
) -> None:
    Document.objects.filter(no_derivatives=True).delete()
    condensing_site.will_choose(serving(lambda _: says('{"relevance": 0, "summary": ""}')))

    told(asker)

    record = Answer.objects.get().model_parameters["compression"]
    assert record["whole"] == {"all_irrelevant": 3}
    assert record["tokens"]["before"] == pytest.approx(record["tokens"]["after"], rel=0.1)
    assert all(body.strip() in written_from(condensing_site).prompt for body in (YIELD, RANGE, STORES))


def test_a_fast_model_that_hangs_delays_the_answer_by_its_time_and_no_more(
    library: dict[str, Document], asker: User, condensing_site: OpenAIServer
) -> None:
    condensing_site.will_choose(serving(lambda _: HANGS))
    started = time.monotonic()

    told(asker)

    row = Answer.objects.get()
    assert time.monotonic() - started < 5 + 10
    assert row.timings["compression"] < 7_500
    assert row.model_parameters["compression"]["whole"] == {"no_derivatives": 1, "timeout": 3}
    assert (row.state, row.finish) == ("done", "stop")


def test_a_fast_model_that_keeps_failing_is_left_alone_and_answers_are_still_written(
    library: dict[str, Document], asker: User, condensing_site: OpenAIServer, settings: Settings
) -> None:
    settings.SCI_RAG_FAST_MODEL = ""
    broken = fails(503)
    condensing_site.will_choose(
        lambda request: broken if "You condense" in request.prompt else says("It is 210 L/kg [1].")
    )

    told(asker)
    before = len(condensing_site.requests)
    told(asker)

    assert len(condensing_site.requests) == before + 1, "the second answer asks for no summary"
    assert list(Answer.objects.values_list("finish", flat=True)) == ["stop", "stop"]
    last = Answer.objects.order_by("-created_at", "-id").first()
    assert last is not None
    assert last.model_parameters["compression"]["whole"] == {"no_derivatives": 1, "unavailable": 3}


def test_no_connection_is_held_while_sources_are_condensed(
    library: dict[str, Document],
    asker: User,
    condensing_site: OpenAIServer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    condensing_site.will_choose(serving())
    held = []

    def waiting(*futures: Any, **limits: Any) -> Any:
        held.append(connection.connection is not None)
        return wait(*futures, **limits)

    monkeypatch.setattr(compression, "wait", waiting)

    told(asker)

    assert held == [False]


# --- When it is off ------------------------------------------------------------------------------


def test_it_is_off_where_the_profile_does_not_name_the_search(
    library: dict[str, Document], asker: User, condensing_site: OpenAIServer, settings: Settings
) -> None:
    settings.DOMAIN_DIR = ROOT / "domain"
    condensing_site.will_choose(serving())

    events = told(asker)

    assert EventName.COMPRESSION_DONE not in [event.name for event in events]
    assert "compression" not in Answer.objects.get().model_parameters
    assert [is_summary(request) for request in condensing_site.requests] == [False]


def test_the_extractive_engine_quotes_and_is_never_given_summaries(
    library: dict[str, Document], asker: User, condensing_site: OpenAIServer
) -> None:
    told(asker, engine="extractive")

    assert condensing_site.requests == []
    assert "compression" not in Answer.objects.get().model_parameters


# --- When whoever asks says it -------------------------------------------------------------------


@pytest.mark.parametrize("asked", [True, False])
def test_whoever_asks_may_have_it_or_not_whatever_the_profile_says(
    library: dict[str, Document], asker: User, condensing_site: OpenAIServer, settings: Settings, asked: bool
) -> None:
    if asked:
        settings.DOMAIN_DIR = ROOT / "domain"
    condensing_site.will_choose(serving())

    told(asker, compressed=asked)

    assert ("compression" in Answer.objects.get().model_parameters) is asked
    assert any(map(is_summary, condensing_site.requests)) is asked


def test_the_command_has_an_option_for_it(
    library: dict[str, Document], condensing_site: OpenAIServer
) -> None:
    condensing_site.will_choose(serving())

    result = CliRunner().invoke(ask, [QUESTION, "--license", "open_commercial", "--no-compression", "--json"])

    assert json.loads(result.stdout)["compression"] is None


def test_every_call_of_an_answer_is_charged_to_its_asker_whichever_thread_makes_it(
    library: dict[str, Document], asker: User, condensing_site: OpenAIServer
) -> None:
    def reply(request: Request) -> Reply:
        is_known = any(key in request.prompt for key in SUMMARIES) and "relevance" in request.prompt
        return serving()(request) if is_known or not is_summary(request) else says('{"names": ["straw"]}')

    condensing_site.will_choose(reply)
    ledger.settle(20)
    ModelUse.objects.all().delete()

    told(asker, profile="deep", compressed=True)

    assert ledger.settle(20)
    rows = ModelUse.objects.all()
    calls = {row.purpose: row.calls for row in rows}
    assert {row.user_id for row in rows} == {asker.pk}
    assert set(calls) == {"answer", "compression", "hyde", "names"}
    assert calls["compression"] == 3
    assert sum(calls.values()) == len(condensing_site.requests)
