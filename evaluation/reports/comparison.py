"""Two reports side by side: whether they compare, which measures differ, which questions moved. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from corpus import fingerprint_form
from evaluation.metrics.ranking import mean
from evaluation.metrics.significance import Difference, difference

Report = dict[str, Any]
# What may not differ: its name for people, and how to find it in a report.
_SAME = (("kind", ("kind",)), ("question set", ("question_set", "sha256")), ("judge", ("judge",)))
CORPUS = ("corpus", ("fingerprint",))
# A change smaller than that is a rounding.
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Differs:
    """Something that two reports have to share and do not."""

    what: str
    before: str
    after: str

    def __str__(self) -> str:
        return f"the {self.what} differs ({self.before} and {self.after})"


class Incomparable(ValueError):
    """Two reports whose numbers say nothing about each other; `differs` names why."""

    def __init__(self, differs: list[Differs]) -> None:
        super().__init__(f"Not comparable: {'; '.join(str(one) for one in differs)}.")
        self.differs = tuple(differs)


@dataclass(frozen=True, slots=True)
class Compared:
    """One measure on one level. A mean of None is undefined."""

    level: str
    measure: str
    before: float | None
    after: float | None
    difference: Difference

    def as_dict(self) -> dict[str, Any]:
        """Return JSON values; what is undefined is a word."""
        return {
            "level": self.level,
            "measure": self.measure,
            "before": "undefined" if self.before is None else self.before,
            "after": "undefined" if self.after is None else self.after,
            **self.difference.as_dict(),
        }


@dataclass(frozen=True, slots=True)
class Moved:
    """A question whose value changed, with both values."""

    key: str
    question: str
    before: float
    after: float


@dataclass(slots=True)
class Moves:
    """The questions that moved: better, worse, found only after, found only before."""

    improved: list[Moved] = field(default_factory=list)
    regressed: list[Moved] = field(default_factory=list)
    appeared: list[Moved] = field(default_factory=list)
    disappeared: list[Moved] = field(default_factory=list)
    unchanged: int = 0

    def sort(self, one: Moved) -> None:
        """Put a question where it belongs."""
        if abs(one.after - one.before) <= _ROUNDING:
            self.unchanged += 1
        elif not one.before:
            self.appeared.append(one)
        elif not one.after:
            self.disappeared.append(one)
        else:
            (self.improved if one.after > one.before else self.regressed).append(one)


@dataclass(frozen=True, slots=True)
class Comparison:
    """What changed between two reports. `notes` name what differs and was let pass."""

    before: str
    after: str
    configurations: tuple[str, str]
    measures: tuple[Compared, ...]
    moves: Moves
    notes: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Return JSON values."""
        lists = ("improved", "regressed", "appeared", "disappeared")
        return {
            "before": self.before,
            "after": self.after,
            "configurations": list(self.configurations),
            "notes": list(self.notes),
            "measures": [one.as_dict() for one in self.measures],
            "moves": {
                name: [
                    {"key": one.key, "before": one.before, "after": one.after}
                    for one in getattr(self.moves, name)
                ]
                for name in lists
            }
            | {"unchanged": self.moves.unchanged},
        }


def compare(
    before: Report,
    after: Report,
    *,
    allows_other_corpus: bool = False,
    configurations: tuple[str, str] | None = None,
) -> Comparison:
    """Compare two reports question by question: their first configurations unless others are named.

    Raises `Incomparable` naming everything that differs and may not; another corpus may where it is allowed,
    and is noted.
    """
    differs = _differences(before, after)
    corpus = [one for one in differs if one.what == CORPUS[0]]
    refused = [one for one in differs if one not in corpus or not allows_other_corpus]
    names = configurations or (_first(before), _first(after))
    refused += _unknown(before, after, names)
    if refused:
        raise Incomparable(refused)
    pairs = list(_pairs(before, after, names))
    return Comparison(
        before=before["run"],
        after=after["run"],
        configurations=names,
        measures=tuple(_compared(pairs)),
        moves=_moves(pairs, after["primary"]),
        notes=tuple(str(one) for one in corpus),
    )


def _differences(before: Report, after: Report) -> list[Differs]:
    found = []
    for what, path in (*_SAME, CORPUS):
        one, other = _at(before, path), _at(after, path)
        if one != other:
            found.append(Differs(what, *_told(what, one, other)))
    return found


def _told(what: str, one: str, other: str) -> tuple[str, str]:
    """Return two values for people; corpora that are hashed in different ways are not known to differ."""
    versions = fingerprint_form.version_of(one), fingerprint_form.version_of(other)
    if what != CORPUS[0] or 0 in versions or versions[0] == versions[1]:
        return _short(one), _short(other)
    first, second = (
        f"{_short(value)}, made under fingerprint version {version}, not comparable"
        for value, version in zip((one, other), versions, strict=True)
    )
    return first, second


def _at(report: Report, path: tuple[str, ...]) -> str:
    value: Any = report
    for name in path:
        value = value[name]
    return str(value)


def _short(value: str) -> str:
    return value[:12] or "none"


def _first(report: Report) -> str:
    return str(report["numbers"]["configurations"][0]["name"])


def _unknown(before: Report, after: Report, names: tuple[str, str]) -> list[Differs]:
    """Say which configuration was not carried out."""
    sides = zip((before, after), names, strict=True)
    held = [name if _has(report, name) else f"{name} was not carried out" for report, name in sides]
    return [] if held == list(names) else [Differs("configuration", held[0], held[1])]


def _has(report: Report, name: str) -> bool:
    return any(one["name"] == name and not one.get("refusal") for one in report["numbers"]["configurations"])


@dataclass(frozen=True, slots=True)
class _Pair:
    """One question on both sides: by level and measure."""

    question: Report
    before: dict[str, Any]
    after: dict[str, Any]


def _pairs(before: Report, after: Report, names: tuple[str, str]) -> Iterator[_Pair]:
    earlier = {question["key"]: question for question in before["questions"]}
    for question in after["questions"]:
        sides = (earlier[question["key"]], question)
        results = [side["results"].get(name) for side, name in zip(sides, names, strict=True)]
        if results[0] is not None and results[1] is not None:
            yield _Pair(question, results[0]["measures"], results[1]["measures"])


def _compared(pairs: list[_Pair]) -> Iterator[Compared]:
    for level, measure in _named(pairs):
        values = [both for pair in pairs if (both := _both(pair, level, measure)) is not None]
        before, after = [one for one, _ in values], [other for _, other in values]
        yield Compared(level, measure, mean(before), mean(after), difference(before, after))


def _named(pairs: list[_Pair]) -> list[tuple[str, str]]:
    """Return levels and measures in the order in which they come."""
    found: dict[tuple[str, str], None] = {}
    for pair in pairs:
        for side in (pair.before, pair.after):
            for level, measures in side.items():
                found.update({(level, name): None for name in measures or ()})
    return list(found)


def _both(pair: _Pair, level: str, measure: str) -> tuple[float, float] | None:
    """Return both values; a side that failed has found nothing. None where the level does not apply."""
    sides = (pair.before, pair.after)
    if not any(side.get(level) for side in sides) or any(side and side.get(level) is None for side in sides):
        return None
    one, other = ((side.get(level) or {}).get(measure, 0.0) for side in sides)
    return float(one), float(other)


def _moves(pairs: list[_Pair], primary: dict[str, str]) -> Moves:
    """Sort the questions by the primary measure, by another level where the primary does not apply."""
    moves = Moves()
    for pair in pairs:
        levels = [primary["level"], *(level for level, _ in _named([pair]) if level != primary["level"])]
        values = (_both(pair, level, primary["measure"]) for level in levels)
        both = next((one for one in values if one is not None), (0.0, 0.0))
        moves.sort(Moved(pair.question["key"], pair.question["question"], *both))
    return moves
