"""What its licence keeps from a provider does not get there, whoever asks: every purpose, one border."""

import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from pytest_django.fixtures import Settings

from answers import engine
from answers.events import EventName
from answers.models import EXTRACTIVE, Answer
from answers.withholding import HEADING
from corpus import egress, reembedding
from corpus.gateways import border, embedding, llm
from corpus.gateways.embedding.hosted import HostedEmbedder
from corpus.models import Chunk, ChunkEmbedding, Document
from corpus.prompt_files import prompt_file
from corpus.rights import LicenseClass
from corpus.scope import scope
from evaluation.drafting import proposing
from evaluation.judging import passes
from evaluation.judging.prompts import Source
from retrieval.graph.communities.drafting import Draft
from retrieval.graph.communities.summarising import Modelled, NotSummarised
from retrieval.graph.extraction.model import ModelExtractor
from retrieval.graph.extraction.types import Batch, BatchFailed, Passage
from retrieval.graph.ontology import active_ontology
from retrieval.graph.resolution import asking
from retrieval.graph.resolution.types import Method, Named, Pair
from retrieval.retriever import retrieve
from tests.factories.corpus import DocumentFactory
from tests.factories.graph import EntityFactory, MentionFactory
from tests.integration.answers.conftest import RESTRICTED, passages
from tests.loopback.fixtures import KEY_CANARY, forget_clients
from tests.loopback.openai_server import OpenAIServer, says

pytestmark = pytest.mark.django_db(transaction=True)
ROOT = Path(__file__).resolve().parents[3]
QUESTION = "What is the methane yield of rice straw?"
EVERYTHING = scope(exclude_retracted=True)
CANARY = "Zanzibar"


@pytest.fixture(scope="module", autouse=True)
def _close_clients() -> Iterator[None]:
    yield
    forget_clients()


@pytest.fixture(autouse=True)
def _fresh(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr("corpus.gateways.llm._PAUSE", 0.01)
    yield
    llm._configured.cache_clear()
    embedding.forget()


@pytest.fixture
def outside(settings: Settings, tmp_path: Path, configured_model: OpenAIServer) -> OpenAIServer:
    """A provider that the table calls somebody else's, and no model of our own."""
    for file in (ROOT / "domain").rglob("*.*"):
        if file.suffix in {".md", ".yaml", ".txt"} and "demo" not in file.parts:
            target = tmp_path / file.relative_to(ROOT / "domain")
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(file.read_bytes())
    (tmp_path / "egress.yaml").write_text("local: []\n", encoding="utf-8")
    settings.DOMAIN_DIR = tmp_path
    llm._configured.cache_clear()
    configured_model.will(says("Rice straw yields 210 L/kg [1]."))
    return configured_model


def sent(server: OpenAIServer) -> str:
    return "\n".join(json.dumps(request.body, ensure_ascii=False) for request in server.requests)


def model() -> llm.ChatModel:
    found = llm.chat_model()
    assert found is not None
    return found


def secret_passage(corpus: dict[str, Document]) -> Chunk:
    return Chunk.objects.select_related("document").get(document=corpus["secret"])


def answers(_: dict[str, Document], __: OpenAIServer) -> None:
    engine.answer(question=QUESTION, requested=EVERYTHING, by=None)


def condenses(_: dict[str, Document], server: OpenAIServer) -> None:
    passages(DocumentFactory(license_class=LicenseClass.RESTRICTED.value), f"{RESTRICTED} {RESTRICTED}")
    engine.answer(question=QUESTION, requested=EVERYTHING, by=None, compressed=True)
    # What is left are the requests of the condensing model.
    server.requests[:] = [request for request in server.requests if "relevance" in request.prompt]


def reranks(_: dict[str, Document], __: OpenAIServer) -> None:
    retrieve(question=QUESTION, scope=EVERYTHING, reranker="model")


def extracts(corpus: dict[str, Document], __: OpenAIServer) -> None:
    passage = secret_passage(corpus)
    batch = Batch(
        str(passage.document_id),
        (Passage(passage.pk, passage.body, passage.content_sha256),),
        (passage.body,),
    )
    extractor = ModelExtractor(active_ontology(), prompt_file("extract_graph"), model=model())
    with suppress(BatchFailed):
        extractor.read(batch)


def summarises(corpus: dict[str, Document], __: OpenAIServer) -> None:
    draft = Draft(0, "key", None, (), (corpus["straw"].pk, corpus["secret"].pk), ("straw",), (RESTRICTED,))
    with suppress(NotSummarised):
        Modelled(model(), prompt_file("community_summary")).write(draft)


def resolves(corpus: dict[str, Document], __: OpenAIServer) -> None:
    passage = secret_passage(corpus)
    named = {}
    for name in ("Zanzibar Biogas", "Zanzibar Biogass"):
        entity = EntityFactory(type="organisation", name=name)
        start = passage.body.index("Zanzibar")
        MentionFactory(entity=entity, chunk=passage, surface=name, start=start)
        named[entity.pk] = Named(entity.pk, entity.type, entity.key, name, frozenset({name}))
    low, high = sorted(named)
    pair = Pair(low, high, 3, Method.SLIP, 0.9)
    asked = asking.question([pair], named, readable=model().readable(asking.Purpose.RESOLUTION))
    asking.judge(model(), asked)


def judges(corpus: dict[str, Document], __: OpenAIServer) -> None:
    source = Source(1, "Calder", "", RESTRICTED, corpus["secret"].license_class)
    passes.grounding(judge=model(), question=QUESTION, answer="377 L/kg [1].", sources=[source])


def drafts(corpus: dict[str, Document], __: OpenAIServer) -> None:
    with suppress(proposing.Dropped):
        proposing.by_model(model())(secret_passage(corpus))


class _Unwatched:
    def begin(self, total: int) -> None: ...
    def advance(self, count: int) -> None: ...


def embeds(_: dict[str, Document], server: OpenAIServer) -> None:
    embedder = HostedEmbedder(model="openai/test", dimensions=384, api_base=server.base_url, api_key="k")
    embedding.embedder_of.cache_clear()
    reembedding.fill(version=reembedding.version_for(embedder), embedder=embedder, watcher=_Unwatched())


PURPOSES = [answers, condenses, reranks, extracts, summarises, resolves, judges, drafts, embeds]
# Those that leave out what a model may not read, before the border would stop the whole request.
SELECTING = [answers, reranks, resolves]


@pytest.mark.parametrize("use", PURPOSES)
def test_restricted_text_reaches_no_outside_provider(
    use: Callable[[dict[str, Document], OpenAIServer], None],
    small_corpus: dict[str, Document],
    outside: OpenAIServer,
    settings: Settings,
) -> None:
    settings.SCI_RAG_EMBEDDING_API_BASE = outside.base_url
    use(small_corpus, outside)

    assert CANARY not in sent(outside)


@pytest.mark.parametrize("use", PURPOSES)
def test_without_the_table_it_would(
    use: Callable[[dict[str, Document], OpenAIServer], None],
    small_corpus: dict[str, Document],
    outside: OpenAIServer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The mutant that allows everything is seen for every purpose: each test above can fail."""
    monkeypatch.setattr(egress.EgressPolicy, "allowed", lambda *_: egress.EVERY_CLASS)

    use(small_corpus, outside)

    assert CANARY in sent(outside)


@pytest.mark.parametrize("use", [use for use in PURPOSES if use not in SELECTING])
def test_without_the_border_it_would(
    use: Callable[[dict[str, Document], OpenAIServer], None],
    small_corpus: dict[str, Document],
    outside: OpenAIServer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The mutant that removes the check is seen wherever nothing else stands before it."""
    monkeypatch.setattr(border, "cross", lambda *_: None)
    monkeypatch.setattr(HostedEmbedder, "readable", egress.EVERY_CLASS)

    use(small_corpus, outside)

    assert CANARY in sent(outside)


def test_sources_that_may_not_go_are_quoted_beside_what_the_model_writes(
    small_corpus: dict[str, Document], outside: OpenAIServer, client: Client, librarian: User
) -> None:
    events = list(engine.ask(question=QUESTION, requested=EVERYTHING, by=librarian))
    answer = Answer.objects.get()
    secret = answer.sources.get(document=small_corpus["secret"]).number
    begun = next(event for event in events if event.name == EventName.GENERATION_STARTED)
    client.force_login(librarian)
    page = client.get(reverse("answer", args=[answer.pk])).content.decode()

    written, _, quoted = answer.text.partition(HEADING)
    assert (answer.engine, answer.finish) == ("model", Answer.Finish.STOP)
    assert begun.data["withheld"] == answer.model_parameters["withheld"] == [secret]
    assert written.strip() == "Rice straw yields 210 L/kg [1]."
    assert "377 L/kg" in quoted
    assert f"[{secret}]" in quoted
    assert f"The licence of source {secret} keeps it from the language model" in page
    assert page.count("Not sent to the model") == 1
    assert not answer.findings.filter(kind="uncited").exists()


def test_a_refusal_of_the_model_does_not_hide_what_it_could_not_read(
    small_corpus: dict[str, Document], outside: OpenAIServer
) -> None:
    outside.will(says("The sources do not answer this question."))

    answer = engine.answer(question=QUESTION, requested=EVERYTHING, by=None)

    assert answer.finish == Answer.Finish.STOP
    assert "377 L/kg" in answer.text


def test_where_no_source_may_go_the_extractive_engine_answers_alone(
    small_corpus: dict[str, Document], outside: OpenAIServer
) -> None:
    Document.objects.update(license_class=LicenseClass.UNKNOWN.value)

    answer = engine.answer(question=QUESTION, requested=EVERYTHING, by=None)

    assert (answer.engine, answer.model, answer.finish) == (EXTRACTIVE, "", Answer.Finish.STOP)
    assert len(answer.model_parameters["withheld"]) == answer.sources.count()
    assert outside.requests == []


def test_a_table_that_cannot_be_read_lets_nothing_held_leave(
    small_corpus: dict[str, Document], outside: OpenAIServer, settings: Settings
) -> None:
    (settings.DOMAIN_DIR / "egress.yaml").write_text("outside: [everything]\n", encoding="utf-8")

    answer = engine.answer(question=QUESTION, requested=EVERYTHING, by=None)

    assert (answer.engine, answer.finish) == (EXTRACTIVE, Answer.Finish.STOP)
    assert outside.requests == []


def test_on_this_machine_the_model_reads_everything(
    small_corpus: dict[str, Document], configured_model: OpenAIServer
) -> None:
    configured_model.will(says("At Calder it was 377 L/kg [1]."))

    answer = engine.answer(question=QUESTION, requested=EVERYTHING, by=None)

    assert "withheld" not in answer.model_parameters
    assert CANARY in sent(configured_model)


def test_the_reranker_orders_the_others_around_what_it_may_not_read(
    small_corpus: dict[str, Document], outside: OpenAIServer
) -> None:
    before = retrieve(question=QUESTION, scope=EVERYTHING)
    place = [item.document_id for item in before.items].index(str(small_corpus["secret"].pk))
    outside.will_choose(
        lambda request: says(json.dumps({"grades": list(range(request.prompt.count(" number=") - 1))}))
    )

    found = retrieve(question=QUESTION, scope=EVERYTHING, reranker="model")

    (trace,) = [trace for trace in found.traces if trace.stage == "reranker"]
    assert (trace.status, trace.reason) == ("ok", "1 withheld by licence")
    assert [item.document_id for item in found.items].index(str(small_corpus["secret"].pk)) == place
    assert [item.id for item in found.items] != [item.id for item in before.items]


def test_a_judge_that_may_not_read_the_sources_grades_nothing(outside: OpenAIServer) -> None:
    source = Source(1, "Calder", "", RESTRICTED, "restricted")

    reply = passes.grounding(judge=model(), question=QUESTION, answer="377 L/kg [1].", sources=[source])

    assert (reply.grades, reply.error_code) == ({}, "withheld")


def test_what_may_have_no_vector_is_not_waited_for(
    small_corpus: dict[str, Document], outside: OpenAIServer, settings: Settings
) -> None:
    settings.SCI_RAG_EMBEDDING_MODEL = "openai/test"
    settings.SCI_RAG_EMBEDDING_API_BASE = outside.base_url
    settings.SCI_RAG_EMBEDDING_API_KEY = KEY_CANARY
    embedding.forget()
    embedder = embedding.embedder_of("openai/test@384")

    reached = reembedding.reindex(embedder=embedder, switches=True, watcher=_Unwatched())

    assert (reached.is_active, reached.missing) == (True, 0)
    assert not ChunkEmbedding.objects.filter(
        version__name="openai/test@384", document=small_corpus["secret"]
    ).exists()
    Document.objects.filter(pk=small_corpus["secret"].pk).update(license_class="public")
    assert reembedding.missing(reembedding.version_for(embedder)) == 1
