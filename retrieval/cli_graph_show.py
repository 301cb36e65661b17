"""The commands that read the graph: `graph show` and `graph citations`."""

from __future__ import annotations

from typing import Any

import click

from corpus import citation_graph
from corpus.cli_output import CommandFailed, json_option, print_json
from corpus.cli_scope import scope_options
from corpus.normalise import visible
from corpus.scope import RetrievalScope
from retrieval.graph import edges, faces, listing, pages, wording
from retrieval.graph.edges import Edge
from retrieval.graph.faces import Face
from retrieval.graph.listing import Wanted
from retrieval.graph.naming import key_of

_MOST_SUGGESTED = 5


@click.command()
@click.argument("name")
@click.option(
    "--limit", default=20, show_default=True, type=click.IntRange(1, 1000), help="At most so many edges."
)
@scope_options(retracted_by_default=True)
@json_option
def show(*, name: str, limit: int, requested: RetrievalScope, as_json: bool) -> None:
    """Show what passages say of the entity called NAME, in any spelling they use.

    Entities of several types may have the name: all are shown. Exit code 1 when no passage in scope has it.
    """
    key = key_of(name)
    found = faces.named(key, requested) if key else []
    if not found:
        raise CommandFailed(_not_found(name, requested))
    reports = [_report(face, requested, limit) for face in found]
    if as_json:
        print_json({"entities": reports})
    else:
        click.echo("\n\n".join(_text(report) for report in reports))


@click.command()
@json_option
def citations(*, as_json: bool) -> None:
    """Count the references of all documents: which lead to documents held here, and where they come from."""
    counted = citation_graph.census()
    if as_json:
        print_json(counted)
        return
    click.echo(f"{counted['references']} references, {counted['with_doi']} with a DOI.")
    for origin, count in counted["by_origin"].items():
        click.echo(f"  from {origin}: {count}")
    click.echo(
        f"{counted['resolved']} lead to a document held here, {counted['unresolved']} do not; "
        f"{counted['self']} name their own work."
    )
    if counted["most_wanted"]:
        click.echo("Cited most often without being held:")
    for work in counted["most_wanted"]:
        click.echo(f"  {work['doi']}  by {work['documents']}")


def _not_found(name: str, scope: RetrievalScope) -> str:
    near = listing.listing(Wanted(name=name), scope, page=1).entities[:_MOST_SUGGESTED]
    said = f"No passage in scope mentions {name!r}."
    names = ", ".join(one.face.name for one in near)
    return f"{said} Names that hold it: {names}." if names else said


def _report(face: Face, scope: RetrievalScope, limit: int) -> dict[str, Any]:
    mentions, documents = faces.counts([face.family], scope)[face.family]
    lines = edges.lines(face, scope)
    return {
        "id": face.id,
        "name": face.name,
        "type": face.type,
        "also": list(face.spellings),
        "merged": list(face.merged),
        "mentions": mentions,
        "documents": documents,
        "descriptions": [
            {"quote": one.text, "document": one.document.title, "passage": one.passage.public_id}
            for one in pages.descriptions(face, scope)
        ],
        "edges": [_edge(edge) for edge in edges.read(lines[:limit], face, scope)],
        "edges_in_all": len(lines),
    }


def _edge(edge: Edge) -> dict[str, Any]:
    quoted = edge.quoted
    return {
        "relation": edge.relation,
        "direction": "out" if edge.is_outgoing else "in",
        "other": {"id": edge.other.id, "name": edge.other.name, "type": edge.other.type},
        "confidence": edge.confidence,
        "passages": edge.passages,
        "quote": quoted and quoted.text,
        "document": quoted and quoted.document.title,
        "passage": quoted and quoted.passage.public_id,
    }


def _text(report: dict[str, Any]) -> str:
    name = report["name"]
    counts = f"{report['mentions']} mentions in {report['documents']} documents"
    lines = [f"{name} ({wording.label(report['type'])}): {counts}"]
    for label, names in (("also", report["also"]), ("merged with", report["merged"])):
        lines += [f"  {label} {', '.join(names)}"] if names else []
    lines += [f"  “{one['quote']}” ({one['document']})" for one in report["descriptions"]]
    for edge in report["edges"]:
        ends = (name, edge["other"]["name"])
        source, target = ends if edge["direction"] == "out" else reversed(ends)
        lines.append(
            f"  {source} {wording.label(edge['relation'])} {target} "
            f"[{edge['confidence']}, {edge['passages']} passages]"
        )
        lines += [f"    “{edge['quote']}” ({edge['document']})"] if edge["quote"] else []
    if report["edges_in_all"] > len(report["edges"]):
        lines.append(f"  and {report['edges_in_all'] - len(report['edges'])} more edges: --limit shows them")
    return visible("\n".join(lines))
