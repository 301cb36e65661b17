"""The `ask` command."""

from __future__ import annotations

import sys
from typing import Any

import click

from answers import cli_report, engine, writers
from answers.events import AnswerEvent, EventName
from answers.models import EXTRACTIVE, MODEL
from corpus.cli_output import CommandFailed, json_option, print_json
from corpus.cli_scope import scope_options
from corpus.scope import RetrievalScope
from retrieval.cli_search import PROFILE_HELP
from retrieval.profiles import UnknownProfile
from retrieval.request import MAX_LIMIT, InvalidRequest


@click.command()
@click.argument("question")
@click.option("--profile", default="interactive", show_default=True, help=PROFILE_HELP)
@click.option(
    "--limit",
    default=8,
    show_default=True,
    type=click.IntRange(1, MAX_LIMIT),
    help="How many passages to answer from.",
)
@click.option(
    "--engine",
    "engine_name",
    type=click.Choice([MODEL, EXTRACTIVE]),
    help="Who writes: the configured language model, or quotations alone.  [default: the model, if any]",
)
@click.option(
    "--compression/--no-compression",
    "compressed",
    default=None,
    help="Have the sources condensed for the model, or not.  [default: as the domain profile says]",
)
@scope_options(retracted_by_default=False, with_as_of=True)
@json_option
def ask(  # noqa: PLR0913 - it names the options of one command
    *,
    question: str,
    profile: str,
    limit: int,
    engine_name: str | None,
    compressed: bool | None,
    requested: RetrievalScope,
    as_json: bool,
) -> None:
    """Answer QUESTION from the corpus, with a citation for each claim."""
    try:
        events = engine.ask(
            question=question, requested=requested, by=None, profile=profile, limit=limit, engine=engine_name,
            compressed=compressed,
        )  # fmt: skip
    except (InvalidRequest, writers.EngineUnavailable, UnknownProfile) as error:
        raise click.UsageError(str(error)) from None
    told = _Told()
    for event in events:
        told.hear(event)
        if not as_json:
            cli_report.show(event, sys.stdout)
    if as_json:
        print_json(told.as_dict())
    else:
        cli_report.show_sources(told.sources, told.cited)
    if told.error:
        offer = " Add --engine extractive to see what the passages say." if told.error["offer"] else ""
        raise CommandFailed(f"{told.error['message']}{offer}")


class _Told:
    """What the events of one answer said, put together."""

    def __init__(self) -> None:
        self._said: dict[EventName, dict[str, Any]] = {}
        self._text: list[str] = []

    def hear(self, event: AnswerEvent) -> None:
        if event.name == EventName.DELTA:
            self._text.append(event.data["text"])
        else:
            self._said[event.name] = event.data

    @property
    def error(self) -> dict[str, Any]:
        return self._said.get(EventName.ERROR, {})

    @property
    def sources(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self._said.get(EventName.RETRIEVAL_DONE, {}).get("sources", [])
        return found

    @property
    def cited(self) -> set[int]:
        return set(self._said.get(EventName.CITATIONS, {}).get("cited", []))

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON of `retrieve` and the answer's own."""
        begun = self._said[EventName.RETRIEVAL_STARTED]
        checked = self._said.get(EventName.CITATIONS, {})
        ended = self._said.get(EventName.DONE) or self.error
        marks = checked.get("citations", [])
        return {
            **self._said.get(EventName.RETRIEVAL_DONE, {}).get("retrieval", {}),
            "answer_id": begun["answer"],
            "question": begun["question"],
            "answer": "".join(self._text),
            "answered": ended.get("answered", False),
            "state": ended["state"],
            "finish": ended["finish"],
            "engine": begun["engine"],
            "model": begun["model"],
            "citations": [
                {
                    **source,
                    "marks": [[m["start"], m["end"]] for m in marks if source["number"] in m["numbers"]],
                }
                for source in self.sources
                if source["number"] in self.cited
            ],
            "findings": checked.get("findings", []),
            "compression": self._said.get(EventName.COMPRESSION_DONE),
            "tokens": ended.get("tokens", {"prompt": None, "completion": None}),
            "timings": ended.get("timings", {}),
            "error": {name: self.error[name] for name in ("code", "message", "offer")}
            if self.error
            else None,
        }
