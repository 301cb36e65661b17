"""The N-th statement, request or write of each flow fails, for every N: what is left is whole, and goes on.

In every run a few points of each flow are tried once; all of them, once and for good, are `long`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from time import monotonic

import pytest

from tests.reliability.faults.sweeping import Sweep

pytestmark = pytest.mark.xdist_group("use-ledger")

FLOWS = ("ingest", "ask", "enrich", "merge", "re-embed", "delete")
SAMPLE = 2
# Waits until the request is given up.
SLOW = ("http", "timeout")


@pytest.mark.parametrize("flow", FLOWS)
def test_a_fault_here_and_there_leaves_nothing_half_done(sweep_of: Callable[[str], Sweep], flow: str) -> None:
    sweep = sweep_of(flow)
    points = [point for point in sweep.points(persistent=False) if (point.kind, point.error) != SLOW]
    step = len(points) // SAMPLE
    chosen = points[FLOWS.index(flow) :: step]
    assert len(chosen) >= SAMPLE
    assert "\n".join(trouble for point in chosen for trouble in sweep.troubles(point)) == ""


@pytest.mark.long
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("persistent", [False, True], ids=["transient", "persistent"])
@pytest.mark.parametrize("flow", FLOWS)
def test_a_fault_at_any_point_leaves_nothing_half_done(
    sweep_of: Callable[[str], Sweep], flow: str, *, persistent: bool
) -> None:
    sweep, tried, found, started = sweep_of(flow), Counter[str](), [], monotonic()
    for point in sweep.points(persistent=persistent):
        found += sweep.troubles(point)
        tried[f"{point.kind} {point.error}"] += 1
    seconds = monotonic() - started
    print(f"{flow}: calls {dict(sweep.calls)}, {tried.total()} points in {seconds:.0f} s: {dict(tried)}")  # noqa: T201
    assert "\n".join(found) == ""
