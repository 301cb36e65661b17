"""The command that finds entities which might be one."""

from __future__ import annotations

from typing import Any

import click

from corpus.cli_output import CommandFailed, json_option, print_json
from corpus.cli_progress import bar_with_time_left
from corpus.gateways.llm import ChatModel, fast_model
from corpus.normalise import one_line, visible
from corpus.prompt_files import InvalidPrompt
from corpus.usage import accounts
from corpus.usage.budget import Budget, Cap
from corpus.usage.capping import cap_of_a_run
from corpus.usage.cli_caps import cap_options, checked, stop_at_the_cap
from corpus.usage.estimating import Estimate
from retrieval.graph.holding import Busy
from retrieval.graph.ontology import InvalidOntology
from retrieval.graph.resolution import running
from retrieval.graph.resolution.running import Applied, Findings
from retrieval.graph.resolution.thesaurus import InvalidThesaurus
from retrieval.graph.resolution.types import Pair

_MOST_SHOWN = 50


@click.command("resolve-entities")
@click.option(
    "--apply/--dry-run",
    "applies",
    default=False,
    help="Store the proposals and apply what --tier names, or only print and ask no model.  [default: print]",
)
@click.option(
    "--tier",
    type=click.IntRange(0, 3),
    help="With --apply: apply proposals up to this tier; 0 stores all and applies none.  [default: 1]",
)
@click.option(
    "--min-confidence",
    type=click.FloatRange(0, 1),
    help="With --apply: apply only proposals at least as sure.  [default: 0]",
)
@click.option("--no-llm", is_flag=True, help="Ask no model about names whose spelling leaves it open.")
@cap_options
@json_option
def resolve_entities(
    *, applies: bool, tier: int | None, min_confidence: float | None, no_llm: bool, cap: Cap, as_json: bool
) -> None:
    """Find entities of one type that might be one, and propose them for a person to decide.

    Tier 1 are spellings, aliases and examples of the ontology, tier 2 short forms, listed names and slips of
    the pen, tier 3 what the fast model calls the same. What was decided before is not asked again. Without
    --apply the model is not asked: what asking would come to is said. Exit code 3 when the cap left no room.
    """
    if not applies and (tier is not None or min_confidence is not None):
        raise click.UsageError("--tier and --min-confidence go with --apply.")
    try:
        findings = _find(None if no_llm else fast_model(), cap, asks=applies)
        applied = (
            running.apply(
                findings, highest_tier=1 if tier is None else tier, min_confidence=min_confidence or 0.0
            )
            if applies
            else None
        )
    except (InvalidOntology, InvalidThesaurus, InvalidPrompt, Busy) as error:
        raise CommandFailed(str(error)) from None
    if as_json:
        print_json(_report(findings, applied))
    else:
        _print(findings, applied)
    if findings.stopped:
        stop_at_the_cap(findings.stopped)


def _find(model: ChatModel | None, cap: Cap, *, asks: bool) -> Findings:
    def expect(estimate: Estimate) -> None:
        checked(cap, estimate)

    with bar_with_time_left() as bar, accounts.charged_to(budget=Budget(cap_of_a_run(cap))):
        task = bar.add_task("Comparing names", total=None)
        return running.resolve(
            model=model,
            asks=asks,
            expect=expect,
            begin=lambda total: bar.update(task, total=total),
            advance=lambda entities: bar.advance(task, entities),
        )


def _report(findings: Findings, applied: Applied | None) -> dict[str, Any]:
    return {
        "dry_run": applied is None,
        "entities": len(findings.names),
        "by_tier": findings.by_tier,
        "open": findings.open,
        "called_different": len(findings.different),
        "undecided": dict(sorted(findings.undecided.items())),
        "last_error_code": findings.failure,
        "stopped": findings.stopped,
        "estimate": findings.estimate.as_dict(),
        "stored": applied and applied.stored.new,
        "changed": applied and applied.stored.changed,
        "refused": applied and applied.stored.refused,
        "chosen": applied and applied.chosen,
        "merged": applied and applied.merged,
        "pairs": [_pair(pair, findings) for pair in findings.pairs],
    }


def _pair(pair: Pair, findings: Findings) -> dict[str, Any]:
    low, high = (findings.names[end] for end in pair.ids)
    return {
        "tier": pair.tier,
        "method": pair.method,
        "confidence": pair.confidence,
        "type": low.type,
        "low": {"id": low.id, "name": low.name},
        "high": {"id": high.id, "name": high.name},
    }


def _print(findings: Findings, applied: Applied | None) -> None:
    if not findings.names:
        click.echo("The graph names nothing yet: run 'sci-rag graph extract' first.")
        return
    for pair in findings.pairs[:_MOST_SHOWN]:
        low, high = (one_line(visible(findings.names[end].name)) for end in pair.ids)
        click.echo(
            f"tier {pair.tier}  {pair.confidence:.2f}  {pair.method:<17}  "
            f"{findings.names[pair.low].type}: {low} | {high}"
        )
    if len(findings.pairs) > _MOST_SHOWN:
        click.echo(f"... and {len(findings.pairs) - _MOST_SHOWN} more; --json prints all.")
    counts = ", ".join(f"{number} of tier {tier}" for tier, number in findings.by_tier.items())
    click.echo(f"{len(findings.names)} entities compared: {counts}.")
    _print_open(findings)
    if applied is None:
        for sentence in findings.estimate.sentences() if findings.estimate.calls else ():
            click.echo(sentence)
        click.echo("Nothing was stored. --apply stores the proposals and applies tier 1.")
        return
    stored = applied.stored
    click.echo(f"Stored {stored.new} new proposals, {stored.changed} found anew, {stored.refused} refusals.")
    click.echo(f"Applied {applied.merged} of {applied.chosen}.")


def _print_open(findings: Findings) -> None:
    """Say what became of the pairs that only a model can decide."""
    if not findings.open:
        return
    said = len(findings.different)
    click.echo(f"{findings.open} pairs are open by their spelling; a model called {said} different.")
    for reason, number in sorted(findings.undecided.items()):
        click.echo(f"Not decided, {reason.replace('_', ' ')}: {number}.")
    if findings.failure:
        click.echo(f"The model gave no reply ({findings.failure.replace('_', ' ')}): run it again for them.")
