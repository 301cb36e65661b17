"""`sci-rag graph extract` and `graph resume`: reading passages for what they name and say."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

import click

from corpus.cli_output import CommandFailed, json_option, print_json
from corpus.cli_progress import bar_with_time_left
from corpus.prompt_files import InvalidPrompt
from corpus.run_claims import RunLost
from corpus.usage.budget import Cap
from corpus.usage.capping import budget_of
from corpus.usage.cli_caps import cap_options, checked, only_said, stop_at_the_cap
from retrieval.graph.actions import extraction as action
from retrieval.graph.actions.extraction import CannotResume
from retrieval.graph.extraction import background, choosing, estimating, running
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
    cap: Cap


@click.command()
@click.option("--rules", "kind", flag_value="rules", help="Without a model, by the ontology.  [default]")
@click.option("--model", "kind", flag_value="model", help="With the configured language model.")
@click.option(
    "--replay",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Take the model's replies from this file; with --model, ask for what is not there and add it.",
)
@click.option("--limit", type=click.IntRange(min=1), help="Read at most so many passages.")
@click.option("--again", is_flag=True, help="Read also what was read before; what is there stays.")
@click.option(
    "--dry-run", is_flag=True, help="Write nothing: say what would be found, or what asking a model comes to."
)
@click.option("--background", "in_background", is_flag=True, help="Leave it to the worker.")
@cap_options
@json_option
def extract(
    *,
    kind: choosing.Kind | None,
    replay: Path | None,
    limit: int | None,
    again: bool,
    dry_run: bool,
    in_background: bool,
    cap: Cap,
    as_json: bool,
) -> None:
    """Read passages that were not read yet and note what they name and what they say holds between.

    Everything kept stands in its passage word by word; what does not is left out and counted by reason.
    Exit code 1 when no batch could be read: then nothing is noted as read. Exit code 3 when the run stopped
    at its cap: 'graph resume' goes on with it under a higher one.
    """
    if in_background and (replay or again or dry_run):
        raise click.UsageError("--background goes with --rules, --model and --limit only.")
    if replay and kind == "rules":
        raise click.UsageError("--replay holds replies of a model: it does not go with --rules.")
    try:
        if in_background:
            _enqueue(kind or "rules", limit, cap, as_json)
            return
        ontology = active_ontology()
        extractor, kept = _extractor(kind, replay, ontology)
        _run(
            extractor,
            ontology,
            kept,
            Reach(limit=limit, again=again),
            _Form(dry_run=dry_run, as_json=as_json, cap=cap),
        )
    except (InvalidOntology, InvalidPrompt, InvalidReplay, NoModel, RunLost) as error:
        raise CommandFailed(str(error)) from None


@click.command()
@click.argument("run", type=click.UUID)
@cap_options
@json_option
def resume(*, run: UUID, cap: Cap, as_json: bool) -> None:
    """Go on with RUN, which stopped at its cap, under a higher one or none; or whose process was killed.

    What it has used counts. One that workers carried out is left to them again.
    """
    action.close_abandoned()
    try:
        _go_on(action.resume(run=run, cap=cap), as_json=as_json)
    except (CannotResume, InvalidOntology, InvalidPrompt, NoModel, RunLost) as error:
        raise CommandFailed(str(error)) from None


def _enqueue(kind: choosing.Kind, limit: int | None, cap: Cap, as_json: bool) -> None:  # noqa: FBT001 - as asked for
    estimate = estimating.estimate(_extractor(kind, None, active_ontology())[0], Reach(limit=limit))
    run = background.enqueue(kind=kind, limit=limit, cap=checked(cap, estimate), by=None)
    _queued(run, as_json=as_json)


def _go_on(run: ExtractionRun, *, as_json: bool) -> None:
    """Carry a run on that stopped at its cap, here or by the worker, wherever it was."""
    if run.is_for_workers:
        background.ring(run.pk)
        _queued(run, as_json=as_json)
        return
    ontology = active_ontology()
    extractor = _extractor("model" if run.extractor.startswith("model@") else "rules", None, ontology)[0]
    if extractor.name != run.extractor:
        action.stop_at_the_cap(run=run.pk)
        raise CannotResume(
            f"Run {run.pk} began as {run.extractor}, and the ontology or prompt has changed since: "
            "begin anew."
        )
    limit = run.parameters["limit"]
    left = None if limit is None else max(0, limit - run.passages_done)
    reach = Reach(limit=left, again=run.parameters.get("again", False), since=run.started_at)
    with bar_with_time_left() as bar:
        task = bar.add_task("Reading passages", total=running.count(extractor, reach))

        def advance(passages: int) -> None:
            bar.advance(task, passages)

        found = running.to_its_end(run, extractor=extractor, ontology=ontology, reach=reach, advance=advance)
    _end(found, extractor.name, as_json=as_json)


def _queued(run: ExtractionRun, *, as_json: bool) -> None:
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
    estimate = estimating.estimate(extractor, reach)
    if form.dry_run and estimate.calls:
        # A dry run that asked a model would cost what it is there to tell beforehand.
        only_said(estimate, as_json=form.as_json)
        return
    cap = checked(form.cap, estimate) if estimate.calls else form.cap
    total = running.count(extractor, reach)
    with bar_with_time_left() as bar:
        task = bar.add_task("Reading passages", total=total)

        def advance(passages: int) -> None:
            bar.advance(task, passages)

        common = {"extractor": extractor, "ontology": ontology, "reach": reach, "advance": advance}
        found: ExtractionRun | Rehearsal = (
            running.rehearse(**common) if form.dry_run else running.extract(**common, cap=cap)  # type: ignore[arg-type]
        )
    if kept is not None:
        kept.save()
    _end(found, extractor.name, as_json=form.as_json)


def _end(found: ExtractionRun | Rehearsal, extractor: str, *, as_json: bool) -> None:
    report = _report(found, extractor)
    if as_json:
        print_json(report)
    else:
        _print(report)
    if isinstance(found, ExtractionRun) and found.state == ExtractionRun.State.CAPPED:
        if not as_json:
            click.echo(f"Go on with 'sci-rag graph resume {found.pk}' and a higher cap.")
        stop_at_the_cap(budget_of(found).reached)
    if report["batches_failed"] and not report["batches_done"]:
        sys.exit(1)


def _report(found: ExtractionRun | Rehearsal, extractor: str) -> dict[str, Any]:
    common = {"extractor": extractor, "last_error_code": found.last_error_code}
    if isinstance(found, ExtractionRun):
        counts = {name: getattr(found, name) for name in _SHOWN}
        state = {"state": found.state, "tokens_used": found.tokens_used}
        return {"run": found.pk, "dry_run": False, **state, **common, **counts, "dropped": found.dropped}
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
