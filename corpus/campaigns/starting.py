"""Starting each step of a campaign: what has to be there is checked before a run is recorded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.conf import settings
from django.db import transaction

from corpus.campaigns import included, screening
from corpus.campaigns.actions import discovering, runs
from corpus.campaigns.actions import screening as rounds
from corpus.campaigns.actions.discovering import CampaignError, Question
from corpus.campaigns.actions.runs import CampaignBusy, Stage
from corpus.campaigns.models import Campaign, CampaignRun, CampaignSearch
from corpus.campaigns.screening import NoScreeningModel
from corpus.gateways.http import ContactMissing, contact
from corpus.prompt_files import InvalidPrompt, prompt_file
from corpus.usage.budget import Cap

if TYPE_CHECKING:
    from corpus.campaigns.doers import Doer

Provider = CampaignSearch.Provider
# Why a step may not begin; each says it in words.
REFUSALS = (CampaignError, CampaignBusy, ContactMissing, NoScreeningModel, InvalidPrompt)


def usual_provider() -> CampaignSearch.Provider:
    """Return whom searches ask unless told otherwise: OpenAlex where its key is set, else Crossref."""
    return Provider.OPENALEX if settings.SCI_RAG_OPENALEX_API_KEY else Provider.CROSSREF


@transaction.atomic
def discover(
    *, campaign: Campaign, question: Question, by: Doer, is_for_workers: bool, anew: bool = False
) -> CampaignRun:
    """Begin or go on with a search. Raises `CampaignError`, `CampaignBusy` and `ContactMissing`."""
    contact()
    search = discovering.open_search(campaign=campaign, question=question, anew=anew)
    return runs.start(
        campaign=campaign,
        stage=Stage.DISCOVER,
        parameters={"search": search.pk},
        by=by,
        is_for_workers=is_for_workers,
    )


@transaction.atomic
def screen(
    *, campaign: Campaign, criteria: str, by: Doer, is_for_workers: bool, cap: Cap | None = None
) -> CampaignRun:
    """Begin or go on with screening by `criteria`; other ones than before begin a new round.

    Raises `CampaignError`, `CampaignBusy`, `NoScreeningModel` and `InvalidPrompt`.
    """
    screening.configured_model()
    prompt_file(screening.PROMPT)
    if not campaign.candidates.exists():
        raise CampaignError(f"{campaign.name} has no candidates to screen: find some first.")
    rounds.checked_criteria(criteria)
    found = rounds.open_round(campaign=campaign, criteria=criteria, by=by)
    return runs.start(
        campaign=campaign,
        stage=Stage.SCREEN,
        parameters={"round": found.pk},
        by=by,
        is_for_workers=is_for_workers,
        cap=cap,
    )


def build(
    *, campaign: Campaign, by: Doer, is_for_workers: bool, dry_run: bool = False, again: bool = False
) -> CampaignRun:
    """Begin or go on with a build; a rehearsal asks for licences and downloads nothing.

    Raises `CampaignError`, `CampaignBusy` and `ContactMissing`.
    """
    contact()
    if included.current_round(campaign) is None:
        raise CampaignError(f"{campaign.name} was not screened: only what screening includes is built.")
    if not included.included(campaign).exists():
        raise CampaignError(f"Nothing in {campaign.name} is included: there is nothing to build.")
    return runs.start(
        campaign=campaign,
        stage=Stage.RESOLVE if dry_run else Stage.BUILD,
        parameters={"again": again},
        by=by,
        is_for_workers=is_for_workers,
    )
