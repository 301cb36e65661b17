"""Carrying a run on, whoever does it: a worker for a turn, or a command to its end.

What may go wrong ends the run under a name; starting it again goes on where it stopped.
"""

from __future__ import annotations

from collections.abc import Callable

import structlog
from billiard.exceptions import SoftTimeLimitExceeded

from corpus.campaigns import building, discovering, downloads, screening
from corpus.campaigns.actions import runs
from corpus.campaigns.actions.runs import Held, RunStopped, Stage
from corpus.campaigns.building import CannotGoOn, TakeIn
from corpus.campaigns.models import CampaignRun, CampaignSearch
from corpus.campaigns.screening import NoScreeningModel
from corpus.campaigns.screening_models import ScreeningRound
from corpus.gateways.embedding import EmbeddingError
from corpus.gateways.http import ContactMissing, Outbound, contact
from corpus.gateways.llm import ModelError
from corpus.gateways.records import ProviderError
from corpus.gateways.unpaywall import Unpaywall
from corpus.intake import DATABASE_UNUSABLE
from corpus.prompt_files import InvalidPrompt
from corpus.storage import NoRoom
from corpus.usage.budget import CapReached

logger = structlog.get_logger(__name__)

# Makes the client that asks; the argument says how long one answer may take.
Client = Callable[[float], Outbound]
LOOKUP_SECONDS = 30.0

MESSAGES = {
    "contact_missing": "SCI_RAG_CONTACT_EMAIL is not set: nobody is asked without it.",
    "not_configured": "There is no model or no prompt to screen with.",
    "not_embeddable": "The corpus is embedded with something else than the settings choose.",
    runs.CAP_REACHED: "The cap was reached. Start it again with a higher one: it goes on from here.",
    "key_needed": "OpenAlex wants its free key: set SCI_RAG_OPENALEX_API_KEY, or ask Crossref.",
    "rejected": "The index refused what it was asked. When a search was left for long, begin it anew.",
    "held_back": "A host asks to be left alone for a while. Start it again later: it goes on from here.",
    "provider_down": "Ten works in a row could not be looked up. Start it again later.",
    "not_stored": "The disk refused a file. Make room and start it again.",
    "abandoned": "The process that carried it out is gone. What it did stays.",
    "internal_error": "Something unforeseen went wrong. The log has its kind.",
}


def message(code: str) -> str:
    """Return what an ended run's code means, for people."""
    return MESSAGES.get(code, f"It could not go on ({code.replace('_', ' ')}). Start it again later.")


def default_client(seconds: float) -> Outbound:
    """Return the client that asks in our name; raise `ContactMissing`."""
    return Outbound(contact=contact(), deadline=seconds)


def carry_out(
    held: Held,
    *,
    until: float | None = None,
    take_in: TakeIn | None = None,
    client: Client = default_client,
) -> bool:
    """Go on with a claimed run and record its end; False when `until` came first.

    `take_in` is how files get into the corpus, by default by its workers.
    """
    run = CampaignRun.objects.select_related("campaign").get(pk=held.run)
    try:
        is_done = _carry_out(held, run, until, take_in or building.by_workers(held), client)
        code = ""
    except RunStopped:
        return True
    except (*DATABASE_UNUSABLE, SoftTimeLimitExceeded):
        # Nobody's fault and no end: the next turn goes on.
        raise
    except Exception as error:  # noqa: BLE001 - the border of a run: whatever it is ends it under a name
        is_done, code = True, _code(error)
        if code == "internal_error":
            # The type alone: messages may hold what was fetched.
            logger.error("campaign.run_broke", run=str(held.run), kind=type(error).__name__)  # noqa: TRY400
    if is_done:
        runs.finish(held, code=code)
    return is_done


def _code(error: Exception) -> str:
    if isinstance(error, ProviderError | CannotGoOn):
        return error.code
    if isinstance(error, ModelError):
        return f"model_{error.code}"
    named: dict[type[Exception], str] = {
        ContactMissing: "contact_missing",
        NoScreeningModel: "not_configured",
        InvalidPrompt: "not_configured",
        EmbeddingError: "not_embeddable",
        CapReached: runs.CAP_REACHED,
        NoRoom: "not_stored",
    }
    return next((code for kind, code in named.items() if isinstance(error, kind)), "internal_error")


def _carry_out(held: Held, run: CampaignRun, until: float | None, take_in: TakeIn, client: Client) -> bool:
    if run.stage == Stage.DISCOVER:
        return _discover(held, run, until, client)
    if run.stage == Stage.SCREEN:
        found = ScreeningRound.objects.select_related("campaign").get(pk=run.parameters["round"])
        return screening.carry_out(
            held, screening_round=found, model=screening.configured_model(), until=until
        )
    return _build(held, run, until, take_in, client)


def _discover(held: Held, run: CampaignRun, until: float | None, client: Client) -> bool:
    search = CampaignSearch.objects.select_related("campaign").get(pk=run.parameters["search"])
    with client(LOOKUP_SECONDS) as outbound:
        return discovering.carry_out(
            held, search=search, index=discovering.index_of(search, outbound), until=until
        )


def _build(held: Held, run: CampaignRun, until: float | None, take_in: TakeIn, client: Client) -> bool:
    again = bool(run.parameters.get("again"))
    with client(LOOKUP_SECONDS) as outbound:
        unpaywall = Unpaywall(outbound, contact=contact())
        if not building.resolve(held, campaign=run.campaign, unpaywall=unpaywall, again=again, until=until):
            return False
    if run.stage == Stage.RESOLVE:
        return True
    with client(downloads.DEADLINE_SECONDS) as outbound:
        if not building.fetch(held, campaign=run.campaign, outbound=outbound, until=until):
            return False
    building.take_in(held, campaign=run.campaign, how=take_in)
    return True
