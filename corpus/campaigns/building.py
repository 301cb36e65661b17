"""From included works to documents: where may they be had, fetch them, write the manifest, take them in.

Only what screening included is asked about, and only what has an explicit licence at the very place is
fetched. Each step is kept before the next, so that a build which ended anywhere goes on from there.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from time import monotonic
from urllib.parse import quote
from uuid import UUID

import structlog

from corpus import enqueueing, inputs, whole_files
from corpus.campaigns import discovering, downloads, included, locations
from corpus.campaigns.actions import runs
from corpus.campaigns.actions import texts as action
from corpus.campaigns.actions.runs import Held
from corpus.campaigns.downloads import Refused
from corpus.campaigns.locations import Choice
from corpus.campaigns.models import Campaign, CampaignRun, Candidate
from corpus.campaigns.text_models import FullText
from corpus.gateways.http import Outbound
from corpus.gateways.records import ProviderError
from corpus.gateways.unpaywall import Unpaywall
from corpus.ingestion import default_options
from corpus.inputs import Batch
from corpus.models import IngestionRun

logger = structlog.get_logger(__name__)

# So many works in a row that could not be asked about: the provider is down, or we are.
MOST_FAILURES_IN_A_ROW = 10
# Nobody's work: the run ends, and the next one goes on.
_OUR_TROUBLE = frozenset({"not_stored", "held_back"})
# Takes files in and returns the ingestion run they are in.
TakeIn = Callable[[CampaignRun, Batch], UUID]


class CannotGoOn(Exception):
    """The build has to end; `code` says why. What it did is kept."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


def resolve(
    held: Held, *, campaign: Campaign, unpaywall: Unpaywall, again: bool = False, until: float | None = None
) -> bool:
    """Look up where the included works may be had; False when `until` came first. Downloads nothing.

    Raises `CannotGoOn` and `RunStopped`.
    """
    since = CampaignRun.objects.values_list("started_at", flat=True).get(pk=held.run)
    waiting = list(included.unresolved(campaign, since=since, again=again).values_list("pk", flat=True))
    with runs.effect(held) as run:
        run.total = run.done + len(waiting)
    in_a_row = 0
    for identifier in waiting:
        if until is not None and monotonic() > until:
            return False
        runs.still_mine(held)
        candidate = included.included(campaign).filter(pk=identifier).first()
        if candidate is None:
            continue
        error = _resolve(held, candidate, unpaywall)
        if error == "held_back":
            raise CannotGoOn("held_back")
        in_a_row = in_a_row + 1 if error else 0
        if in_a_row == MOST_FAILURES_IN_A_ROW:
            raise CannotGoOn("provider_down")
    return True


def _resolve(held: Held, candidate: Candidate, unpaywall: Unpaywall) -> str:
    """Look one work up and keep what came of it; return the code of a failure of the provider."""
    if not candidate.doi:
        action.keep_choice(held=held, candidate=candidate, choice=Choice((), "no_doi"))
        return ""
    try:
        places = discovering.patiently(lambda: unpaywall.places(candidate.doi))
    except ProviderError as error:
        if error.code == "not_found":
            action.keep_choice(held=held, candidate=candidate, choice=Choice((), "not_indexed"))
            return ""
        if error.code != "held_back":
            action.keep_failed_lookup(held=held, candidate=candidate, code=error.code)
        return error.code
    action.keep_choice(held=held, candidate=candidate, choice=locations.choose(places))
    return ""


def fetch(held: Held, *, campaign: Campaign, outbound: Outbound, until: float | None = None) -> bool:
    """Fetch what may be fetched; False when `until` came first. Raises `CannotGoOn` and `RunStopped`."""
    downloads.sweep(campaign.pk)
    waiting = list(included.fetchable(campaign, run=held.run).values_list("pk", flat=True))
    with runs.effect(held) as run:
        run.total = run.done + len(waiting)
    for identifier in waiting:
        if until is not None and monotonic() > until:
            return False
        runs.still_mine(held)
        # A person may have excluded it a moment ago.
        candidate = _still_fetchable(held, campaign, identifier)
        if candidate is not None:
            _fetch(held, campaign, candidate, outbound)
    return True


def _still_fetchable(held: Held, campaign: Campaign, identifier: UUID) -> Candidate | None:
    rows = included.fetchable(campaign, run=held.run).select_related("full_text")
    return rows.filter(pk=identifier).first()


def _fetch(held: Held, campaign: Campaign, candidate: Candidate, outbound: Outbound) -> None:
    text = candidate.full_text
    target = downloads.folder(campaign.pk) / downloads.file_name(candidate.number, candidate.title)
    attempts: list[dict[str, str]] = []
    run = str(held.run)
    for place in text.places:
        try:
            found = downloads.download(outbound, place["url"], target)
        except Refused as refused:
            if refused.code in _OUR_TROUBLE:
                raise CannotGoOn(refused.code) from None
            attempts.append({"url": place["url"], "code": refused.code, "run": run})
            logger.info("campaign.text_refused", run=run, code=refused.code)
            continue
        action.keep_file(held=held, text=text, place=place, found=found, attempts=attempts)
        return
    action.refuse(held=held, text=text, code=attempts[0]["code"], attempts=attempts)


def take_in(held: Held, *, campaign: Campaign, how: TakeIn) -> None:
    """Write the manifest and hand its files to the corpus, those that are not there yet.

    Raises what `how` raises, and `RunStopped`.
    """
    fetched = list(included.not_taken_in(campaign).select_related("full_text"))
    manifest = write_manifest(campaign)
    if not fetched or manifest is None:
        return
    run = CampaignRun.objects.select_related("started_by", "campaign", "ingestion").get(pk=held.run)
    names = {downloads.file_name(one.number, one.title): one.full_text.pk for one in fetched}
    batch = inputs.from_manifest(manifest)
    chosen = Batch(batch.origin, tuple(file for file in batch.files if file.name in names))
    runs.still_mine(held)
    action.link(held=held, ingestion=how(run, chosen), names=names)


def by_workers(held: Held) -> TakeIn:
    """Return the way into the corpus by its workers, who go on when this process is gone."""

    def enqueue(run: CampaignRun, batch: Batch) -> UUID:
        ingestion = run.ingestion
        if ingestion is None:
            with runs.effect(held) as row:
                ingestion = enqueueing.open_run(
                    origin=batch.origin,
                    by=run.started_by,
                    options=default_options(bucket=run.campaign.name),
                )
                row.ingestion = ingestion
        there = set(ingestion.items.values_list("path", flat=True))
        missing = [file for file in batch.files if file.name not in there]
        if missing:
            enqueueing.enqueue_files(run=IngestionRun.objects.get(pk=ingestion.pk), files=missing)
        return ingestion.pk

    return enqueue


def write_manifest(campaign: Campaign) -> Path | None:
    """Write the manifest of the included works whose text is there; None without any.

    It says nothing of a class: what the signal is worth is for a person to decide.
    """
    rows = included.included(campaign).filter(full_text__state=FullText.State.FETCHED)
    lines = [_line(candidate, campaign.name) for candidate in rows.select_related("full_text")]
    if not lines:
        return None
    folder = downloads.folder(campaign.pk)
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / "manifest.jsonl"
    with whole_files.written(target) as file:
        file.write(("\n".join(lines) + "\n").encode())
    return target


def _line(candidate: Candidate, bucket: str) -> str:
    text = candidate.full_text
    said = {
        "path": downloads.file_name(candidate.number, candidate.title),
        "title": candidate.title[:1_000],
        "authors": candidate.authors,
        "year": candidate.year,
        "doi": candidate.doi,
        "journal": candidate.venue[:500],
        "url": f"https://doi.org/{quote(candidate.doi, safe='/:;()._-')}" if candidate.doi else "",
        "license_source": text.license_source,
        "version": text.version,
        "bucket": bucket,
    }
    return json.dumps({name: value for name, value in said.items() if value}, ensure_ascii=False)
