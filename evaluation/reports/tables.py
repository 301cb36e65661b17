"""The tables of a report as rows of words, for Markdown and pages alike. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from corpus import fingerprint_form

Report = dict[str, Any]
ANSWERS = "answers"


@dataclass(frozen=True, slots=True)
class Table:
    """A table with a caption; the first cell of each row names it."""

    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def number(value: object, digits: int = 3) -> str:
    """Return a number to three places; a word stays a word."""
    if isinstance(value, bool) or not isinstance(value, float | int):
        return "–" if value is None else str(value)
    return f"{value:.{digits}f}"


def interval(value: object) -> str:
    """Return an interval as "[0.810, 0.930]"; a word stays a word."""
    return f"[{number(value[0])}, {number(value[1])}]" if isinstance(value, list) else number(value)


def levels(report: Report) -> list[Table]:
    """Return a table for each level with the means of every configuration; for answers all there is."""
    if report["kind"] == ANSWERS:
        from evaluation.reports import answer_tables

        return answer_tables.tables(report)
    rows = [one for one in report["numbers"]["configurations"] if not one["refusal"]]
    return [_level(rows, level) for level in (rows[0]["levels"] if rows else ())]


def _level(rows: list[dict[str, Any]], level: str) -> Table:
    measures = [name for name in rows[0]["levels"][level] if name != "questions"]
    head = ("configuration", "questions", *measures)
    body = tuple(
        (
            one["name"],
            str(one["levels"][level]["questions"]),
            *(f"{number(one['levels'][level][name]['mean'])}" for name in measures),
        )
        for one in rows
    )
    return Table(f"By {level}", head, body)


def paired(report: Report) -> Table | None:
    """Return how each configuration differs from the first by the primary measure; None with only one."""
    level, measure = report["primary"]["level"], report["primary"]["measure"]
    first, *others = report["numbers"]["configurations"]
    rows = [
        (one["name"], *_difference(one["levels"][level][measure]["against_first"]))
        for one in others
        if not one["refusal"]
    ]
    if not rows:
        return None
    head = ("configuration", "difference", "95 % interval", "p", "says")
    return Table(f"{measure} by {level}, paired with {first['name']}", head, tuple(rows))


def _difference(found: dict[str, Any]) -> tuple[str, ...]:
    delta = found["delta"]
    signed = f"{delta:+.3f}" if isinstance(delta, float | int) else str(delta)
    return signed, interval(found["interval"]), number(found["p"]), str(found["word"])


def groups(report: Report) -> list[Table]:
    """Return the first configuration's numbers by tag, kind and split, where there are any."""
    first = report["numbers"]["configurations"][0]
    level, measure = report["primary"]["level"], report["primary"]["measure"]
    found = []
    for what in ("tags", "kinds", "splits"):
        if not first.get(what):
            continue
        measures = list(next(iter(first[what].values()))[level])
        rows = tuple(
            (name, str(one["questions"]), *(number(one[level][each]) for each in measures))
            for name, one in first[what].items()
        )
        caption = f"{first['name']} by {what.removesuffix('s')}, {level}s"
        found.append(Table(caption, (what.removesuffix("s"), "questions", *measures), rows))
    return found if measure else []


def questions(report: Report) -> Table:
    """Return every question that was asked with the rank of its evidence under the first configuration."""
    if report["kind"] == ANSWERS:
        from evaluation.reports import answer_tables

        return answer_tables.questions(report)
    name = report["numbers"]["configurations"][0]["name"]
    level, measure = report["primary"]["level"], report["primary"]["measure"]
    rows = tuple(
        (
            one["key"],
            "draft" if one["drafted"] else "signed",
            *_found(one["results"].get(name), level, measure),
        )
        for one in report["questions"]
        if not one["unanswerable"]
    )
    head = ("question", "ground truth", "first passage", "first document", measure)
    return Table(f"Questions, by {name}", head, rows)


def _found(result: dict[str, Any] | None, level: str, measure: str) -> tuple[str, str, str]:
    if result is None:
        return "not asked", "not asked", "–"
    if result["error"]:
        return result["error"], result["error"], "0.000"
    ranks = [
        str(result[name]) if result[name] else "not found" for name in ("first_passage", "first_document")
    ]
    measures = result["measures"].get(level) or {}
    return ranks[0], ranks[1], number(measures.get(measure))


def conditions(report: Report) -> Table:
    """Return under what the numbers were measured."""
    truth = report["ground_truth"]
    rows = [
        ("run", report["run"]),
        ("time", f"{report['started_at']} to {report['finished_at']}"),
        ("questions", f"{report['question_set']['name']} {report['question_set']['sha256']}"),
        ("ground truth", f"{truth['reviewed']} reviewed, {truth['drafted']} drafted"),
        ("corpus fingerprint", _fingerprint(report["fingerprint"])),
        ("snapshot", report["snapshot"] or "–"),
        ("embedding", report["embedding_version"] or "–"),
        ("judge", report["judge"] or "–"),
        ("code", report["code_version"]),
        ("domain profile", str(report["conditions"].get("domain_profile_sha256", "–"))),
    ]
    rows += [(f"asked for: {name}", _asked(value)) for name, value in report.get("parameters", {}).items()]
    models = report["conditions"].get("models", {})
    rows += [(f"model for {name}", model or "none") for name, model in models.items()]
    rows += [(f"prompt {name}", sha) for name, sha in report["conditions"].get("prompts", {}).items()]
    return Table("Conditions", ("condition", "value"), tuple(rows))


def _asked(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "–"
    if value is None:
        return "as the domain profile says"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value) or "–"


def refusals(report: Report) -> list[tuple[str, str]]:
    """Return the configurations that were not carried out, and why."""
    return [(one["name"], one["refusal"]) for one in report["numbers"]["configurations"] if one["refusal"]]


def _fingerprint(value: str) -> str:
    """Return a fingerprint, saying of an earlier version's that later ones do not compare with it."""
    version = fingerprint_form.version_of(value)
    if version in (0, fingerprint_form.VERSION):
        return value
    return f"{value} (made under fingerprint version {version}, not comparable with later ones)"
