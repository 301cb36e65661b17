"""The commands of the knowledge graph."""

from __future__ import annotations

import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import click

from corpus.cli_output import CommandFailed, json_option, print_json
from corpus.cli_progress import bar_with_time_left
from corpus.prompt_files import InvalidPrompt
from retrieval.cli_graph_communities import communities
from retrieval.cli_graph_merges import merges, undo_merge
from retrieval.cli_graph_resolution import resolve_entities
from retrieval.cli_graph_show import citations, show
from retrieval.graph.actions import gc as collecting
from retrieval.graph.extraction import background, choosing, running
from retrieval.graph.extraction.choosing import NoModel
from retrieval.graph.extraction.replay import InvalidReplay, Replay
from retrieval.graph.extraction.running import Reach, Rehearsal
from retrieval.graph.extraction.types import Extractor
from retrieval.graph.models import ExtractionRun
from retrieval.graph.ontology import InvalidOntology, Ontology, active_ontology

_SHOWN = (
    "passages_done", "batches_done", "batches_failed",
    "entities_added", "mentions_added", "relationships_added",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Form:
    dry_run: bool
    as_json: bool


@click.group()
def graph() -> None:
    """Make and keep the knowledge graph."""


graph.add_command(communities)
graph.add_command(show)
graph.add_command(citations)
graph.add_command(merges)
graph.add_command(undo_merge)
graph.add_command(resolve_entities)


@graph.command()
@click.option("--rules", "kind", flag_value="rules", help="Without a model, by the ontology.  [default]")
@click.option("--model", "kind", flag_value="model", help="With the configured language model.")
@click.option(
    "--replay",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Take the model's replies from this file; with --model, ask for what is not there and add it.",
)
@click.option("--limit", type=click.IntRange(min=1), help="Read at most so many passages.")
@click.option("--again", is_flag=True, help="Read also what was read before; what is there stays.")
@click.option("--dry-run", is_flag=True, help="Say what would be found; write nothing.")
@click.option("--background", "in_background", is_flag=True, help="Leave it to the worker.")
@json_option
def extract(
    *,
    kind: choosing.Kind | None,
    replay: Path | None,
    limit: int | None,
    again: bool,
    dry_run: bool,
    in_background: bool,
    as_json: bool,
) -> None:
    """Read passages that were not read yet and note what they name and what they say holds between.

    Everything kept stands in its passage word by word; what does not is left out and counted by reason.
    Exit code 1 when no batch could be read: then nothing is noted as read.
    """
    if in_background and (replay or again or dry_run):
        raise click.UsageError("--background goes with --rules, --model and --limit only.")
    if replay and kind == "rules":
        raise click.UsageError("--replay holds replies of a model: it does not go with --rules.")
    try:
        if in_background:
            _enqueue(kind or "rules", limit, as_json)
            return
        ontology = active_ontology()
        extractor, kept = _extractor(kind, replay, ontology)
        _run(
            extractor,
            ontology,
            kept,
            Reach(limit=limit, again=again),
            _Form(dry_run=dry_run, as_json=as_json),
        )
    except (InvalidOntology, InvalidPrompt, InvalidReplay, NoModel) as error:
        raise CommandFailed(str(error)) from None


@graph.command()
@click.option(
    "--apply/--dry-run", "applies", default=False, help="Remove it, or only count.  [default: count]"
)
@json_option
def gc(*, applies: bool, as_json: bool) -> None:
    """Remove entities without evidence, edges without ends and empty communities. Tombstones stay."""
    garbage = collecting.collect() if applies else collecting.preview()
    if as_json:
        print_json({"dry_run": not applies, **asdict(garbage)})
        return
    verb = "Removed" if applies else "Would remove"
    click.echo(
        f"{verb} {garbage.entities} entities, {garbage.relationships} edges and "
        f"{garbage.communities} communities that nothing supports."
    )


def _enqueue(kind: choosing.Kind, limit: int | None, as_json: bool) -> None:  # noqa: FBT001 - as asked for
    run = background.enqueue(kind=kind, limit=limit, by=None)
    if as_json:
        print_json({"run": run.pk, "state": run.state, "passages": run.passages})
    else:
        click.echo(f"Run {run.pk}: {run.passages} passages for the worker.")


def _extractor(
    kind: choosing.Kind | None, replay: Path | None, ontology: Ontology
) -> tuple[Extractor, Replay | None]:
    if replay is not None:
        return choosing.replayed(ontology, replay, asks_model=kind == "model")
    return (choosing.model(ontology) if kind == "model" else choosing.rules(ontology)), None


def _run(extractor: Extractor, ontology: Ontology, kept: Replay | None, reach: Reach, form: _Form) -> None:
    total = running.count(extractor, reach)
    with bar_with_time_left() as bar:
        task = bar.add_task("Reading passages", total=total)

        def advance(passages: int) -> None:
            bar.advance(task, passages)

        work = running.rehearse if form.dry_run else running.extract
        found = work(extractor=extractor, ontology=ontology, reach=reach, advance=advance)
    if kept is not None:
        kept.save()
    report = _report(found, extractor.name)
    if form.as_json:
        print_json(report)
    else:
        _print(report)
    if report["batches_failed"] and not report["batches_done"]:
        sys.exit(1)


def _report(found: ExtractionRun | Rehearsal, extractor: str) -> dict[str, Any]:
    common = {"extractor": extractor, "last_error_code": found.last_error_code}
    if isinstance(found, ExtractionRun):
        counts = {name: getattr(found, name) for name in _SHOWN}
        return {"run": found.pk, "dry_run": False, **common, **counts, "dropped": found.dropped}
    counts = {
        "passages_done": found.passages,
        "batches_done": found.batches_done,
        "batches_failed": found.batches_failed,
        "entities_added": len(found.entities),
        "mentions_added": found.mentions,
        "relationships_added": found.relationships,
    }
    dropped = {reason.value: number for reason, number in sorted(found.dropped.items())}
    return {"run": None, "dry_run": True, **common, **counts, "dropped": dropped}


def _print(report: dict[str, Any]) -> None:
    verb = "Would find" if report["dry_run"] else "Added"
    click.echo(f"{report['passages_done']} passages read by {report['extractor']}.")
    click.echo(
        f"{verb} {report['entities_added']} entities, {report['mentions_added']} mentions and "
        f"{report['relationships_added']} relationships."
    )
    for reason, number in report["dropped"].items():
        click.echo(f"Left out, {reason.replace('_', ' ')}: {number}.")
    if report["batches_failed"]:
        code = report["last_error_code"].replace("_", " ")
        click.echo(f"{report['batches_failed']} batches could not be read ({code}): run it again for them.")
