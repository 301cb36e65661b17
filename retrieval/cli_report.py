"""A retrieval result as text for people at a terminal.

Passages are other people's text: nothing of them reaches the terminal but what can be seen.
"""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from corpus.normalise import visible
from corpus.rights import LABELS, LicenseClass
from retrieval.latency import Latency
from retrieval.routing import Route
from retrieval.types import CommunityItem, Item, OtherVersion, RetrievalResult, StageStatus, StageTrace

_EXCERPT = 400


def show(result: RetrievalResult) -> None:
    """Print the passages with where they are from, then what each stage did."""
    console = Console(highlight=False, soft_wrap=False)
    if any(trace.status is StageStatus.DENIED for trace in result.traces):
        console.print("The scope allows nothing, so nothing was searched.", style="bold red")
        return
    for number, item in enumerate(result.items, start=1):
        _show_item(console, number, item)
    if not result.items:
        console.print("Nothing in scope speaks to this question.", style="bold")
    for other in result.other_versions:
        console.print(_other_version(other))
    for community in result.communities:
        _show_community(console, community)
    if result.history.words:
        said = f"Read as a question about the past, because it says “{visible(result.history.words)}”."
        console.print(Text(said, style="dim"))
    eligible = result.eligible
    undated = f", {eligible.undated} left out for having no year" if eligible.undated else ""
    console.print(
        f"Searched {eligible.passages} passages of {eligible.documents} documents{undated}.", style="dim"
    )
    console.print(Text("; ".join(map(_stage, result.traces)), style="dim"))
    if result.degraded:
        console.print(f"Incomplete: {', '.join(result.degraded)} did not finish.", style="bold yellow")


def show_route(route: Route) -> None:
    """Print where `auto` sends the question, and why."""
    console = Console(highlight=False, soft_wrap=True)
    console.print(Text(f"Routing: {route.profile} with {', '.join(route.layers)}."))
    for reason in route.reasons:
        console.print(Padding(Text(visible(reason)), (0, 0, 0, 3)))


def show_latency(rows: Sequence[Latency]) -> None:
    """Print a table of stages."""
    table = Table("stage", "requests", "p50 ms", "p95 ms", "slowest ms", "ended")
    for row in rows:
        ended = ", ".join(f"{status} {count}" for status, count in row.statuses.items())
        times = (f"{value:.1f}" for value in (row.p50, row.p95, row.slowest))
        table.add_row(row.stage, str(row.requests), *times, ended)
    Console(highlight=False).print(table)


def _show_item(console: Console, number: int, item: Item) -> None:
    heading = Text(f"{number}. ", style="bold")
    heading.append(visible(item.title), style="bold")
    for badge in item.badges:
        heading.append(f" [{badge.upper()}]", style="bold red")
    console.print(heading)
    found = ", ".join(f"{layer} #{rank}" for layer, rank in item.ranks.items())
    rights = LABELS[LicenseClass(item.license_class)]
    # A passage without a section has its page for a locator.
    facts = dict.fromkeys([item.locator, item.pages, rights, item.bucket, found])
    details = Text(" · ".join(visible(fact) for fact in facts if fact), style="cyan")
    excerpt = visible(item.body[:_EXCERPT]) + (" …" if len(item.body) > _EXCERPT else "")
    twins = [Text(visible(f"Also in: {other.citation}"), style="dim") for other in item.also_in]
    others = [_other_version(other) for other in item.other_versions]
    remarks = [Text(remark, style="dim") for remark in item.adjustments]
    for line in (details, Text(excerpt), *twins, *others, *remarks):
        console.print(Padding(line, (0, 0, 0, 3)))
    console.print()


def _show_community(console: Console, community: CommunityItem) -> None:
    console.print(Text(visible(community.title), style="bold"))
    facts = f"theme of {community.documents} documents, summarised by {visible(community.written_by)}"
    for line in (Text(facts, style="cyan"), Text(visible(community.body[:_EXCERPT]))):
        console.print(Padding(line, (0, 0, 0, 3)))
    console.print()


def _other_version(other: OtherVersion) -> Text:
    return Text(f"{visible(other.line)} ({visible(other.reason)}, passage {other.id})", style="yellow")


def _stage(trace: StageTrace) -> str:
    mode = f" ({trace.mode})" if trace.mode else ""
    reason = f", {trace.reason}" if trace.reason else ""
    found = f"{trace.candidates} found in {trace.milliseconds:.0f} ms"
    return f"{trace.stage}: {trace.status}, {found}{mode}{reason}"
