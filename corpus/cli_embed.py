"""The commands about embedding versions: moving to another, going back, removing what is left."""

from __future__ import annotations

from dataclasses import asdict
from types import TracebackType
from typing import Any

import click
from django.conf import settings

from corpus import reembedding, vector_repair
from corpus.cli_output import CommandFailed, json_option, print_json
from corpus.cli_progress import bar_with_time_left
from corpus.gateways.embedding import EmbeddingError, embedder_of, version_name
from corpus.gateways.embedding.minilm import DIMENSIONS, MODEL
from corpus.models import Chunk, EmbeddingVersion
from corpus.reembedding import Coverage
from corpus.usage import accounts
from corpus.usage.budget import Budget, Cap, CapReached
from corpus.usage.cli_caps import cap_options, checked, stop_at_the_cap
from corpus.usage.estimating import Estimate


@click.group()
def embed() -> None:
    """Move the corpus to another embedding model beside live questions."""


@embed.command()
@click.option("--model", help="Model to move to; that of the settings without it.")
@click.option("--dimensions", type=click.IntRange(1, 4000), help="How many dimensions its vectors keep.")
@click.option(
    "--switch/--no-switch", "switches", default=True, show_default=True,
    help="Let questions use the new version as soon as every passage has its vector.",
)  # fmt: skip
@click.option("--dry-run", is_flag=True, help="Count what would be embedded; write and embed nothing.")
@cap_options
@json_option
def reindex(
    *, model: str | None, dimensions: int | None, switches: bool, dry_run: bool, cap: Cap, as_json: bool
) -> None:
    """Embed every passage in another version, and switch to it.

    Questions are answered from the version in use until the switch, which is one transaction. Interrupted,
    the command goes on where it was when it is run again; so it does after exit code 3, which says that a cap
    was reached. The old version stays: to go back, name it.
    """
    name = _version(model, dimensions)
    try:
        embedder = embedder_of(name)
        estimate = reembedding.estimate(embedder)
        if dry_run:
            _report(_planned(name, embedder.dimensions), estimate, as_json=as_json, dry_run=True)
            return
        stopped = ""
        budget = Budget(checked(cap, estimate) if estimate.calls else cap)
        with _Bar() as bar, accounts.charged_to(budget=budget):
            try:
                reached = reembedding.reindex(embedder=embedder, switches=switches, watcher=bar)
            except CapReached:
                stopped, reached = budget.reached, _planned(name, embedder.dimensions)
    except EmbeddingError as error:
        raise CommandFailed(str(error)) from None
    _report(reached, estimate, as_json=as_json, dry_run=False)
    if stopped:
        stop_at_the_cap(stopped)


def _version(model: str | None, dimensions: int | None) -> str:
    chosen = model or settings.SCI_RAG_EMBEDDING_MODEL
    if dimensions is not None:
        return version_name(chosen, dimensions)
    if chosen == settings.SCI_RAG_EMBEDDING_MODEL:
        return version_name(chosen, settings.SCI_RAG_EMBEDDING_DIMENSIONS)
    if chosen == MODEL:
        return version_name(chosen, DIMENSIONS)
    raise click.UsageError(f"How many dimensions {chosen} has is not known here: give --dimensions.")


def _planned(name: str, dimensions: int) -> Coverage:
    version = EmbeddingVersion.objects.filter(name=name).first()
    if version is not None:
        return reembedding.coverage(version)
    return Coverage(
        version=name,
        dimensions=dimensions,
        is_active=False,
        embedded=0,
        missing=Chunk.objects.count(),
        indexed=False,
    )


def _report(reached: Coverage, estimate: Estimate, *, as_json: bool, dry_run: bool) -> None:
    if as_json:
        said = {"estimate": estimate.as_dict()} if dry_run else {}
        print_json({"dry_run": dry_run, **asdict(reached), **said})
    elif dry_run:
        click.echo(f"{reached.missing:,} passages would be embedded with {reached.version}.")
        for sentence in estimate.sentences() if estimate.calls else ():
            click.echo(sentence)
    else:
        use = "Questions use it." if reached.is_active else "Questions do not use it yet."
        click.echo(f"{reached.version}: {reached.embedded:,} passages embedded. {use}")


@embed.command()
@json_option
def status(*, as_json: bool) -> None:
    """List the embedding versions: which one questions use, and how far each has come."""
    versions = reembedding.versions()
    if as_json:
        print_json({"versions": [asdict(version) for version in versions]})
        return
    for version in versions:
        parts = [f"{version.embedded:,} passages", "indexed" if version.indexed else "exact"]
        if version.missing:
            parts.append(f"{version.missing:,} missing")
        mark = "in use" if version.is_active else "kept"
        click.echo(f"{version.version}\t{mark}\t{', '.join(parts)}")
    if not versions:
        click.echo("Nothing was embedded yet.")


@embed.command()
@click.argument("version")
@json_option
def switch(*, version: str, as_json: bool) -> None:
    """Let questions use VERSION, such as all-MiniLM-L6-v2@384, when every passage has its vector.

    This is also the way back to the version before.
    """
    row = _existing(version)
    try:
        embedder_of(version)
        changed = reembedding.switch(row)
    except EmbeddingError as error:
        raise CommandFailed(str(error)) from None
    if as_json:
        print_json({"version": version, "switched": changed})
    else:
        click.echo(f"Questions use {version}." if changed else f"Questions use {version} already.")


@embed.command()
@click.argument("version")
@json_option
def drop(*, version: str, as_json: bool) -> None:
    """Remove VERSION with its vectors and its index. Refused for the one in use."""
    row = _existing(version)
    try:
        count = reembedding.drop(row)
    except EmbeddingError as error:
        raise CommandFailed(str(error)) from None
    if as_json:
        print_json({"version": version, "vectors": count})
    else:
        click.echo(f"{version} is gone, with {count:,} vectors.")


@embed.command()
@json_option
def repair(*, as_json: bool) -> None:
    """Compare vectors and their codes with the passages they are of, and put right what is astray."""
    found = vector_repair.repair()
    if as_json:
        print_json(asdict(found))
    else:
        click.echo(
            f"Put right: {found.vectors:,} vectors, {found.without_code:,} without their code, "
            f"{found.codes:,} codes of nothing. Every code was computed anew."
        )


def _existing(name: str) -> EmbeddingVersion:
    row = EmbeddingVersion.objects.filter(name=name).first()
    if row is None:
        known = ", ".join(EmbeddingVersion.objects.order_by("name").values_list("name", flat=True))
        raise CommandFailed(f"There is no version {name}. There is: {known or 'none'}.")
    return row


class _Bar:
    """A bar with the time left, on standard error; nothing when that is no terminal."""

    def __init__(self) -> None:
        self._bar = bar_with_time_left()
        self._task = self._bar.add_task("Embedding passages", total=None)
        self._done = self._total = 0

    def __enter__(self) -> _Bar:
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()

    def begin(self, total: int) -> None:
        """Set how many passages there are to embed."""
        self._total = total
        self._bar.update(self._task, total=total)

    def advance(self, count: int) -> None:
        """Count passages; those taken in meanwhile make the whole longer."""
        self._done += count
        values: dict[str, Any] = {"advance": count}
        if self._done > self._total:
            values["total"] = self._done
        self._bar.update(self._task, **values)
