"""A decision of the compression gate as tables and Markdown. Pure."""

from __future__ import annotations

from typing import Any

from evaluation.judging.rubric import LABELS
from evaluation.reports import markdown
from evaluation.reports.tables import Table, interval, number

ADOPTED = "Adopted: no judged dimension got worse, and prompts got shorter."
REJECTED = "Rejected: condensing is not to be switched on by these runs."


def tables(numbers: dict[str, Any]) -> list[Table]:
    """Return the dimensions, the prompts, and what became of the sources."""
    return [_dimensions(numbers["dimensions"]), _tokens(numbers["tokens"]), _sources(numbers["compression"])]


def text(decision: dict[str, Any]) -> str:
    """Return a decision as Markdown: the verdict and its reasons before the numbers."""
    parts = ["# Compression gate", "", ADOPTED if decision["adopted"] else REJECTED, ""]
    parts += [f"- {reason}." for reason in decision["reasons"]]
    parts += [f"> **Warning.** {warning}" for warning in decision["numbers"]["warnings"]]
    for table in tables(decision["numbers"]):
        parts += ["", *markdown.table(table)]
    parts += ["", f"Whole sources: run {decision['whole']}. Condensed sources: run {decision['condensed']}."]
    return "\n".join(parts) + "\n"


def _dimensions(found: list[dict[str, Any]]) -> Table:
    head = ("dimension", "whole", "condensed", "difference", "95 % interval", "says")
    rows = tuple(
        (
            LABELS.get(one["dimension"], one["dimension"]),
            number(one["before"]),
            number(one["after"]),
            f"{one['delta']:+.3f}",
            interval(one["interval"]),
            "no loss shown" if one["holds"] else "speaks against it",
        )
        for one in found
    )
    return Table("Judged dimensions, 0 to 2, question by question", head, rows)


def _tokens(found: dict[str, Any]) -> Table:
    head = ("questions", "median, whole", "median, condensed", "change", "95 % interval", "says")
    row = (
        str(found["questions"]),
        *(number(found[name], 0) for name in ("before", "after", "change")),
        _whole_numbers(found["interval"]),
        "measurably shorter" if found["fell"] else "speaks against it",
    )
    return Table("Tokens of the prompt", head, (row,))


def _whole_numbers(value: object) -> str:
    return f"[{value[0]:,.0f}, {value[1]:,.0f}]" if isinstance(value, list) else str(value)


def _sources(found: dict[str, int]) -> Table:
    head = ("answers", "sources condensed", "set aside", "kept whole", "tokens that the summaries took")
    took = found["prompt_tokens_taken"] + found["completion_tokens_taken"]
    row = (*(str(found[name]) for name in ("answers", "condensed", "set_aside", "whole")), f"{took:,}")
    return Table("What became of the sources", head, (row,))
