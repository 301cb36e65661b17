"""What happens to the order after fusion: superseded passages go down, identical ones become one. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from retrieval.fusion import Fused


@dataclass(frozen=True, slots=True)
class Placed:
    """A candidate with its final score, why that is not the fused one, and who it stands for."""

    fused: Fused
    score: Fraction
    adjustments: tuple[str, ...] = ()
    also: tuple[int, ...] = ()


def demote(
    candidates: Iterable[Fused], *, superseded: Callable[[int], bool], factor: Fraction
) -> list[Placed]:
    """Multiply the score of superseded passages by `factor` and order anew; ties as in fusion."""
    reason = f"superseded: score x {float(factor):.2f}"
    placed = [
        Placed(fused, fused.score * factor, (reason,))
        if superseded(fused.chunk_id)
        else Placed(fused, fused.score)
        for fused in candidates
    ]
    return sorted(placed, key=lambda one: (-one.score, *one.fused.order()[1:]))


def collapse(candidates: Sequence[Placed], *, content: Callable[[int], str]) -> list[Placed]:
    """Keep the first of the passages with the same content; it names the others in `also`."""
    groups: dict[str, list[Placed]] = {}
    for candidate in candidates:
        groups.setdefault(content(candidate.fused.chunk_id), []).append(candidate)
    return [
        replace(first, also=tuple(other.fused.chunk_id for other in others))
        for first, *others in groups.values()
    ]
