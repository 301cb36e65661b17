"""The commands of campaigns: discover, screen, review, build, status, cancel."""

from __future__ import annotations

import getpass
import sys
from pathlib import Path
from time import monotonic
from typing import NoReturn
from uuid import UUID

import click
from django.db import transaction

from corpus.actions.rights import Operator
from corpus.campaigns import carrying, discovering, screening, starting
from corpus.campaigns.actions import discovering as opening
from corpus.campaigns.actions import runs
from corpus.campaigns.actions.discovering import Question
from corpus.campaigns.building import TakeIn
from corpus.campaigns.cli_review import review
from corpus.campaigns.cli_status import as_dict, cancel, found, print_flow, status
from corpus.campaigns.models import Campaign, CampaignRun, CampaignSearch
from corpus.cli_output import CommandFailed, json_option, print_json
from corpus.cli_progress import TerminalProgress, bar_with_time_left
from corpus.ingestion import default_options, ingest
from corpus.inputs import Batch
from corpus.usage import capping
from corpus.usage.budget import Cap
from corpus.usage.cli_caps import cap_options, checked, only_said, stop_at_the_cap

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
_LARGEST_FILE = 2_000_000
_SLICE_SECONDS = 1.0
name_option = click.option("--name", required=True, help="Name of the campaign.")


@click.group()
def campaign() -> None:
    """Build a collection from a topic or a list of DOIs: find works, screen them, fetch open texts."""


campaign.add_command(review)
campaign.add_command(status)
campaign.add_command(cancel)


def operator() -> Operator:
    """Return who works at this command line."""
    return Operator(getpass.getuser())


def text_of(path: Path) -> str:
    """Return the text of a file, or fail saying why it is none."""
    try:
        if path.stat().st_size > _LARGEST_FILE:
            raise CommandFailed(f"{path} is larger than {_LARGEST_FILE // 1_000_000} MB.")
        return path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError:
        raise CommandFailed(f"{path} is not UTF-8 text.") from None
    except OSError as error:
        raise CommandFailed(f"{path} cannot be read: {error.strerror}.") from None


@campaign.command()
@name_option
@click.option("--topic", help="What the works are to be about.")
@click.option("--doi-file", type=_FILE, help="A file with a DOI on each line.")
@click.option(
    "--from",
    "provider",
    type=click.Choice(CampaignSearch.Provider.values),
    help="Whom to ask; OpenAlex where its key is set, else Crossref.",
)
@click.option(
    "--limit",
    type=click.IntRange(1, opening.MOST_RECORDS),
    default=1_000,
    show_default=True,
    help="Records of a topic to read, in whole pages of a hundred.",
)
@click.option("--anew", is_flag=True, help="Begin the same search again, and keep what it found before.")
@click.option("--dry-run", is_flag=True, help="Say what would be asked; ask nobody, write nothing.")
@json_option
def discover(
    *,
    name: str,
    topic: str | None,
    doi_file: Path | None,
    provider: str | None,
    limit: int,
    anew: bool,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Find works by topic or DOI: what an index says of them, never their texts.

    An interrupted search is continued by the same command; a topic or list that is new to the campaign adds
    to it. The exit code is 1 when the search could not be read to its end.
    """
    if (topic is None) == (doi_file is None):
        raise click.UsageError("Give --topic or --doi-file, and not both.")
    try:
        question = Question(
            provider=starting.usual_provider() if provider is None else CampaignSearch.Provider(provider),
            topic="" if topic is None else opening.checked_topic(topic),
            dois=() if doi_file is None else tuple(opening.checked_dois(text_of(doi_file))),
            most=limit,
        )
        called = opening.checked_name(name)
        if dry_run:
            _rehearse_search(called, question, as_json=as_json)
            return
        # Both or neither: what is refused leaves no campaign behind that has no search.
        with transaction.atomic():
            row = opening.open_campaign(name=called, by=operator())
            run = starting.discover(
                campaign=row, question=question, by=operator(), is_for_workers=False, anew=anew
            )
    except starting.REFUSALS as error:
        raise CommandFailed(str(error)) from None
    _report(carry(run, "Reading pages"), as_json=as_json)


def _rehearse_search(name: str, question: Question, *, as_json: bool) -> None:
    campaign_row = Campaign.objects.filter(name=name).first()
    search = None if campaign_row is None else campaign_row.searches.filter(key=question.key).first()
    new = len(question.dois) or -(-question.most // 100)
    left = discovering.Left(new, 0) if search is None else discovering.left(search)
    said = {
        "dry_run": True,
        "provider": question.provider.value,
        "requests": left.requests,
        "pages_kept": left.kept,
    }
    if as_json:
        print_json(said)
        return
    click.echo(
        f"{question.provider.label} would be asked {left.requests:,} times at most; {left.kept:,} pages are "
        "kept from before. Nobody was asked, nothing was written."
    )


@campaign.command()
@name_option
@click.option("--criteria", type=_FILE, required=True, help="A file with the criteria, in plain words.")
@click.option("--dry-run", is_flag=True, help="Say what it would come to; ask no model, write nothing.")
@cap_options
@json_option
def screen(*, name: str, criteria: Path, dry_run: bool, cap: Cap, as_json: bool) -> None:
    """Have a model decide which works are in, by written criteria.

    What it is less than 0.8 sure of, what has no abstract, and every reply that is not what was asked for
    waits for a person: see `campaign review`. Other criteria begin a new round; the earlier ones stay.
    """
    row, text = found(name), text_of(criteria)
    try:
        estimate = screening.estimate(row, text, model=screening.configured_model())
        if dry_run:
            only_said(estimate, as_json=as_json)
            return
        chosen = checked(cap, estimate)
        run = starting.screen(campaign=row, criteria=text, by=operator(), is_for_workers=False, cap=chosen)
    except starting.REFUSALS as error:
        raise CommandFailed(str(error)) from None
    ended = carry(run, "Screening")
    is_capped = ended.state == CampaignRun.State.CAPPED
    _report(ended, as_json=as_json, fails=not is_capped)
    if is_capped:
        stop_at_the_cap(capping.budget_of(ended).reached)


@campaign.command()
@name_option
@click.option("--dry-run", is_flag=True, help="Ask Unpaywall for licences only; download nothing.")
@click.option("--again", is_flag=True, help="Look up once more what was refused.")
@json_option
def build(*, name: str, dry_run: bool, again: bool, as_json: bool) -> None:
    """Fetch the open texts of the included works and take them into the corpus.

    Only direct PDFs with an explicit open licence are fetched; every refusal is named. Rights stay a person's
    decision: the documents come in as unknown, with the licence as Unpaywall has it beside them.
    """
    row = found(name)
    try:
        run = starting.build(campaign=row, by=operator(), is_for_workers=False, dry_run=dry_run, again=again)
    except starting.REFUSALS as error:
        raise CommandFailed(str(error)) from None
    _report(carry(run, "Looking up" if dry_run else "Building", take_in=in_the_foreground), as_json=as_json)


def in_the_foreground(run: CampaignRun, batch: Batch) -> UUID:
    """Take files in here and now; return the ingestion run."""
    with TerminalProgress() as progress:
        report = ingest(
            batch,
            options=default_options(bucket=run.campaign.name),
            by=run.started_by,
            progress=progress,
        )
    assert report.run is not None  # noqa: S101 - only rehearsals have none
    return report.run


def carry(run: CampaignRun, words: str, *, take_in: TakeIn | None = None) -> CampaignRun:
    """Carry a run out to its end with a bar; return the row as it is then. Ctrl-C cancels it."""
    held = runs.claim(run=run.pk)
    if held is None:
        raise CommandFailed("A worker has just taken this up: follow it with 'sci-rag campaign status'.")
    bar = bar_with_time_left()
    task = bar.add_task(words, total=None)
    try:
        with runs.holding(held), bar:
            while not carrying.carry_out(held, until=monotonic() + _SLICE_SECONDS, take_in=take_in):
                row = CampaignRun.objects.get(pk=run.pk)
                bar.update(task, total=row.total, completed=row.done)
    except (KeyboardInterrupt, SystemExit):
        runs.cancel(run=run, by=operator())
        raise
    return CampaignRun.objects.select_related("campaign").get(pk=run.pk)


def _report(run: CampaignRun, *, as_json: bool, fails: bool = True) -> None:
    said = as_dict(run.campaign)
    ended = {"state": run.state, "code": run.last_error_code if run.state != run.State.FINISHED else ""}
    if as_json:
        print_json(said | {"run": ended})
    else:
        print_flow(said)
    if run.state == CampaignRun.State.FINISHED or not fails:
        return
    _end_badly(run)


def _end_badly(run: CampaignRun) -> NoReturn:
    why = "Cancelled." if run.state == CampaignRun.State.CANCELLED else carrying.message(run.last_error_code)
    click.echo(why, err=True)
    sys.exit(1)
