"""A report as files: `report.json`, `report.md` and `report.html` with its plots in it."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Any

from django.template.loader import render_to_string
from django.utils.safestring import mark_safe

from evaluation.reports import drawing, markdown, tables

Report = dict[str, Any]


class Unreadable(ValueError):
    """A file that is no report; the message names it."""


def write(report: Report, folder: Path) -> Path:
    """Write the three forms below `folder`; return the folder they are in, one of its own for the run."""
    started = datetime.fromisoformat(report["started_at"])
    name = f"{started:%Y%m%dT%H%M%SZ}-{report['kind']}"
    target = folder / (f"{name}-{report['snapshot']}" if report["snapshot"] else name)
    if (target / "report.json").exists() and read(target / "report.json").get("run") != report["run"]:
        target = target.with_name(f"{target.name}-{report['run'][:8]}")
    target.mkdir(parents=True, exist_ok=True)
    for suffix, text in forms(report).items():
        (target / f"report.{suffix}").write_text(text, encoding="utf-8")
    return target


def forms(report: Report) -> dict[str, str]:
    """Return the text of each form of a report, by its suffix."""
    return {"json": as_json(report), "md": markdown.report(report), "html": as_html(report)}


def as_json(report: Report) -> str:
    """Return the report as one JSON object."""
    return json.dumps(report, ensure_ascii=False, indent=1) + "\n"


def as_html(report: Report) -> str:
    """Return the report as a page that needs nothing beside it."""
    plots = [drawing.values(report), *([drawing.deltas(report)] if drawing.has_deltas(report) else [])]
    return render_to_string(
        "evaluation/report_file.html",
        # Made here, of escaped text.
        {**shown(report), "plots": [mark_safe(plot) for plot in plots]},  # noqa: S308
    )


def shown(report: Report) -> dict[str, Any]:
    """Return what pages show of a report."""
    found = [*tables.levels(report), tables.paired(report), *tables.groups(report)]
    return {
        "report": report,
        "tables": [table for table in found if table is not None],
        "questions": tables.questions(report),
        "conditions": tables.conditions(report),
        "refusals": tables.refusals(report),
    }


def read(path: Path) -> Report:
    """Return a report that was written as JSON. Raises `Unreadable`."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise Unreadable(f"{path} cannot be read: {error.strerror}.") from None
    except (ValueError, RecursionError):
        raise Unreadable(f"{path} is not a report: it is not JSON.") from None
    wanted = {"kind", "question_set", "judge", "fingerprint", "numbers", "questions", "primary", "run"}
    if not isinstance(found, dict) or not wanted <= set(found):
        raise Unreadable(f"{path} is not the report of an evaluation.")
    return found
