"""The commands that list merges and splits and take them back."""

from __future__ import annotations

from typing import Any

import click
from django.db.models import Exists, OuterRef

from corpus.cli_output import CommandFailed, json_option, print_json
from retrieval.graph.actions import undoing
from retrieval.graph.actions.undoing import NotUndone
from retrieval.graph.holding import Busy
from retrieval.graph.models import Entity
from retrieval.graph.resolution_models import ResolutionAudit


@click.command()
@click.option(
    "--limit", type=click.IntRange(1, 10_000), default=50, show_default=True, help="At most so many."
)
@click.option("--all", "shows_all", is_flag=True, help="Also what was undone and what undid it.")
@json_option
def merges(*, limit: int, shows_all: bool, as_json: bool) -> None:
    """List merges and splits in effect, the latest first, with the number that `undo-merge` takes."""
    effective = undoing.in_effect()
    rows = ResolutionAudit.objects.annotate(in_effect=Exists(effective.filter(pk=OuterRef("pk"))))
    rows = rows if shows_all else rows.filter(in_effect=True)
    found = [_as_dict(audit) for audit in rows.order_by("-pk")[:limit]]
    names = _names(found)
    if as_json:
        print_json({"merges": [{**row, **_named(row, names)} for row in found]})
        return
    for row in found:
        _print(row, names)
    if not found:
        click.echo("Nothing was merged or split.")


@click.command("undo-merge")
@click.argument("audit_id", type=click.IntRange(min=1))
@json_option
def undo_merge(*, audit_id: int, as_json: bool) -> None:
    """Take back the merge or split of this number; see `graph merges`.

    Entities and edges become what they were, and a merged pair waits for a decision again. Exit code 1 when
    a later merge builds on it: that has to be undone first.
    """
    audit = ResolutionAudit.objects.filter(pk=audit_id).first()
    if audit is None:
        raise CommandFailed(f"There is no number {audit_id}: 'sci-rag graph merges' lists what there is.")
    try:
        record = undoing.undo(audit=audit, by=None)
    except (NotUndone, Busy) as refusal:
        raise CommandFailed(f"Number {audit_id} was not undone. {refusal}") from None
    if as_json:
        print_json({"undone": audit.pk, "act": audit.act, "record": record.pk})
    else:
        what = "Split" if audit.act == ResolutionAudit.Act.SPLIT else "Merge"
        click.echo(f"{what} {audit.pk} is undone, recorded as number {record.pk}.")


def _as_dict(audit: ResolutionAudit) -> dict[str, Any]:
    return {
        "number": audit.pk,
        "act": audit.act,
        "winner": audit.winner_id,
        "loser": audit.loser_id,
        "tier": audit.tier,
        "method": audit.method,
        "confidence": audit.confidence,
        "by": audit.done_by_name or None,
        "at": audit.happened_at,
        "in_effect": getattr(audit, "in_effect", False),
        "undoes": audit.undoes_id,
    }


def _names(rows: list[dict[str, Any]]) -> dict[Any, str]:
    ids = {row[end] for row in rows for end in ("winner", "loser")}
    return dict(Entity.objects.filter(pk__in=ids).order_by().values_list("pk", "name"))


def _named(row: dict[str, Any], names: dict[Any, str]) -> dict[str, str | None]:
    return {f"{end}_name": names.get(row[end]) for end in ("winner", "loser")}


def _print(row: dict[str, Any], names: dict[Any, str]) -> None:
    loser, winner = (names.get(row[end], "(gone since)") for end in ("loser", "winner"))
    verb = {"merge": "merged into", "split": "split off from", "undo": "parted again from"}[row["act"]]
    who = row["by"] or "software"
    tier = f", tier {row['tier']}" if row["tier"] else ""
    click.echo(f"{row['number']:>6}  {row['at']:%Y-%m-%d %H:%M}  {loser} {verb} {winner}  ({who}{tier})")
