"""The vector layer: exact by the form of its query, the index where it may be used, and their agreement."""

from __future__ import annotations

import numpy as np
import pytest
from django.db import connection, transaction

from corpus import vectors
from corpus.gateways.embedding import EmbeddingError, Vectors, configured_embedder
from corpus.models import ChunkEmbedding, Document
from corpus.scope import RetrievalScope, scope
from retrieval import eligibility
from retrieval.layers import vector as vector_layer
from retrieval.layers.base import LayerRequest, Session
from retrieval.layers.vector import VectorLayer
from retrieval.types import RankedList
from tests.integration.retrieval.corpora import add, add_vectors

pytestmark = pytest.mark.django_db(transaction=True)


def ranked(query: Vectors, wanted: RetrievalScope, limit: int = 10) -> RankedList:
    corpus = eligibility.read(wanted)
    request = LayerRequest("q", wanted, limit, corpus.eligible.passages, corpus.version)
    with transaction.atomic(), connection.cursor() as cursor:
        # A few thousand rows are so few that the planner would rather read and sort them.
        for way in ("seqscan", "bitmapscan", "sort"):
            cursor.execute(f"SET LOCAL enable_{way} = off")
        return VectorLayer().candidates(request, query, Session(30))


def clustered(count: int, *, seed: int) -> Vectors:
    """Return unit vectors in clusters, as passages of a field are."""
    random = np.random.default_rng(seed)
    centres = random.normal(size=(20, 384))
    rows = centres[random.integers(0, 20, count)] + 0.7 * random.normal(size=(count, 384))
    unit: Vectors = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    return unit


def test_exact_ranking_is_that_of_the_stored_values() -> None:
    version, chunks = add_vectors(clustered(400, seed=1))
    stored = {row.chunk_id: row.vector for row in ChunkEmbedding.objects.filter(version=version)}
    matrix = np.stack([stored[chunk.pk] for chunk in chunks]).astype(np.float64)

    for query in clustered(20, seed=2):
        distances = 1 - matrix @ query / np.linalg.norm(matrix, axis=1)
        expected = [chunks[place].pk for place in np.argsort(distances, kind="stable")[:10]]
        assert list(ranked(query, scope()).chunk_ids) == expected


def test_equal_vectors_are_ordered_by_rank_key() -> None:
    _, chunks = add_vectors(np.repeat(clustered(1, seed=3), 30, axis=0))
    keys = {chunk.pk: chunk.rank_key for chunk in chunks}

    order = [keys[key] for key in ranked(clustered(1, seed=4)[0], scope(), 30).chunk_ids]

    assert order == sorted(order)


def test_vectors_of_another_version_are_never_ranked() -> None:
    document = add("Paper", ["Rice straw."])
    chunk = document.chunks.get()
    other = vectors.EmbeddingVersion.objects.create(name="other@384", dimensions=384)
    row = ChunkEmbedding.objects.get()
    row.pk, row.version = None, other
    row.save()

    assert ranked(np.array(row.vector, dtype=np.float32), scope()).chunk_ids == (chunk.pk,)


@pytest.fixture
def indexed(monkeypatch: pytest.MonkeyPatch) -> Vectors:
    """A corpus past the bound, with its index; a twentieth of it is public."""
    rows = clustered(3000, seed=5)
    add_vectors(rows[:2850], license_class="restricted")
    version, _ = add_vectors(rows[2850:], license_class="public")
    for module in (vectors, vector_layer):
        monkeypatch.setattr(module, "index_bound", lambda: 1000)
    assert vectors.build_index_when_large(version)
    assert not vectors.build_index_when_large(version)
    return rows


def test_the_index_serves_an_unrestricted_request_and_agrees_with_exact_ranking(
    indexed: Vectors, monkeypatch: pytest.MonkeyPatch
) -> None:
    queries = clustered(40, seed=6)
    by_index = [ranked(query, scope()) for query in queries]
    monkeypatch.setattr(vector_layer, "index_bound", lambda: 10_000)
    exactly = [ranked(query, scope()) for query in queries]

    assert {result.mode for result in by_index} == {"index"}
    assert {result.mode for result in exactly} == {"exact"}
    pairs = zip(by_index, exactly, strict=True)
    assert np.mean([len(set(a.chunk_ids) & set(b.chunk_ids)) / 10 for a, b in pairs]) >= 0.99


def test_a_restricted_request_is_exact_however_large_and_misses_nothing(indexed: Vectors) -> None:
    for query in clustered(10, seed=7):
        result = ranked(query, scope(license_classes=["public"]))
        assert result.mode == "exact"
        assert len(result.chunk_ids) == 10


def test_an_index_that_finds_too_few_gives_way_to_exact_ranking(
    indexed: Vectors, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Documents that are not ready are not eligible, and the index holds them all the same.
    Document.objects.filter(license_class="restricted").update(state="failed")
    monkeypatch.setattr(vector_layer, "_MAX_SCAN_TUPLES", "1")
    monkeypatch.setattr(vector_layer, "_EF_SEARCH", "10")
    monkeypatch.setattr(vector_layer, "index_bound", lambda: 10)

    result = ranked(indexed[0], scope())

    assert result.mode == "exact"
    assert len(result.chunk_ids) == 10


def test_without_an_index_a_large_corpus_is_ranked_exactly(monkeypatch: pytest.MonkeyPatch) -> None:
    add_vectors(clustered(50, seed=8))
    monkeypatch.setattr(vector_layer, "index_bound", lambda: 10)

    assert ranked(clustered(1, seed=9)[0], scope()).mode == "exact"


def test_the_exact_statement_cannot_be_served_by_the_index_even_when_prepared(indexed: Vectors) -> None:
    vector = "[" + ",".join(map(repr, indexed[0].tolist())) + "]"
    version = eligibility.read(scope()).version
    eligible, parameters = Document.objects.eligible_sql(scope())
    exact = vector_layer._EXACT.format(eligible=eligible)
    by_index = vector_layer._INDEX.format(eligible=eligible, dimensions=384, version=version.key)
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
        cursor.execute("SET LOCAL enable_sort = off")
        cursor.execute(f"PREPARE near AS {exact}", [*parameters, vector, version.key, 10])
        for _ in range(8):
            cursor.execute("EXECUTE near")
        cursor.execute("EXPLAIN EXECUTE near")
        exact_plan = str(cursor.fetchall())
        cursor.execute(f"EXPLAIN {by_index}", [*parameters, vector, vector, 40, 10])
        index_plan = str(cursor.fetchall())
        cursor.execute("DEALLOCATE near")

    assert "hnsw" not in exact_plan
    assert "hnsw" in index_plan


def recall(found: list[RankedList], truth: list[RankedList]) -> list[float]:
    return [
        len(set(a.chunk_ids) & set(b.chunk_ids)) / len(b.chunk_ids) for a, b in zip(found, truth, strict=True)
    ]


@pytest.fixture
def coded(monkeypatch: pytest.MonkeyPatch) -> Vectors:
    """Clusters without structure, the hardest case, where a first stage has to leave much out."""
    rows = clustered(3000, seed=5)
    for start in range(0, 3000, 100):
        add_vectors(rows[start : start + 100], license_class="public" if start % 500 == 0 else "restricted")
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE corpus_vectorcode")
    monkeypatch.setattr(vector_layer, "_NEAREST", 300)
    monkeypatch.setattr(vector_layer, "_IN_PARALLEL_FROM", 0)
    return rows


@pytest.mark.parametrize("wanted", [scope(), scope(license_classes=["public"])], ids=["all", "a fifth"])
@pytest.mark.parametrize("every_code_from", [0.0, 2.0], ids=["every code", "by document"])
def test_two_stages_find_what_exact_ranking_finds(
    coded: Vectors, wanted: RetrievalScope, every_code_from: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    queries = clustered(30, seed=6)
    exactly = [ranked(query, wanted) for query in queries]
    monkeypatch.setattr(vector_layer, "exact_bound", lambda _: 10)
    monkeypatch.setattr(vector_layer, "_READ_EVERY_CODE_FROM", every_code_from)

    narrowed = [ranked(query, wanted) for query in queries]

    assert {result.mode for result in narrowed} == {"exact-two-stage"}
    assert {len(result.chunk_ids) for result in narrowed} == {10}
    assert np.mean(recall(narrowed, exactly)) >= 0.99
    assert min(recall(narrowed, exactly)) >= 0.9


def test_both_ways_to_read_codes_give_the_same_and_so_does_a_wrong_guess(
    coded: Vectors, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vector_layer, "exact_bound", lambda _: 10)
    monkeypatch.setattr(vector_layer, "_READ_EVERY_CODE_FROM", 2.0)
    queries = clustered(10, seed=7)
    by_document = [ranked(query, scope()) for query in queries]

    monkeypatch.setattr(vector_layer, "_READ_EVERY_CODE_FROM", 0.0)
    assert [ranked(query, scope()) for query in queries] == by_document
    monkeypatch.setattr(vector_layer._Asked, "_within", lambda *_: [1.0, 2.0])
    assert [ranked(query, scope()) for query in queries] == by_document


def test_narrowing_depends_on_eligible_passages_alone(
    coded: Vectors, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vector_layer, "exact_bound", lambda _: 10)
    public = scope(license_classes=["public"])
    queries = clustered(10, seed=8)
    with_all = [ranked(query, public) for query in queries]

    Document.objects.filter(license_class="restricted").delete()

    assert [ranked(query, public) for query in queries] == with_all


def codes() -> list[tuple[int, int, str]]:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT embedding_id, rank_key, code::text FROM corpus_vectorcode ORDER BY embedding_id"
        )
        return list(cursor.fetchall())


def expected_codes() -> list[tuple[int, int, str]]:
    rows = ChunkEmbedding.objects.order_by("id").values_list("id", "rank_key", "vector")
    return [(key, rank_key, code_of(np.array(vector, dtype=np.float16))) for key, rank_key, vector in rows]


def code_of(vector: np.ndarray) -> str:
    """Return which of eight steps each value lies in, computed as the database rounds."""
    borders = [np.float16(border * 0.5 / 384**0.5) for border in range(-3, 4)]
    step = sum((vector - border > 0).astype(int) for border in borders)
    return "".join("01"[one] for bit in (2, 1, 0) for one in step >> bit & 1)


def test_every_vector_has_its_code_whatever_changes_it() -> None:
    version, chunks = add_vectors(clustered(20, seed=9))
    assert len(codes()) == 20
    assert codes() == expected_codes()

    ChunkEmbedding.objects.filter(chunk=chunks[0]).update(rank_key=7, vector=clustered(1, seed=10)[0])
    ChunkEmbedding.objects.filter(chunk=chunks[1]).delete()
    vectors.store(version=version, chunks=chunks[:2], vectors=clustered(2, seed=11), again=True)
    assert len(codes()) == 20
    assert codes() == expected_codes()

    Document.objects.all().delete()
    assert codes() == []


def test_the_first_version_becomes_active_and_another_embedder_is_refused() -> None:
    version = vectors.ensure_version(configured_embedder())
    other = type("Other", (), {"version": "other@384", "dimensions": 384})()

    assert version.is_active
    assert vectors.ensure_version(configured_embedder()) == version
    with pytest.raises(EmbeddingError, match="other@384"):
        vectors.ensure_version(other)


def test_vectors_of_the_wrong_shape_are_not_stored() -> None:
    version = vectors.ensure_version(configured_embedder())

    with pytest.raises(EmbeddingError, match="shape"):
        vectors.store(version=version, chunks=[], vectors=np.zeros((1, 384), dtype=np.float32))
