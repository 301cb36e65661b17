"""What the `ask` command prints for people: the text as it comes, then its numbered sources."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TextIO

import click

from answers import condensed_words, withheld_words
from answers.events import AnswerEvent, EventName
from answers.models import EXTRACTIVE
from corpus.citation_units import pages_label
from corpus.normalise import visible
from corpus.rights import LABELS, LicenseClass

_DOUBTS = {
    "number_not_in_source": "a number is not in the source it cites",
    "cites_unretrieved": "cites a source that was not retrieved",
    "uncited": "names no source",
    "weak_support": "its source says little of this",
}


def show(event: AnswerEvent, out: TextIO) -> None:
    """Print what a person wants to know of one event, at once."""
    match event.name:
        case EventName.RETRIEVAL_DONE:
            for layer in event.data["degraded"]:
                click.echo(f"Note: the search by {layer} did not finish; the others did.", err=True)
        case EventName.COMPRESSION_DONE:
            click.echo(f"Note: {condensed_words.line(event.data)}", err=True)
        case EventName.GENERATION_STARTED if event.data["withheld"]:
            alone = event.data["engine"] == EXTRACTIVE
            click.echo(
                f"Note: {withheld_words.line(event.data['withheld'], is_quoted_alone=alone)}", err=True
            )
        case EventName.DELTA:
            click.echo(visible(event.data["text"]), nl=False, file=out)
            out.flush()
        case EventName.CITATIONS:
            click.echo(file=out)
            for doubt in map(_doubt, event.data["findings"]):
                if doubt:
                    click.echo(doubt, err=True)
        case EventName.DONE | EventName.ERROR:
            click.echo(file=out)
        case _:
            pass


def _doubt(finding: dict[str, Any]) -> str:
    if finding["kind"] not in _DOUBTS:
        return ""
    detail = f": {finding['detail']}" if finding["detail"] else ""
    return visible(f"Check sentence {finding['sentence'] + 1}: {_DOUBTS[finding['kind']]}{detail}.")


def show_sources(sources: Sequence[dict[str, Any]], cited: set[int]) -> None:
    """List the numbered sources, the cited ones first and marked."""
    for heading, chosen in (
        ("Sources", [source for source in sources if source["number"] in cited]),
        ("Retrieved, not cited", [source for source in sources if source["number"] not in cited]),
    ):
        if chosen:
            click.secho(heading, bold=True)
            for source in chosen:
                click.echo(f"  [{source['number']}] {_described(source)}")
                for other in source["other_versions"]:
                    click.echo(f"      {visible(other['line'])}".replace("\n", " "))


def _described(source: dict[str, Any]) -> str:
    pages = pages_label(source["page_start"], source["page_end"])
    status = ", ".join(badge.upper() for badge in source["badges"])
    rights = LABELS[LicenseClass(source["license_class"])]
    # A passage without a section has its page for a locator.
    facts = dict.fromkeys([source["title"], source["locator"], pages, rights, status])
    return visible(" · ".join(filter(None, facts))).replace("\n", " ")
