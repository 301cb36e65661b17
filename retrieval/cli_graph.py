"""The commands of the knowledge graph."""

from __future__ import annotations

from dataclasses import asdict

import click

from corpus.cli_output import json_option, print_json
from retrieval.cli_graph_communities import communities
from retrieval.cli_graph_extract import extract, resume
from retrieval.cli_graph_merges import merges, undo_merge
from retrieval.cli_graph_resolution import resolve_entities
from retrieval.cli_graph_show import citations, show
from retrieval.graph.actions import gc as collecting


@click.group()
def graph() -> None:
    """Make and keep the knowledge graph."""


graph.add_command(extract)
graph.add_command(resume)
graph.add_command(communities)
graph.add_command(show)
graph.add_command(citations)
graph.add_command(merges)
graph.add_command(undo_merge)
graph.add_command(resolve_entities)


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
