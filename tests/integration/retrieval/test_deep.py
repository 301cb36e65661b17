"""The deep profile: search probes, reranking, routing and switches, with a real server for a model."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.db import connection

from corpus.domain_profile import DomainProfile, RerankerProfile
from corpus.gateways import cross_encoder
from corpus.scope import scope
from retrieval import retriever
from retrieval.profiles import UnknownLayer
from retrieval.retriever import retrieve
from tests.integration.retrieval import onnx_file
from tests.integration.retrieval.corpora import add
from tests.loopback.fixtures import forget_clients
from tests.loopback.openai_server import EMPTY, HANGS, OpenAIServer, fails, says

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _connections() -> Iterator[None]:
    yield
    forget_clients()


QUESTION = "Which material was left standing longest?"
PROBE = "Grass silage gave 342 litres of methane per kilogram of volatile solids."
METHANE = "Batch tests of grass silage yielded 342 L of methane per kg of volatile solids."
BIOCHAR = "Biochar raised the plant-available water of a sandy loam."
BALES = "Bales were stacked no higher than six metres."


@pytest.fixture
def papers() -> None:
    for name, body in (("Silage", METHANE), ("Biochar", BIOCHAR), ("Bales", BALES)):
        add(name, [body], license_class="public")


# Ways of searching that use the database at once; those of models are looked at without them.
OTHERS = ("vector", "keyword", "graph", "community")


def trace(result: Any, stage: str) -> Any:
    return next(one for one in result.traces if one.stage == stage)


def rerank_with(monkeypatch: pytest.MonkeyPatch, kind: str, **options: Any) -> None:
    profile = DomainProfile(reranker=RerankerProfile(kind=kind, **options))  # type: ignore[arg-type]
    monkeypatch.setattr(retriever, "active_profile", lambda: profile)


@pytest.mark.usefixtures("papers")
def test_without_a_model_probing_is_disabled_and_nothing_is_degraded() -> None:
    result = retrieve(question=QUESTION, scope=scope(), profile="deep")

    assert trace(result, "hyde").status == "disabled"
    assert result.degraded == ()
    assert result.items


@pytest.mark.usefixtures("papers")
def test_a_probe_finds_what_shares_no_word_with_the_question(configured_model: OpenAIServer) -> None:
    configured_model.will(says(PROBE))

    result = retrieve(question=QUESTION, scope=scope(), profile="deep", switches={"vector": False})

    assert result.items[0].body == METHANE
    assert result.items[0].ranks["hyde"] == 1
    assert trace(result, "hyde").mode == "exact"


@pytest.mark.usefixtures("papers")
def test_the_probe_is_neither_returned_nor_logged(
    configured_model: OpenAIServer, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    configured_model.will(says("quokka-canary " + PROBE))

    result = retrieve(question=QUESTION, scope=scope(), profile="deep")

    assert trace(result, "hyde").status == "ok"
    assert "quokka" not in json.dumps(result.as_dict())
    captured = capsys.readouterr()
    assert "quokka" not in caplog.text + captured.out + captured.err


@pytest.mark.usefixtures("papers")
def test_the_probe_is_asked_for_in_the_style_of_the_kind_of_question(configured_model: OpenAIServer) -> None:
    configured_model.will(says(PROBE))

    retrieve(question="Why do bales heat?", scope=scope(), profile="deep")

    assert any("names the mechanism" in request.prompt for request in configured_model.requests)


@pytest.mark.parametrize("reply", [fails(500), fails(401), EMPTY, says("   ")])
def test_a_model_that_fails_is_an_error_of_its_layer_and_never_empty(
    configured_model: OpenAIServer, reply: Any
) -> None:
    add("Silage", [METHANE])
    configured_model.will(reply)

    result = retrieve(question=QUESTION, scope=scope(), profile="deep")

    assert trace(result, "hyde").status == trace(result, "graph").status == "error"
    assert result.degraded == ("graph", "hyde")
    assert [item.body for item in result.items] == [METHANE]


def test_a_model_that_hangs_is_cut_and_the_others_stand(
    configured_model: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    add("Silage", [METHANE])
    monkeypatch.setattr("retrieval.layers.hyde.MODEL_SECONDS", 0.5)
    configured_model.will(HANGS)

    monkeypatch.setattr("retrieval.graph.question_names.MODEL_SECONDS", 0.5)

    result = retrieve(question=QUESTION, scope=scope(), profile="deep")

    assert trace(result, "hyde").status == trace(result, "graph").status == "error"
    assert trace(result, "hyde").milliseconds < 3_000
    assert result.items


@pytest.mark.usefixtures("papers")
def test_no_connection_is_held_while_a_model_writes_or_grades(
    configured_model: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    rerank_with(monkeypatch, "model")
    held: list[int] = []
    answer = configured_model.next_reply

    def looking() -> Any:
        pool = connection.pool.get_stats()
        held.append(pool["pool_size"] - pool["pool_available"])
        return answer()

    monkeypatch.setattr(configured_model, "next_reply", looking)
    configured_model.will(says(PROBE), says('{"grades": [1, 2, 3]}'))

    retrieve(question=QUESTION, scope=scope(), profile="deep", switches=dict.fromkeys(OTHERS, False))

    assert held == [0, 0]


def test_probing_ranks_only_what_is_eligible(configured_model: OpenAIServer) -> None:
    add("Open", [BIOCHAR], license_class="public")
    add("Closed", [METHANE], license_class="restricted")
    configured_model.will(says(PROBE))

    result = retrieve(question=QUESTION, scope=scope(license_classes=["public"]), profile="deep")

    assert [item.body for item in result.items] == [BIOCHAR]
    assert trace(result, "hyde").candidates == 1


def test_a_denied_scope_calls_no_model(configured_model: OpenAIServer) -> None:
    configured_model.will(says(PROBE))

    retrieve(question=QUESTION, scope=scope(license_classes=[]), profile="deep")

    assert configured_model.requests == []


@pytest.mark.usefixtures("papers")
def test_the_model_orders_the_best_passages_anew(
    configured_model: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    rerank_with(monkeypatch, "model")
    before = [item.body for item in retrieve(question=METHANE, scope=scope(), reranker="none").items]
    configured_model.will(says('{"grades": [0, 4, 9]}'))

    result = retrieve(question=METHANE, scope=scope())

    assert [item.body for item in result.items] == before[::-1]
    assert trace(result, "reranker").mode == "model"


@pytest.mark.usefixtures("papers")
@pytest.mark.parametrize(
    "reply",
    [
        says("I think the first one."),
        says('{"grades": [1, 2]}'),
        says('{"grades": [1, 2, 11]}'),
        says('{"grades": [1, 2, true]}'),
        says('{"grades": [1, 2, 2.5]}'),
        says('{"grades": "123"}'),
        says("[1, 2, 3]"),
        says("[" * 5000),
        fails(500),
    ],
)
def test_grades_that_are_not_what_was_asked_keep_the_fused_order(
    configured_model: OpenAIServer, monkeypatch: pytest.MonkeyPatch, reply: Any
) -> None:
    rerank_with(monkeypatch, "model")
    before = [item.body for item in retrieve(question=METHANE, scope=scope(), reranker="none").items]
    configured_model.will(reply)

    result = retrieve(question=METHANE, scope=scope())

    assert [item.body for item in result.items] == before
    assert trace(result, "reranker").status == "error"
    assert result.degraded == ("reranker",)


@pytest.mark.usefixtures("papers")
def test_a_superseded_passage_keeps_its_share_when_reranked(
    configured_model: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = add("Old", ["The yield of grass silage was 300 L of methane."], license_class="public")
    new = add("New", ["Grass silage now yields 342 L of methane per kg."], license_class="public")
    type(old).objects.filter(pk=old.pk).update(status="superseded", superseded_by=new)
    rerank_with(monkeypatch, "model")
    before = retrieve(question="grass silage methane", scope=scope(), reranker="none", limit=5).items
    grades = [9 if item.superseded else 5 for item in before]
    configured_model.will(says(json.dumps({"grades": grades})))

    result = retrieve(question="grass silage methane", scope=scope(), limit=5)

    assert result.items[-1].superseded


def test_a_local_cross_encoder_orders_the_best_passages(
    tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    add("Few", ["methane silage"], license_class="public")
    add("Many", ["zeolite zeolite"], license_class="public")
    onnx_file.write(tmp_path, ["none", "silage", "methane", "water", "zeolite"])
    settings.SCI_RAG_CROSS_ENCODER_DIR = str(tmp_path)
    rerank_with(monkeypatch, "cross_encoder")

    result = retrieve(question="methane silage", scope=scope())

    assert [item.title for item in result.items] == ["Many", "Few"]
    assert trace(result, "reranker").mode == "cross_encoder"


@pytest.mark.usefixtures("papers")
def test_a_cross_encoder_folder_without_a_model_is_an_error_that_names_the_setting(
    tmp_path: Path, settings: Any
) -> None:
    settings.SCI_RAG_CROSS_ENCODER_DIR = str(tmp_path)

    result = retrieve(question=METHANE, scope=scope(), reranker="cross_encoder")

    assert trace(result, "reranker").status == "error"
    assert "SCI_RAG_CROSS_ENCODER_DIR" in trace(result, "reranker").reason
    assert result.items


@pytest.mark.usefixtures("papers")
@pytest.mark.parametrize("kind", ["model", "cross_encoder"])
def test_a_reranker_that_is_not_configured_is_disabled(kind: str) -> None:
    result = retrieve(question=METHANE, scope=scope(), reranker=kind)

    assert trace(result, "reranker").status == "disabled"
    assert result.degraded == ()


def test_a_cross_encoder_score_does_not_depend_on_its_company(tmp_path: Path) -> None:
    onnx_file.write(tmp_path, ["none", "silage", "methane"])
    encoder = cross_encoder.CrossEncoder(tmp_path)

    alone = encoder.scores("silage", ["methane"], seconds=5)
    together = encoder.scores("silage", ["silage", "methane", "silage methane"], seconds=5)

    assert alone[0] == together[1]


@pytest.mark.usefixtures("papers")
def test_auto_sends_a_lookup_the_quick_way_and_a_comparison_the_deep_one() -> None:
    quick = retrieve(question="What is the methane yield?", scope=scope(), profile="auto")
    deep = retrieve(question="silage versus bales", scope=scope(), profile="auto")

    assert (quick.profile, quick.layers) == ("interactive", ("vector", "keyword"))
    assert deep.profile == "deep"
    assert "hyde" in deep.layers


@pytest.mark.usefixtures("papers")
def test_switches_put_layers_in_and_take_them_out() -> None:
    result = retrieve(question=METHANE, scope=scope(), switches={"vector": False, "hyde": True})

    assert result.layers == ("keyword", "hyde")
    with pytest.raises(UnknownLayer, match="vector"):
        retrieve(question=METHANE, scope=scope(), switches={"dense": True})


def test_a_document_may_have_only_so_many_passages_before_the_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(retriever, "active_profile", lambda: DomainProfile(max_per_document=1))
    add("Long", ["methane silage one", "methane silage two", "methane silage three"])
    add("Short", ["methane in the air"])

    result = retrieve(question="methane silage", scope=scope())

    assert [item.title for item in result.items] == ["Long", "Short", "Long", "Long"]
