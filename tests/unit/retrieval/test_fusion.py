"""Fusion: the worked example, exact ties, and what must not influence what."""

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from retrieval.fusion import fuse, fuse_scores
from retrieval.types import RankedList

WEIGHTS = {
    "vector": Fraction("1.5"),
    "keyword": Fraction(1),
    "graph": Fraction("0.8"),
    "community": Fraction("0.6"),
    "hyde": Fraction("1.2"),
}
A, B, C, D, E, FILLER = range(1, 7)
PLACES = {number: ("hash", number) for number in (A, B, C, D, E)}


def _fuse(lists: dict[str, list[int]], places: dict[int, tuple[str, int]] = PLACES) -> list:
    ranked = [RankedList(layer, tuple(ids)) for layer, ids in lists.items()]
    return fuse(ranked, weights=WEIGHTS, places=places)


def test_the_worked_example_of_the_specification_holds_to_six_decimals() -> None:
    fused = _fuse(
        {
            "vector": [A, E, B],
            "keyword": [C, B],
            "graph": [C],
            "hyde": [D, E],
            "community": [D],
        }
    )

    assert [(hit.chunk_id, f"{float(hit.score):.6f}") for hit in fused] == [
        (E, "0.043548"),
        (B, "0.039939"),
        (C, "0.029508"),
        (D, "0.029508"),
        (A, "0.024590"),
    ]
    assert fused[2].score == fused[3].score


def test_a_tie_goes_to_more_layers() -> None:
    # 1.8/61 over one route and over two: equal as fractions, not as floats.
    weights = {"one": Fraction("1.8"), "two": Fraction(1), "three": Fraction("0.8")}
    lists = [RankedList("one", (A,)), RankedList("two", (B,)), RankedList("three", (B,))]

    fused = fuse(lists, weights=weights, places=PLACES)

    assert [hit.chunk_id for hit in fused] == [B, A]
    assert fused[0].score == fused[1].score


def test_a_tie_in_layers_goes_to_the_better_single_rank() -> None:
    # Weights that cancel the ranks: both candidates score exactly 1.
    weights = {"one": Fraction(61), "two": Fraction(62)}
    lists = [RankedList("one", (A, FILLER)), RankedList("two", (FILLER, B))]

    fused = fuse(lists, weights=weights, places=PLACES)

    assert [hit.chunk_id for hit in fused] == [A, B]
    assert fused[0].score == fused[1].score


def test_a_last_tie_goes_to_document_hash_and_ordinal() -> None:
    places = {A: ("b", 1), B: ("a", 2), C: ("a", 1)}
    lists = [RankedList("vector", (A,)), RankedList("x", (B,)), RankedList("y", (C,))]
    weights = {"vector": Fraction(1), "x": Fraction(1), "y": Fraction(1)}

    assert [hit.chunk_id for hit in fuse(lists, weights=weights, places=places)] == [C, B, A]


def test_a_candidate_without_a_place_changes_nobody_elses_score() -> None:
    with_gap = _fuse({"vector": [A, FILLER, B]})

    assert [(hit.chunk_id, hit.ranks) for hit in with_gap] == [(A, {"vector": 1}), (B, {"vector": 3})]


def test_a_candidate_named_twice_by_a_layer_is_paid_once_at_its_best_rank() -> None:
    assert _fuse({"vector": [A, B, A]})[0].ranks == {"vector": 1}


layer_lists = st.dictionaries(
    st.sampled_from(sorted(WEIGHTS)), st.lists(st.integers(1, 30), unique=True, max_size=20), min_size=1
)


@given(layer_lists)
def test_the_order_of_layers_does_not_matter(lists: dict[str, list[int]]) -> None:
    places = {number: ("h", number) for number in range(1, 31)}

    forwards = _fuse(lists, places)
    backwards = _fuse(dict(reversed(lists.items())), places)

    assert [(hit.chunk_id, hit.score) for hit in forwards] == [(hit.chunk_id, hit.score) for hit in backwards]


@given(layer_lists)
def test_scores_are_the_sum_of_the_layers_that_have_the_candidate(lists: dict[str, list[int]]) -> None:
    places = {number: ("h", number) for number in range(1, 31)}

    for hit in _fuse(lists, places):
        assert hit.score == sum(
            WEIGHTS[layer] / (60 + ids.index(hit.chunk_id) + 1)
            for layer, ids in lists.items()
            if hit.chunk_id in ids
        )


# --- By scores -------------------------------------------------------------------------------


def _scored(**lists: tuple[tuple[int, float], ...]) -> list[RankedList]:
    return [RankedList.scored(layer, rows, "") for layer, rows in lists.items()]


def test_scores_are_brought_to_one_measure_and_combined_by_their_shares() -> None:
    lists = _scored(vector=((A, 0.9), (B, 0.5), (C, 0.1)), keyword=((B, 30.0), (D, 10.0)))

    fused = fuse_scores(lists, places=PLACES)

    # A 0.7; B 0.7 x 0.5 + 0.3; C and D are the last of their lists and get nothing: the better rank first.
    assert [hit.chunk_id for hit in fused] == [A, B, D, C]
    assert [round(float(hit.score), 9) for hit in fused] == [0.7, 0.65, 0.0, 0.0]
    assert fused[0].score > fused[1].score


def test_a_layer_without_scores_brings_its_candidates_last() -> None:
    lists = [*_scored(vector=((A, 0.9), (B, 0.5))), RankedList("graph", (C, A))]

    fused = fuse_scores(lists, places=PLACES)

    assert [hit.chunk_id for hit in fused] == [A, C, B]
    assert fused[0].ranks == {"vector": 1, "graph": 2}


def test_what_has_no_place_moves_no_score() -> None:
    with_it = _scored(vector=((FILLER, 1.0), (A, 0.9), (B, 0.5), (C, 0.4)), keyword=((FILLER, 9.0), (B, 3.0)))
    without = _scored(vector=((A, 0.9), (B, 0.5), (C, 0.4)), keyword=((B, 3.0),))

    assert [(hit.chunk_id, hit.score) for hit in fuse_scores(with_it, places=PLACES)] == [
        (hit.chunk_id, hit.score) for hit in fuse_scores(without, places=PLACES)
    ]


def test_equal_scores_all_count_as_the_best() -> None:
    fused = fuse_scores(_scored(vector=((A, 0.5), (B, 0.5)), keyword=((C, 2.0),)), places=PLACES)

    assert [(hit.chunk_id, hit.score) for hit in fused] == [
        (A, Fraction(7, 10)),
        (B, Fraction(7, 10)),
        (C, Fraction(3, 10)),
    ]
