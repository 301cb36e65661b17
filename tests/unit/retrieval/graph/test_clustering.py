"""Which entities hang together: the same in every order, never fewer than three, never flooded by a hub."""

from __future__ import annotations

import random
from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from retrieval.graph.communities.clustering import LEAST_MEMBERS, MANY_GROUPS, Edge, Group, Name, groups


def name(text: str) -> Name:
    return ("concept", text, 0)


def tied(*texts: str, weight: int = 10) -> list[Edge]:
    """Join each two of `texts`."""
    return [(name(one), name(other), weight) for one, other in combinations(texts, 2)]


def words(group: Group) -> str:
    return " ".join(key for _, key, _ in group.members)


EDGES = st.lists(
    st.tuples(
        st.integers(0, 14).map(lambda number: name(f"n{number:02}")),
        st.integers(0, 14).map(lambda number: name(f"n{number:02}")),
        st.sampled_from([4, 7, 10]),
    ),
    max_size=60,
)


@given(EDGES, st.randoms(use_true_random=False))
def test_neither_order_nor_direction_of_the_edges_changes_a_group_or_a_key(
    edges: list[Edge], chance: random.Random
) -> None:
    other = [(b, a, weight) if chance.random() < 0.5 else (a, b, weight) for a, b, weight in edges]
    chance.shuffle(other)

    assert groups(other) == groups(edges)
    assert [group.key for group in groups(other)] == [group.key for group in groups(edges)]


@given(EDGES)
def test_groups_are_disjoint_hang_together_and_have_three_members(edges: list[Edge]) -> None:
    found = groups(edges)

    members = [member for group in found for member in group.members]
    assert len(members) == len(set(members))
    for group in found:
        assert len(group.members) >= LEAST_MEMBERS
        assert list(group.members) == sorted(group.members)
        assert _reached(group, edges) == set(group.members)


def _reached(group: Group, edges: list[Edge]) -> set[Name]:
    inside = set(group.members)
    reached = {group.members[0]}
    for _ in inside:
        for one, other, _ in edges:
            if {one, other} <= inside and reached & {one, other}:
                reached |= {one, other}
    return reached


@given(EDGES)
def test_edges_between_the_same_two_add_up(edges: list[Edge]) -> None:
    together: dict[frozenset[Name], int] = {}
    for one, other, weight in edges:
        together[frozenset({one, other})] = together.get(frozenset({one, other}), 0) + weight
    summed = [(*sorted(pair), weight) for pair, weight in together.items() if len(pair) == 2]

    assert groups(summed) == groups(edges)


def test_two_make_no_group_and_no_edge_makes_none() -> None:
    assert groups([]) == groups(tied("ash", "soil")) == groups([(name("ash"), name("ash"), 10)]) == []


def test_what_is_tied_more_closely_stays_together() -> None:
    bridge = [(name("soil"), name("straw"), 4)]

    found = groups([*tied("ash", "biochar", "soil"), *tied("methane", "silage", "straw"), *bridge])

    assert [words(group) for group in found] == ["ash biochar soil", "methane silage straw"]


def test_a_hub_that_everything_stands_beside_draws_nobody_away_from_its_own() -> None:
    circles = [[f"c{circle:02}m{member}" for member in range(5)] for circle in range(10)]
    edges = [edge for circle in circles for edge in tied(*circle)]
    # The hub is tied to everything as strongly as anything is to anything.
    edges += [(name("a hub"), name(member), 10) for circle in circles for member in circle]

    found = groups(edges)

    homes = [{key for _, key, _ in group.members} - {"a hub"} for group in found if group.level == 0]
    assert sorted(map(sorted, homes)) == circles


def test_many_groups_have_a_second_level_of_those_that_hang_together() -> None:
    circles = [[f"c{circle:02}m{member}" for member in range(4)] for circle in range(MANY_GROUPS + 2)]
    edges = [edge for circle in circles for edge in tied(*circle)]
    # The circles themselves stand in two rings of seven, each tied to each by four members.
    for ring in (circles[:7], circles[7:]):
        edges += [
            (name(a), name(b), 4)
            for one, other in combinations(ring, 2)
            for a, b in zip(one, other, strict=True)
        ]

    found = groups(edges)

    fine, coarse = ([group for group in found if group.level == level] for level in (0, 1))
    assert [sorted(key for _, key, _ in group.members) for group in fine] == circles
    assert [len(group.members) for group in coarse] == [28, 28]
    keys = {group.key: group for group in coarse}
    for group in fine:
        assert group.parent is not None
        assert set(group.members) < set(keys[group.parent].members)
    assert all(group.parent is None for group in coarse)


def test_a_second_level_is_not_made_of_few_groups_nor_of_one_alone() -> None:
    few = [edge for circle in range(3) for edge in tied(*(f"c{circle}m{member}" for member in range(4)))]
    apart = [
        edge for circle in range(20) for edge in tied(*(f"c{circle:02}m{member}" for member in range(4)))
    ]

    assert {group.level for group in groups(few)} == {group.level for group in groups(apart)} == {0}


def test_a_key_names_level_and_members_alone() -> None:
    group = Group(0, (name("ash"), name("soil"), name("straw")))

    assert group.key == Group(0, group.members, parent="another").key
    assert group.key != Group(1, group.members).key
    assert group.key != Group(0, (*group.members[:2], ("process", "straw", 0))).key
    assert len(group.key) == 64
