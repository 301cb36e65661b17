"""`sci-rag doctor`: is the installation sound, and what mends it."""

from __future__ import annotations

import sys

import click

from corpus.cli_output import json_option, print_json
from sci_rag_site.health import doctor as health
from sci_rag_site.health.findings import Finding, Status, report

COLOURS = {Status.OK: "green", Status.WARN: "yellow", Status.FAIL: "red"}


@click.command()
@click.option("--probe", is_flag=True, help="Also make one embedding and one generation.")
@json_option
def doctor(*, probe: bool, as_json: bool) -> None:
    """Check the installation and say how to fix it. Exit code 1 when something fails."""
    findings = []
    for finding in health.examine(probe=probe):
        findings.append(finding)
        if not as_json:
            _print(finding)
    summary = report(findings)
    if as_json:
        print_json(summary)
    else:
        counts = summary["counts"]
        click.echo(f"{counts['ok']} ok, {counts['warn']} to look at, {counts['fail']} failed.")
    if summary["status"] == Status.FAIL:
        sys.exit(1)


def _print(finding: Finding) -> None:
    mark = click.style(f"{finding.status:4}", fg=COLOURS[finding.status])
    click.echo(f"{mark}  {finding.name}: {finding.message}")
    if finding.fix:
        click.echo(f"      {finding.fix}")
