"""Whatever is merged and split, undone in whatever order is allowed: the same graph, byte for byte."""

from typing import Any

import pytest
from django.db import transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from retrieval.graph.actions import resolution, splitting, undoing
from retrieval.graph.actions.undoing import NotUndone
from retrieval.models import Entity, Mention, MergeProposal, Relationship
from tests.integration.retrieval.graph.merging import describe, dump, entity, mention, passage, propose

pytestmark = pytest.mark.django_db

NAMES = ("Ash", "Bran", "Chaff", "Dung", "Effluent")
# Of each pair of names, in one passage or another, with a confidence.
EDGES = st.tuples(
    st.sampled_from(NAMES), st.sampled_from(NAMES), st.integers(0, 2), st.sampled_from((1.0, 0.7, 0.4))
)


def _graph(edges: list[tuple[str, str, int, float]]) -> None:
    """Three passages that name everything, and say these edges; the quote of each stands in its passage."""
    said = {(source, target, place): sure for source, target, place, sure in edges if source != target}
    for place in range(3):
        lines = [f"{a} gives\n {b}  here." for a, b, where in said if where == place]
        page = passage(" ".join([f"Page {place} of", *NAMES, *lines]))
        for name in NAMES[place:]:
            mention(name, page)
            describe(name, page, name)
        for (source, target, where), sure in said.items():
            if where == place:
                raw = f"{source} gives\n {target}  here."
                start = page.body.index(raw)
                for name in (source, target):
                    if not Mention.objects.filter(entity__name=name, chunk=page).exists():
                        mention(name, page)
                Relationship.objects.create(
                    source=entity(source), target=entity(target), chunk=page, document=page.document,
                    type="gives", quote=" ".join(raw.split()), start=start, confidence=sure,
                )  # fmt: skip


@given(
    edges=st.lists(EDGES, max_size=14),
    pairs=st.lists(st.tuples(st.sampled_from(NAMES), st.sampled_from(NAMES)), min_size=1, max_size=5),
    order=st.randoms(use_true_random=False),
)
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_merges_and_splits_undone_in_any_allowed_order_leave_the_same_graph(
    db: Any, edges: list[Any], pairs: list[tuple[str, str]], order: Any
) -> None:
    with transaction.atomic():
        _graph(edges)
        before = dump()
        for one, other in pairs:
            _act(one, other)
        _undo_all(order)
        assert dump() == before
        assert not Entity.objects.filter(canonical_entity__isnull=False).exists()
        transaction.set_rollback(True)


def _act(one: str, other: str) -> None:
    """Merge two, or where both are the same name, split its first passage off."""
    sides = [entity(one, sense=0), entity(other, sense=0)]
    if one != other:
        low, high = sorted(sides, key=lambda each: each.pk)
        if not MergeProposal.objects.filter(low=low, high=high).exists():
            resolution.approve(proposals=[propose(low, high)], by=None)
        return
    first = Mention.objects.filter(entity=sides[0]).order_by("chunk__document__title", "pk")[:1]
    try:
        splitting.split(entity=sides[0], mentions=first, by=None)
    except splitting.NotSplit:
        return


def _undo_all(order: Any) -> None:
    while left := list(undoing.in_effect().order_by("pk")):
        order.shuffle(left)
        for audit in left:
            try:
                undoing.undo(audit=audit, by=None)
            except NotUndone:
                continue
            break
        else:
            pytest.fail("nothing can be undone")
