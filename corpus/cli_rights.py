"""The commands about rights: what waits, deciding on one document, and embargoes that ended."""

from __future__ import annotations

import getpass
from dataclasses import asdict
from typing import Any
from uuid import UUID

import click
from django.contrib.auth.models import User

from corpus import review_queue
from corpus.actions import embargoes
from corpus.actions.rights import Operator, RightsError, effects, set_license
from corpus.cli_explain import explain
from corpus.cli_output import CommandFailed, json_option, print_json
from corpus.identifiers import normalise_doi
from corpus.models import Document
from corpus.review_queue import AGES, SIGNALS, Filters, Row
from corpus.rights import ALL_CLASSES, parse_class

_CLASS = click.Choice([item.value for item in ALL_CLASSES])
_SHOWN = 60


@click.group()
def rights() -> None:
    """See what waits for a decision about rights, and decide."""


rights.add_command(explain)


def _person(name: str) -> User:
    try:
        return User.objects.get(username=name, is_active=True)
    except User.DoesNotExist:
        raise CommandFailed(
            f"There is no active account called {name!r}. 'sci-rag users' makes one."
        ) from None


@rights.command()
@click.option("--user", metavar="NAME", help="Whose queue: what their ceiling covers. Everything without it.")
@click.option("--bucket", default="", help="Only of this collection.")
@click.option("--held", "license_class", type=_CLASS, help="Only what is held under this class.")
@click.option("--suggested", type=_CLASS, help="Only what this class is suggested for.")
@click.option("--signal", type=click.Choice(SIGNALS), help="Only with this kind of signal.")
@click.option("--age", type=click.Choice([str(days) for days in AGES]), help="Waiting so many days or more.")
@click.option("--limit", type=click.IntRange(1, 10_000), default=50, show_default=True, help="Rows at most.")
@json_option
def queue(*, user: str | None, limit: int, as_json: bool, **narrowing: str | None) -> None:
    """List what waits for a decision about rights, the longest wait first."""
    filters = Filters.of({name: value or "" for name, value in narrowing.items()})
    everything = (
        review_queue.waiting_of(Document.objects.all())
        if user is None
        else review_queue.waiting(_person(user))
    )
    waiting = review_queue.narrowed(everything, filters)
    total, rows = waiting.count(), review_queue.rows(waiting[:limit])
    if as_json:
        narrowed = {name: value for name, value in asdict(filters).items() if value}
        print_json({"total": total, "filters": narrowed, "documents": [_as_dict(row) for row in rows]})
        return
    for row in rows:
        document, target = row.document, row.suggested or "?"
        title = document.title if len(document.title) <= _SHOWN else f"{document.title[: _SHOWN - 1]}…"
        click.echo(f"{document.pk}\t{row.since:%Y-%m-%d}\t{document.license_class} -> {target}\t{title}")
    more = f", {total - len(rows):,} more than shown" if total > len(rows) else ""
    click.echo(f"{total:,} waiting{more}.")


def _as_dict(row: Row) -> dict[str, Any]:
    document = row.document
    return {
        "document": document.pk,
        "title": document.title,
        "bucket": document.bucket,
        "license_class": document.license_class,
        "suggested": row.suggested,
        "signal": row.signal,
        "reason": row.reason,
        "statement": document.rights_statement,
        "embargoed_until": document.embargoed_until,
        "since": row.since,
    }


@rights.command("set")
@click.argument("document", metavar="ID-OR-DOI")
@click.argument("license_class", metavar="CLASS", type=_CLASS)
@click.option(
    "--evidence", default="", help="Address or quotation; needed where more is allowed than before."
)
@click.option("--note", default="", help="Why, for whoever reads the log later.")
@click.option("--by", metavar="NAME", help="The account that decides, within its ceiling. You, without it.")
@click.option("--dry-run", is_flag=True, help="Say what would change; change nothing.")
@json_option
def set_class(
    *,
    document: str,
    license_class: str,
    evidence: str,
    note: str,
    by: str | None,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Give a document the class a person decided on, and record it."""
    person = Operator(getpass.getuser()) if by is None else _person(by)
    target = parse_class(license_class)
    row = _document(document)
    does = effects([row.license_class], target)
    if not dry_run:
        try:
            set_license(documents=[row], license_class=target, by=person, evidence=evidence, note=note)
        except RightsError as refusal:
            raise CommandFailed(str(refusal)) from None
    change = "raised" if does.raised else "lowered" if does.lowered else "unchanged"
    if as_json:
        print_json(
            {
                "dry_run": dry_run,
                "document": row.pk,
                "from": row.license_class,
                "to": target,
                "change": change,
            }
        )
        return
    would = "would be " if dry_run else ""
    click.echo(f"{row.pk}: {row.license_class} -> {target}, {would}{change}.")


@rights.command("embargoes")
@json_option
def embargoes_command(*, as_json: bool) -> None:
    """Ask a person about every document whose embargo has ended. The worker does the same every hour."""
    asked = embargoes.raise_due()
    under = Document.objects.filter(embargoed_until__isnull=False).count()
    if as_json:
        print_json({"asked": asked, "with_a_day": under})
    else:
        click.echo(f"{asked:,} asked about now; {under:,} documents have an embargo date.")


def _document(given: str) -> Document:
    """Return the one document with this id or DOI."""
    doi = normalise_doi(given)
    try:
        found = (
            Document.objects.filter(doi_normalised=doi) if doi else Document.objects.filter(pk=UUID(given))
        )
    except ValueError:
        raise click.UsageError(f"{given!r} is neither an id nor a DOI.") from None
    rows = list(found.order_by("id")[:2])
    if not rows:
        raise CommandFailed(f"No document is held as {given}.")
    if len(rows) > 1:
        raise CommandFailed(f"More than one document has the DOI {doi}. Give the id of one.")
    return rows[0]
