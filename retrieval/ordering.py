"""What happens to the order after fusion: superseded passages go down, identical ones become one. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from retrieval.fusion import Fused


@dataclass(frozen=True, slots=True)
class Placed:
    """A candidate with its final score, why that is not the fused one, and who it stands for.

    `grade` is a reranker's, before what a demotion takes of it.
    """

    fused: Fused
    score: Fraction
    adjustments: tuple[str, ...] = ()
    also: tuple[int, ...] = ()
    is_demoted: bool = False
    grade: float | None = None


@dataclass(frozen=True, slots=True)
class Remark:
    """What is to be said of a passage because of the version it stands in."""

    words: str = ""
    is_demoted: bool = False


def demote(candidates: Iterable[Fused], *, remark: Callable[[int], Remark], factor: Fraction) -> list[Placed]:
    """Multiply the score of passages that are to be demoted by `factor` and order anew; ties as in fusion."""
    placed = [_placed(fused, remark(fused.chunk_id), factor) for fused in candidates]
    return sorted(placed, key=lambda one: (-one.score, *one.fused.order()[1:]))


def _placed(fused: Fused, remark: Remark, factor: Fraction) -> Placed:
    if not remark.is_demoted:
        return Placed(fused, fused.score, (remark.words,) if remark.words else ())
    return Placed(
        fused, fused.score * factor, (f"{remark.words}: score x {float(factor):.2f}",), is_demoted=True
    )


def unadjusted(candidates: Iterable[Placed]) -> list[Placed]:
    """Return the order as it would be had nothing been demoted: by grade where there are grades."""
    return sorted(
        candidates,
        key=lambda one: (one.grade is None, -(one.grade or 0.0), -one.fused.score, *one.fused.order()[1:]),
    )


def collapse(candidates: Sequence[Placed], *, content: Callable[[int], str]) -> list[Placed]:
    """Keep the first of the passages with the same content; it names the others in `also`."""
    groups: dict[str, list[Placed]] = {}
    for candidate in candidates:
        groups.setdefault(content(candidate.fused.chunk_id), []).append(candidate)
    return [
        replace(first, also=tuple(other.fused.chunk_id for other in others))
        for first, *others in groups.values()
    ]


def by_grades(candidates: Sequence[Placed], grades: Sequence[float]) -> list[Placed]:
    """Order by a reranker's grades; a demoted passage keeps the same share of its grade as of its score.

    Equal grades keep the order they came in.
    """
    weighed = [
        (grade * float(one.score / one.fused.score) if one.fused.score else 0.0)
        for one, grade in zip(candidates, grades, strict=True)
    ]
    order = sorted(range(len(candidates)), key=lambda position: (-weighed[position], position))
    return [replace(candidates[position], grade=grades[position]) for position in order]


def around(candidates: Sequence[Placed], *, moving: Collection[int], moved: Iterable[Placed]) -> list[Placed]:
    """Return `candidates`, those passages that are `moving` in the order of `moved`, around the others."""
    others = iter(moved)
    return [next(others) if one.fused.chunk_id in moving else one for one in candidates]


def spread(candidates: Sequence[Placed], *, document: Callable[[int], Hashable], most: int) -> list[Placed]:
    """Let at most `most` passages of a document stand where they are; the others follow after."""
    seen: Counter[Hashable] = Counter()
    kept: list[Placed] = []
    later: list[Placed] = []
    for candidate in candidates:
        key = document(candidate.fused.chunk_id)
        seen[key] += 1
        (kept if seen[key] <= most else later).append(candidate)
    return [*kept, *later]
