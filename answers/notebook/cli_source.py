"""The commands about works: registering one, finding it, asking an index about it, removing its record."""

from __future__ import annotations

import sys
from typing import Any
from uuid import UUID

import click
from django.db.models import Count, Q, QuerySet

from answers.notebook import actions
from answers.notebook.cli_accounts import work_named
from answers.notebook.naming import KINDS, NotNamed, named
from corpus.actions import sources
from corpus.cli_output import CommandFailed, json_option, print_json
from corpus.enrichment import running
from corpus.gateways.http import ContactMissing
from corpus.models import Source
from corpus.normalise import visible

_KIND = click.Choice(list(KINDS))
_SHOWN = 70


@click.group()
def source() -> None:
    """Register works that notes name, held or not, and see what is known of them."""


@source.command()
@click.argument("work", metavar="[WORK]", default="")
@click.option("--kind", type=_KIND, default=None, help="What WORK is.  [default: found out]")
@click.option("--title", default="", help="What the work is called; alone, what identifies it.")
@json_option
def add(*, work: str, kind: str | None, title: str, as_json: bool) -> None:
    """Register WORK: a DOI, an arXiv number, an ISBN, a PubMed number, an address or a title."""
    told = work_named(work, kind=kind or "", title=title)
    row, is_new = sources.register(kind=told.kind, value=told.value, title=told.title, by=None)
    if as_json:
        print_json({"new": is_new, **_as_dict(_found().get(pk=row.pk))})
    else:
        click.echo(f"{'Registered' if is_new else 'Known already'}: {row.pk} {_line(row)}")


@source.command("list")
@click.option("--search", "text", default="", help="Only works whose title or identifier holds this.")
@click.option("--kind", type=_KIND, help="Only works identified like this.")
@click.option("--noted", is_flag=True, help="Only works that a note is linked to.")
@click.option("--limit", type=click.IntRange(1, 10_000), default=50, show_default=True, help="Works at most.")
@json_option
def list_sources(*, text: str, kind: str | None, noted: bool, limit: int, as_json: bool) -> None:
    """List the works that have a record, held or not, under no ceiling."""
    rows = _found()
    if text:
        rows = rows.filter(Q(title__icontains=text) | Q(identifier_value__icontains=text))
    if kind:
        rows = rows.filter(identifier_type="" if kind == "title" else kind)
    if noted:
        rows = rows.filter(notes__gt=0)
    total, shown = rows.count(), list(rows.order_by("first_seen_at", "id")[:limit])
    if as_json:
        print_json({"total": total, "sources": [_as_dict(row) for row in shown]})
        return
    for row in shown:
        click.echo(f"{row.pk}\t{row.held} held\t{row.notes} notes\t{_line(row)}")
    more = f", {total - len(shown):,} more than shown" if total > len(shown) else ""
    click.echo(f"{total:,} works{more}.")


@source.command()
@click.argument("work", metavar="ID-OR-WORK")
@json_option
def show(*, work: str, as_json: bool) -> None:
    """Show what is known of a work: its record, what was asserted about it, when it was checked."""
    row = _one(work)
    told = _as_dict(row) | {
        "authors": row.authors,
        "year": row.year,
        "container": row.container,
        "events": [
            {
                "kind": event.kind,
                "origin": event.origin,
                "on": event.happened_on,
                "notice_doi": event.notice_doi,
            }
            for event in row.events.order_by("happened_on", "id")
        ],
        "documents": [str(key) for key in row.documents.order_by("id").values_list("pk", flat=True)],
    }
    if as_json:
        print_json(told)
        return
    click.secho(_line(row), bold=True)
    click.echo(f"{row.pk} · {row.held} documents held · {row.notes} notes")
    for event in told["events"]:
        click.echo(f"  {event['on']:%Y-%m-%d} {event['kind']} ({event['origin']})")
    for check in told["checks"]:
        reason = f": {check['reason']}" if check["reason"] else ""
        click.echo(
            f"  {check['provider']} asked on {check['checked_at']:%Y-%m-%d}, {check['outcome']}{reason}"
        )
    if not told["checks"]:
        click.echo("  Never checked for a retraction.")


@source.command()
@click.argument("works", metavar="ID-OR-WORK...", nargs=-1, required=True)
@click.option("--dry-run", is_flag=True, help="Say which works would be asked about; ask nobody.")
@json_option
def check(*, works: tuple[str, ...], dry_run: bool, as_json: bool) -> None:
    """Ask Crossref about works with a DOI now, whenever they were checked last.

    The exit code is 1 when a check failed: then nothing is known of the work.
    """
    rows = [_one(work) for work in works]
    without = [row for row in rows if row.identifier_type != Source.IdentifierType.DOI]
    if without:
        raise CommandFailed(f"Only works with a DOI can be checked: {_line(without[0])} has none.")
    report = running.Enriched(due=len(rows))
    if not dry_run:
        try:
            report = running.check(rows)
        except ContactMissing as error:
            raise CommandFailed(str(error)) from None
    told = [_one(str(row.pk)) for row in rows]
    if as_json:
        print_json(
            {"dry_run": dry_run, "checked": report.checked, "sources": [_as_dict(row) for row in told]}
        )
    else:
        for row in told:
            click.echo(f"{_line(row)}{'' if dry_run else f': {_outcome(row)}'}")
        click.echo(f"{report.checked:,} of {len(rows):,} checked{', nobody was asked' if dry_run else ''}.")
    if report.failed or report.stopped:
        sys.exit(1)


@source.command()
@click.argument("work", metavar="ID-OR-WORK")
@click.option("--yes", is_flag=True, help="Do not ask.")
@json_option
def delete(*, work: str, yes: bool, as_json: bool) -> None:
    """Remove the record of a work that nothing refers to: no document, no note, no event."""
    row = _one(work)
    if not yes:
        click.confirm(f"Remove the record of {_line(row)[:_SHOWN]!r}?", abort=True, err=True)
    try:
        actions.delete_source(source=row, by=None)
    except actions.SourceInUse as refusal:
        raise CommandFailed(str(refusal)) from None
    if as_json:
        print_json({"source": row.pk, "deleted": True})
    else:
        click.echo(f"Removed: {_line(row)}")


def _found() -> QuerySet[Any]:
    return Source.objects.annotate(
        held=Count("documents", distinct=True), notes=Count("observation_links__observation", distinct=True)
    ).prefetch_related("checks")


def _one(given: str) -> Any:
    """Return the record with this id, or of the work that is named like this."""
    try:
        rows = _found().filter(pk=UUID(given))
    except ValueError:
        try:
            work = named(given)
        except NotNamed as refusal:
            raise click.UsageError(str(refusal)) from None
        rows = _found().filter(identifier_type=work.kind, identifier_value=work.value)
        if not work.kind:
            rows = rows.filter(title__iexact=work.title)
    found = list(rows.order_by("first_seen_at", "id")[:2])
    if not found:
        raise CommandFailed(f"No work is registered as {visible(given)}. 'sci-rag source add' registers it.")
    if len(found) > 1:
        raise CommandFailed("More than one work is called that. Give the id of one: 'sci-rag source list'.")
    return found[0]


def _as_dict(row: Any) -> dict[str, Any]:
    return {
        "id": row.pk,
        "kind": row.identifier_type,
        "value": row.identifier_value,
        "title": row.title,
        "retracted": row.is_retracted,
        "concern": row.has_concern,
        "corrected": row.is_corrected,
        "held": row.held,
        "notes": row.notes,
        "checks": [
            {
                "provider": check.provider,
                "outcome": check.outcome,
                "reason": check.reason,
                "checked_at": check.checked_at,
                "last_good_at": check.last_good_at,
            }
            for check in row.checks.all()
        ],
    }


def _line(row: Source) -> str:
    known = f"{row.get_identifier_type_display()} {row.identifier_value}" if row.identifier_value else ""
    status = "RETRACTED" if row.is_retracted else "EXPRESSION OF CONCERN" if row.has_concern else ""
    return visible(" · ".join(filter(None, [row.title, known, status])) or str(row.pk)).replace("\n", " ")


def _outcome(row: Source) -> str:
    checks = sorted(row.checks.all(), key=lambda check: check.checked_at)
    if not checks:
        return "not checked"
    last = checks[-1]
    return "checked" if not last.reason else f"the check failed, {last.reason.replace('_', ' ')}"
