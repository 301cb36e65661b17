"""`sci-rag graph communities`: groups of entities that hang together, with a summary each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import click

from corpus.cli_output import CommandFailed, json_option, print_json
from corpus.cli_progress import bar_with_time_left
from corpus.domain_profile import InvalidProfile
from corpus.prompt_files import InvalidPrompt
from corpus.usage import accounts, estimating
from corpus.usage.budget import Budget, Cap
from corpus.usage.cli_caps import cap_options, checked, stop_at_the_cap
from retrieval.graph.actions import communities as action
from retrieval.graph.actions.communities import BuildLost, BuildUnderWay
from retrieval.graph.communities import building, queries, scopes, summarising
from retrieval.graph.communities.building import Outcome
from retrieval.graph.communities.scopes import UnknownScopeName
from retrieval.graph.communities.summarising import Summariser
from retrieval.graph.community_models import CommunityBuild


@click.command()
@click.option("--scope", "names", multiple=True, metavar="NAME", help="Only this named scope. Repeatable.")
@click.option(
    "--dry-run", is_flag=True, help="Say what would be built and come to; write nothing and ask no model."
)
@click.option("--no-llm", is_flag=True, help="Summarise by quotes even where a language model is set.")
@click.option("--list", "lists", is_flag=True, help="Show what is built, and whether the graph has changed.")
@cap_options
@json_option
def communities(
    *, names: tuple[str, ...], dry_run: bool, no_llm: bool, lists: bool, cap: Cap, as_json: bool
) -> None:
    """Group the knowledge graph into communities for each scope that domain.yaml names.

    Nothing is done where nothing has changed, and summaries whose evidence is the same are kept. The
    communities in use stay until the new ones are whole. Exit code 3 when a cap was reached: run it again
    under a higher one, and what was written is taken over.
    """
    if lists and (dry_run or no_llm):
        raise click.UsageError("--list goes with --scope and --json only.")
    try:
        wanted = _wanted(names)
        if lists:
            _show(wanted, as_json=as_json)
            return
        summariser = summarising.summariser(with_model=not no_llm)
        forgotten = 0 if names or dry_run else action.forget_unnamed(names=wanted)
        outcomes = _rehearsed(wanted, summariser) if dry_run else _all_built(wanted, summariser, cap)
    except (UnknownScopeName, InvalidProfile) as error:
        raise click.UsageError(str(error)) from None
    except (BuildUnderWay, BuildLost, InvalidPrompt) as error:
        raise CommandFailed(str(error)) from None
    if as_json:
        _print_json(outcomes, forgotten, dry_run=dry_run)
    else:
        _print(outcomes, forgotten, dry_run=dry_run)
    if stopped := next((outcome.stopped for outcome in outcomes if outcome.stopped), ""):
        stop_at_the_cap(stopped)


def _print_json(outcomes: list[Outcome], forgotten: int, *, dry_run: bool) -> None:
    report = {"dry_run": dry_run, "forgotten": forgotten, "scopes": [_report(one) for one in outcomes]}
    if dry_run:
        report["estimate"] = estimating.together(one.estimate for one in outcomes).as_dict()
    print_json(report)


def _print(outcomes: list[Outcome], forgotten: int, *, dry_run: bool) -> None:
    if forgotten:
        scopes_gone = _count(forgotten, "scope", "scopes")
        click.echo(f"Removed the communities of {scopes_gone} that domain.yaml names no more.")
    for outcome in outcomes:
        for line in _lines(outcome, dry_run=dry_run):
            click.echo(line)
    if dry_run:
        for sentence in estimating.together(one.estimate for one in outcomes).sentences():
            click.echo(sentence)
    if not outcomes:
        click.echo("domain.yaml names no scope under community_scopes: nothing to build.")


def _wanted(names: tuple[str, ...]) -> list[str]:
    for name in names:
        scopes.scope_named(name)
    return list(dict.fromkeys(names)) or list(scopes.named())


def _rehearsed(names: list[str], summariser: Summariser) -> list[Outcome]:
    return [building.rehearse(name=name, summariser=summariser) for name in names]


def _all_built(names: list[str], summariser: Summariser, cap: Cap) -> list[Outcome]:
    """Build one scope after the other under one cap, until it is reached."""
    if building.may_cost(summariser):
        expected = (outcome.estimate for outcome in _rehearsed(names, summariser))
        cap = checked(cap, estimating.together(expected))
    outcomes: list[Outcome] = []
    with accounts.charged_to(budget=Budget(cap)):
        for name in names:
            outcomes.append(_outcome(name, summariser))
            if outcomes[-1].stopped:
                break
    return outcomes


def _outcome(name: str, summariser: Summariser) -> Outcome:
    with bar_with_time_left() as bar:
        task = bar.add_task(f"Summarising {name}", total=None)

        def advance(done: int, of: int) -> None:
            bar.update(task, completed=done, total=of)

        return building.build(name=name, summariser=summariser, advance=advance)


def _report(outcome: Outcome) -> dict[str, Any]:
    return {
        "scope": outcome.scope,
        "is_unchanged": outcome.is_unchanged,
        "communities": _by_level(outcome.communities),
        "documents": outcome.documents,
        "kept": outcome.kept,
        "written": dict(sorted(outcome.written.items())),
        "failed": dict(sorted(outcome.failed.items())),
        "not_embedded": outcome.not_embedded,
        "stopped": outcome.stopped,
    }


def _lines(outcome: Outcome, *, dry_run: bool) -> Iterator[str]:
    """Yield what came of one scope, the counts first."""
    groups = _groups(outcome.communities)
    if outcome.is_unchanged:
        yield f"{outcome.scope}: {groups}; nothing to do."
        return
    if outcome.stopped:
        kept = outcome.kept + outcome.written.total()
        yield f"{outcome.scope}: stopped at the cap with {kept} summaries; the build in use stays."
        return
    verb = "would be " if dry_run else ""
    yield f"{outcome.scope}: {groups} of {_count(outcome.documents, 'document', 'documents')}."
    writers = [f"{count} {verb}written ({writer})" for writer, count in sorted(outcome.written.items())]
    if outcome.kept:
        writers.insert(0, f"{outcome.kept} {verb}kept")
    if writers:
        yield f"  Summaries: {', '.join(writers)}."
    if outcome.failed:
        reasons = ", ".join(f"{code.replace('_', ' ')} {n}" for code, n in sorted(outcome.failed.items()))
        yield f"  The model wrote nothing usable for {outcome.failed.total()} ({reasons}): run it again."
    if outcome.not_embedded:
        yield f"  {outcome.not_embedded} could not be embedded and are not found by search: run it again."


def _groups(levels: Counter[int]) -> str:
    above = sum(count for level, count in levels.items() if level)
    return _count(levels[0], "community", "communities") + (f" in {above} larger ones" if above else "")


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"


def _show(names: list[str], *, as_json: bool) -> None:
    if as_json:
        print_json({"scopes": [_row(name) for name in names]})
        return
    for name in names:
        build = queries.current_build_of(name)
        if build is None:
            click.echo(f"{name}: not built. 'sci-rag graph communities --scope {name}' builds it.")
            continue
        groups = _groups(building.levels(build))
        documents = _count(build.documents_read, "document", "documents")
        click.echo(
            f"{name}: {groups} of {documents}, built {build.finished_at:%Y-%m-%d %H:%M}; {_state(build)}."
        )


def _state(build: CommunityBuild) -> str:
    if not queries.serves(build):
        return "not used, since a document it was read from is not eligible any more: build it again"
    if queries.is_stale(build):
        return "outdated, since the graph has changed"
    return "up to date"


def _row(name: str) -> dict[str, Any]:
    """Return what is built for one scope."""
    build = queries.current_build_of(name)
    allows = scopes.scope_named(name).selection.as_dict()
    return {"scope": name, "allows": allows, "built": None if build is None else _built(build)}


def _built(build: CommunityBuild) -> dict[str, Any]:
    return {
        "at": build.finished_at,
        "communities": _by_level(building.levels(build)),
        "documents": build.documents_read,
        "written_by": sorted(set(build.communities.order_by().values_list("written_by", flat=True))),
        "method": build.method,
        "graph_sha256": build.graph_sha256,
        "is_outdated": queries.is_stale(build),
        "is_used": queries.serves(build),
    }


def _by_level(levels: Counter[int]) -> dict[str, int]:
    return {str(level): count for level, count in sorted(levels.items())}
