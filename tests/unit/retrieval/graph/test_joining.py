"""Which entity stays, which pairs may become one, and what becomes of edges."""

from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.graph import joining
from retrieval.graph.joining import Edge, Joining, Pair, Refusal, Step, Weight

A, B, C, D = (UUID(int=number) for number in range(1, 5))


def weights(**mentions: int) -> dict[UUID, Weight]:
    names = {"a": A, "b": B, "c": C, "d": D}
    return {names[name]: Weight(count, name) for name, count in mentions.items()}


def edge(
    number: int, source: UUID, target: UUID, *, sure: float = 1.0, start: int = 0, chunk: int = 1
) -> Edge:
    return Edge(number, source, target, "produces", chunk, UUID(int=9), start, "said", sure)


@pytest.mark.parametrize(
    ("one", "other", "stays"),
    [
        (Weight(1, "a longer name"), Weight(2, "b"), B),
        (Weight(2, "longer"), Weight(2, "short"), A),
        (Weight(2, "short"), Weight(2, "longer"), B),
        (Weight(2, "same"), Weight(2, "size"), A),
    ],
)
def test_more_mentions_stay_then_the_longer_name_then_the_lesser_id(one: Weight, other: Weight, stays: UUID):
    both = {A: one, B: other}
    assert joining.stays(A, B, both) == joining.stays(B, A, both) == stays


def test_pairs_are_joined_as_they_stand_after_those_before_them():
    one = Joining({each: each for each in (A, B, C, D)}, weights(a=5, b=1, c=9, d=1), [])

    assert one.join(Pair(1, A, B)) == Step(1, A, B)
    assert one.join(Pair(2, B, C)) == Step(2, C, A)
    assert one.join(Pair(3, A, C)) is Refusal.ONE_ALREADY
    assert one.join(Pair(4, A, UUID(int=77))) is Refusal.GONE


def test_somebody_may_say_which_side_stays():
    one = Joining({A: A, B: B, C: B}, weights(a=5, b=1), [])

    assert one.join(Pair(1, A, C), keep=C) == Step(1, B, A)


def test_what_is_different_stays_so_through_every_merge():
    one = Joining({each: each for each in (A, B, C, D)}, weights(a=5, b=4, c=3, d=1), [(B, D)])

    assert isinstance(one.join(Pair(1, A, B)), Step)
    assert isinstance(one.join(Pair(2, C, D)), Step)
    assert one.join(Pair(3, A, C)) is Refusal.DIFFERENT
    assert one.join(Pair(4, A, D)) is Refusal.DIFFERENT


def test_edges_move_unless_they_join_the_two_or_are_said_surer():
    found = joining.moves(
        [
            edge(1, B, C),
            edge(2, D, B),
            edge(3, A, B),
            edge(4, B, A),
            edge(5, B, D, sure=0.7),
            edge(6, A, D, sure=1.0),
            edge(7, C, A, sure=0.4),
            edge(8, C, B, sure=0.7),
            edge(9, A, D, chunk=2),
        ],
        winner=A,
        loser=B,
    )

    assert (found.source, found.target) == ((1,), (2, 8))
    assert [each.id for each in found.dropped] == [3, 4, 5, 7]


def test_of_equally_sure_edges_the_one_said_first_stays():
    found = joining.moves([edge(1, A, C, start=40), edge(2, B, C, start=7)], winner=A, loser=B)

    assert (found.source, [each.id for each in found.dropped]) == ((2,), [1])


@given(
    before=st.text(max_size=20), words=st.lists(st.sampled_from(["a.b", "(c", "ß", "é*", "x"]), min_size=1)
)
def test_a_quote_is_found_at_its_place_however_it_is_spaced(before: str, words: list[str]):
    body, quote = before + "\n \t".join(words) + " end", " ".join(words)

    length = joining.extent(body, len(before), quote)

    assert length is not None
    assert joining.quoted(body, len(before), length) == quote


def test_a_quote_that_is_not_there_has_no_extent():
    assert joining.extent("Straw burns.", 0, "Straw rots.") is None
    assert joining.extent("Straw burns.", 3, "Straw") is None
    assert joining.extent("Straw", 0, " ") is None
