"""Reports and comparisons as Markdown. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from evaluation.reports import tables
from evaluation.reports.comparison import Comparison, Moved
from evaluation.reports.tables import Table, number

Report = dict[str, Any]


def report(found: Report) -> str:
    """Return a report: what to be warned of comes before the first number."""
    parts = [f"# Evaluation of {found['kind']}: {found['question_set']['name']}", ""]
    parts += [f"> **Warning.** {warning}" for warning in found["warnings"]]
    parts += [f"> Not carried out: {name}, because {why}." for name, why in tables.refusals(found)]
    shown = [*tables.levels(found), tables.paired(found), *tables.groups(found)]
    shown += [tables.questions(found), tables.conditions(found)]
    for one in shown:
        if one is not None:
            parts += ["", *table(one)]
    return "\n".join(parts) + "\n"


def comparison(found: Comparison) -> str:
    """Return a comparison: whether it compares, the measures, the questions that moved."""
    notes = [f"> Compared although {note}." for note in found.notes]
    head = ("measure", "before", "after", "difference", "95 % interval", "p", "says")
    parts = [
        "# Comparison",
        "",
        *(notes or ["Comparable: kind, questions, corpus and judge are the same."]),
        "",
    ]
    parts += table(
        Table(f"{found.configurations[0]} before, {found.configurations[1]} after", head, measures(found))
    )
    for title, moved in moves(found):
        parts += ["", f"## {title}: {len(moved)}", *(f"- {line}" for line in map(_moved, moved))]
    return "\n".join([*parts, "", f"Unchanged: {found.moves.unchanged}"]) + "\n"


def measures(found: Comparison) -> tuple[tuple[str, ...], ...]:
    """Return a row of words for each measure."""
    return tuple(
        (
            f"{one['level']} {one['measure']}",
            number(one["before"]),
            number(one["after"]),
            _signed(one["delta"]),
            tables.interval(one["interval"]),
            number(one["p"]),
            str(one["word"]),
        )
        for one in (each.as_dict() for each in found.measures)
    )


def moves(found: Comparison) -> list[tuple[str, list[Moved]]]:
    """Return the lists of questions that moved, with their names."""
    return [
        ("Regressed", found.moves.regressed),
        ("Disappeared: found before, not after", found.moves.disappeared),
        ("Improved", found.moves.improved),
        ("Appeared: found after, not before", found.moves.appeared),
    ]


def _moved(one: Moved) -> str:
    return f"`{one.key}` {number(one.before)} → {number(one.after)} {_cell(one.question)}"


def _signed(value: object) -> str:
    return f"{value:+.3f}" if isinstance(value, float | int) else str(value)


def table(found: Table) -> list[str]:
    """Return the lines of a table under its caption."""
    return [
        f"## {found.caption}",
        "",
        _line(found.head),
        _line("---" for _ in found.head),
        *(_line(map(_cell, row)) for row in found.rows),
    ]


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cell(text: str) -> str:
    """Return text that cannot end its cell or start markup."""
    plain = " ".join(text.split())
    for char in "\\`*_|<>[]":
        plain = plain.replace(char, f"\\{char}")
    return plain
