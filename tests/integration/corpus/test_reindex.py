"""Moving the corpus to another embedding version while people ask: nothing fails and nothing mixes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import pairwise
from threading import Event, Thread
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from django.db import connection
from django.db.backends.utils import CursorWrapper
from django.utils import timezone

from corpus import reembedding, vectors
from corpus.actions import deletion, documents
from corpus.cli_embed import embed as commands
from corpus.egress import NOTHING_HELD
from corpus.gateways.embedding import EmbeddingError, embedder_of
from corpus.models import Chunk, ChunkEmbedding, Document, EmbeddingVersion
from corpus.reembedding import SwitchRefused
from corpus.scope import scope
from retrieval.retriever import retrieve
from tests.integration.corpus.ingesting import paper, take, write
from tests.integration.retrieval.corpora import add

pytestmark = pytest.mark.django_db(transaction=True)

OLD, NEW = "all-MiniLM-L6-v2@384", "all-MiniLM-L6-v2@256"
CROPS = ("barley", "maize", "rice", "sorghum", "wheat")
TREATMENTS = ("biochar", "compost", "digestate", "gypsum", "lime", "manure")
EFFECTS = ("held more water", "lost less nitrogen", "grew taller", "yielded more grain", "rotted sooner")
QUESTIONS = [f"What did {treatment} do to {crop}?" for treatment in TREATMENTS[:3] for crop in CROPS[:2]]


def bodies(count: int) -> Iterator[str]:
    for number in range(count):
        crop, treatment = CROPS[number % 5], TREATMENTS[number // 5 % 6]
        yield f"Plot {number}: with {treatment}, {crop} {EFFECTS[number // 30 % 5]}."


def fill_corpus(passages: int, *, per_document: int = 20) -> list[Document]:
    texts = list(bodies(passages))
    return [
        add(f"Trial {start}", texts[start : start + per_document], license_class="public")
        for start in range(0, passages, per_document)
    ]


@dataclass
class Asker:
    """Asks without pause in a thread of its own, and keeps what came back."""

    stop: Event
    answers: list[tuple[str, str, tuple[str, ...], tuple[str, ...]]] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)

    def __call__(self) -> None:
        try:
            while not self.stop.is_set():
                for question in QUESTIONS:
                    self.answers.append(asked(question))
        except Exception as error:  # noqa: BLE001 - a thread's failure is what the test looks for
            self.failures.append(repr(error))
        finally:
            connection.close()


def asked(question: str) -> tuple[str, str, tuple[str, ...], tuple[str, ...]]:
    result = retrieve(question=question, scope=scope(license_classes=["public"]))
    return question, result.embedding_version, tuple(item.id for item in result.items), result.degraded


class Unwatched:
    def begin(self, total: int) -> None: ...
    def advance(self, count: int) -> None: ...


def reindex(version: str = NEW, *, switches: bool = True, **options: Any) -> reembedding.Coverage:
    return reembedding.reindex(
        embedder=embedder_of(version), switches=switches, watcher=Unwatched(), **options
    )


@pytest.fixture
def searches(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, Sequence[Any]]]:
    """Collect the statements of all threads that compare vectors, with their parameters."""
    seen: list[tuple[str, Sequence[Any]]] = []
    execute = CursorWrapper.execute

    def remembering(self: CursorWrapper, sql: Any, params: Any = None) -> Any:
        if "<=>" in str(sql):
            seen.append((str(sql), params))
        return execute(self, sql, params)

    monkeypatch.setattr(CursorWrapper, "execute", remembering)
    return seen


def test_people_who_ask_meanwhile_get_the_old_results_and_then_the_new(searches) -> None:
    fill_corpus(300)
    before = {question: asked(question) for question in QUESTIONS}
    stop = Event()
    askers = [Asker(stop) for _ in range(3)]
    threads = [Thread(target=asker) for asker in askers]
    for thread in threads:
        thread.start()

    reached = reindex(batch=32)
    after = {question: asked(question) for question in QUESTIONS}
    stop.set()
    for thread in threads:
        thread.join(60)

    assert (reached.version, reached.is_active, reached.missing) == (NEW, True, 0)
    assert [asker.failures for asker in askers] == [[], [], []]
    expected = {OLD: before, NEW: after}
    for asker in askers:
        assert {version for _, version, _, _ in asker.answers} <= {OLD, NEW}
        for answer in asker.answers:
            assert answer == expected[answer[1]][answer[0]]
            assert answer[3] == ()
        # Never back to the old one.
        order = [version == NEW for _, version, _, _ in asker.answers]
        assert all(earlier <= later for earlier, later in pairwise(order))
    assert any(answer[1] == OLD for asker in askers for answer in asker.answers)
    keys = dict(EmbeddingVersion.objects.values_list("pk", "dimensions"))
    assert searches
    for statement, parameters in searches:
        assert "WHERE embedding.version_id = %s" in statement
        vector, version = parameters[-3:-1]
        assert len(json.loads(vector)) == keys[version]


def test_documents_that_come_and_go_meanwhile_are_all_found_by_the_new_version() -> None:
    kept = fill_corpus(120)
    stop = Event()

    def come_and_go() -> None:
        try:
            for number, document in enumerate(kept[:3]):
                add(f"Late {number}", [f"Late passage {number} about lime."], license_class="public")
                deletion.delete(document_id=document.pk)
        finally:
            stop.set()
            connection.close()

    class Slow:
        """Lets the others in between two batches."""

        version, dimensions = NEW, 256

        def embed(self, texts: Sequence[str], *, task: Any, carries: Any) -> Any:
            stop.wait(0.2)
            return embedder_of(NEW).embed(texts, task=task, carries=carries)

    thread = Thread(target=come_and_go)
    thread.start()
    reached = reembedding.reindex(embedder=Slow(), switches=True, watcher=Unwatched(), batch=16)
    thread.join(60)
    # What came after the switch was stored under the version that was active then.
    assert reached.is_active
    active = vectors.active_version()
    assert active is not None
    late = Chunk.objects.filter(body__startswith="Late")
    assert late.count() == 3
    assert reembedding.missing(active) == 0
    assert ChunkEmbedding.objects.filter(version=active).count() == Chunk.objects.count()


def test_an_interrupted_run_goes_on_where_it_was() -> None:
    fill_corpus(100)

    class Failing:
        version, dimensions = NEW, 256

        def __init__(self, texts: int) -> None:
            self.left = texts
            self.embedded: list[str] = []

        def embed(self, texts: Sequence[str], *, task: Any, carries: Any) -> Any:
            if len(texts) > self.left:
                raise EmbeddingError("The provider did not answer.")
            self.left -= len(texts)
            self.embedded += texts
            return embedder_of(NEW).embed(texts, task=task, carries=carries)

    first, second = Failing(60), Failing(1000)
    with pytest.raises(EmbeddingError):
        reembedding.reindex(embedder=first, switches=True, watcher=Unwatched(), batch=20)
    assert asked(QUESTIONS[0])[1] == OLD

    reached = reembedding.reindex(embedder=second, switches=True, watcher=Unwatched(), batch=20)

    assert reached.is_active
    assert (len(first.embedded), len(second.embedded)) == (60, 40)
    assert not set(first.embedded) & set(second.embedded)


def test_the_way_back_is_a_switch_and_gives_the_old_results() -> None:
    fill_corpus(60)
    before = [asked(question) for question in QUESTIONS]
    reindex()

    assert reembedding.switch(EmbeddingVersion.objects.get(name=OLD))

    assert [asked(question) for question in QUESTIONS] == before
    assert not reembedding.switch(EmbeddingVersion.objects.get(name=OLD))


def test_without_switching_questions_stay_with_the_old_version() -> None:
    fill_corpus(40)

    assert not reindex(switches=False).is_active

    assert asked(QUESTIONS[0])[1] == OLD


def test_a_version_with_a_passage_missing_does_not_become_active() -> None:
    fill_corpus(40)
    reindex(switches=False)
    add("Newcomer", ["A passage that only the old version knows."])
    new = EmbeddingVersion.objects.get(name=NEW)

    with pytest.raises(SwitchRefused, match="1 passages"):
        reembedding.switch(new)

    assert vectors.active_version() == EmbeddingVersion.objects.get(name=OLD)
    assert reindex().is_active


def test_a_version_in_use_or_just_retired_is_not_dropped_and_an_old_one_is() -> None:
    fill_corpus(40)
    reindex()
    old, new = EmbeddingVersion.objects.get(name=OLD), EmbeddingVersion.objects.get(name=NEW)

    with pytest.raises(SwitchRefused, match="questions use"):
        reembedding.drop(new)
    with pytest.raises(SwitchRefused, match="moment ago"):
        reembedding.drop(old)
    EmbeddingVersion.objects.filter(pk=old.pk).update(retired_at=timezone.now() - timedelta(hours=1))

    assert reembedding.drop(old) == 40
    assert list(EmbeddingVersion.objects.values_list("name", flat=True)) == [NEW]
    assert ChunkEmbedding.objects.count() == 40


def test_passages_are_not_stored_under_a_version_that_was_retired_meanwhile() -> None:
    fill_corpus(20)
    old = vectors.active_version()
    assert old is not None
    reindex()

    with pytest.raises(vectors.VersionSwitched):
        documents.store(
            prepared=None,
            vectors_of_passages=None,
            version=old,
            bucket="local",  # type: ignore[arg-type]
        )


def test_the_offline_model_with_fewer_dimensions_is_its_beginning_at_unit_length() -> None:
    whole = embedder_of(OLD).embed(["Biochar holds water."], task="document", carries=NOTHING_HELD)[0]
    part = embedder_of(NEW).embed(["Biochar holds water."], task="document", carries=NOTHING_HELD)[0]

    beginning = whole[:256] / np.linalg.norm(whole[:256])
    assert np.allclose(part, beginning, atol=1e-6)


def test_the_commands_report_plan_do_and_undo() -> None:
    fill_corpus(30)
    run = CliRunner().invoke

    planned = json.loads(run(commands, ["reindex", "--dimensions", "256", "--dry-run", "--json"]).stdout)
    assert (planned["version"], planned["missing"], planned["dry_run"]) == (NEW, 30, True)
    assert not EmbeddingVersion.objects.filter(name=NEW).exists()

    done = json.loads(run(commands, ["reindex", "--dimensions", "256", "--json"]).stdout)
    assert (done["is_active"], done["embedded"], done["missing"]) == (True, 30, 0)
    listed = json.loads(run(commands, ["status", "--json"]).stdout)["versions"]
    assert [(row["version"], row["is_active"]) for row in listed] == [(NEW, True), (OLD, False)]
    assert "Questions use" in run(commands, ["switch", OLD]).stdout
    refused = run(commands, ["drop", OLD])
    assert (refused.exit_code, "Traceback" in refused.output) == (1, False)
    assert run(commands, ["drop", "nothing@1"]).exit_code == 1
    assert run(commands, ["reindex", "--model", "openai/some"]).exit_code == 2
    assert run(commands, ["reindex", "--dimensions", "4000"]).exit_code == 1


def test_a_run_that_a_switch_overtakes_embeds_its_files_in_the_new_version(tmp_path, settings) -> None:
    settings.MEDIA_ROOT = tmp_path / "media"
    fill_corpus(20)
    reindex(switches=False)

    class Overtaken:
        """The old version's embedder, slower than somebody who switches."""

        version, dimensions = OLD, 384

        def embed(self, texts: Sequence[str], *, task: Any, carries: Any) -> Any:
            reembedding.switch(EmbeddingVersion.objects.get(name=NEW))
            return embedder_of(OLD).embed(texts, task=task, carries=carries)

    report = take(
        write(tmp_path, "one.md", paper("30 days")),
        write(tmp_path, "two.md", paper("90 days")),
        embedder=Overtaken(),
    )

    assert [item.outcome for item in report.reports] == ["ready", "ready"]
    active = vectors.active_version()
    assert active is not None
    assert (active.name, reembedding.missing(active)) == (NEW, 0)


def test_a_corpus_too_large_for_exact_ranking_has_its_index_before_the_switch(monkeypatch) -> None:
    fill_corpus(40)
    monkeypatch.setattr(vectors, "index_bound", lambda: 20)
    indexed: list[bool] = []
    switching = reembedding.switch

    def switch(version: EmbeddingVersion) -> bool:
        indexed.append(vectors.has_index(version))
        return switching(version)

    monkeypatch.setattr(reembedding, "switch", switch)

    assert reindex().indexed
    assert indexed == [True]
    retired = EmbeddingVersion.objects.get(name=OLD)
    vectors.build_index(retired)
    EmbeddingVersion.objects.filter(pk=retired.pk).update(retired_at=None)
    reembedding.drop(retired)
    assert not vectors.has_index(retired)
