"""Reading a search page by page. What came is kept before the next page is asked for."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic
from typing import TypeVar

import structlog

from corpus.campaigns.actions import discovering as action
from corpus.campaigns.actions import runs
from corpus.campaigns.actions.runs import Held
from corpus.campaigns.models import CampaignSearch
from corpus.gateways.crossref_works import CrossrefWorks
from corpus.gateways.http import Outbound, contact
from corpus.gateways.openalex import OpenAlex
from corpus.gateways.records import FIRST, ROWS, FoundPage, ProviderError, WorkIndex

logger = structlog.get_logger(__name__)
T = TypeVar("T")

ATTEMPTS = 3
PAUSE_SECONDS = 0.5
# What an index says of a single work that it does not have or does not give.
_ABSENT = frozenset({"not_found", "wrong_work", "garbage", "too_large"})


@dataclass(frozen=True, slots=True)
class Left:
    """What a search still has to ask."""

    requests: int
    """At most so many; the last page may come sooner."""
    kept: int
    """Pages that are there already."""


def left(search: CampaignSearch) -> Left:
    """Return what going on with a search would ask. Asks nobody."""
    kept = search.pages.count()
    if search.is_done:
        return Left(0, kept)
    if search.is_list:
        return Left(len(search.dois) - kept, kept)
    read = sum(search.pages.values_list("records", flat=True))
    return Left(max(1, _pages_left(search.most, read, search.reported)), kept)


def _pages_left(most: int, read: int, reported: int | None) -> int:
    """Return how many pages are missing to so many records, or to all there are."""
    wanted = most if reported is None else min(most, reported)
    return max(0, -(-(wanted - read) // ROWS))


def index_of(search: CampaignSearch, outbound: Outbound) -> WorkIndex:
    """Return who is asked. Raises `ContactMissing`."""
    if search.provider == CampaignSearch.Provider.OPENALEX:
        return OpenAlex(outbound, contact=contact())
    return CrossrefWorks(outbound, contact=contact())


def carry_out(held: Held, *, search: CampaignSearch, index: WorkIndex, until: float | None = None) -> bool:
    """Go on with a search to its end; False when `until` came first.

    Raises `ProviderError` when the index cannot be asked, and `RunStopped`.
    """
    rest = left(search)
    with runs.effect(held) as run:
        run.total, run.done = rest.kept + rest.requests, rest.kept
    advance = _next_doi if search.is_list else _next_page
    while not search.is_done:
        if until is not None and monotonic() > until:
            return False
        runs.still_mine(held)
        advance(held, search, index)
    return True


def _next_page(held: Held, search: CampaignSearch, index: WorkIndex) -> None:
    last = search.pages.order_by("-number", "-id").first()
    if last is not None and not last.next_cursor:
        # More is wanted of a search that has been read to its end.
        search.is_done = True
        search.save(update_fields=["is_done"])
        return
    cursor = FIRST if last is None else last.next_cursor
    page = patiently(lambda: index.page(search.topic, cursor))
    read = sum(search.pages.values_list("records", flat=True)) + len(page.works) + page.unreadable
    action.keep_page(
        held=held,
        search=search,
        asked_for=cursor,
        page=page,
        following=_pages_left(search.most, read, page.total) if page.next_cursor else 0,
    )
    logger.info("campaign.page_kept", search=search.pk, records=len(page.works))


def _next_doi(held: Held, search: CampaignSearch, index: WorkIndex) -> None:
    place = search.pages.count()
    doi, is_last = search.dois[place], place + 1 == len(search.dois)
    try:
        page: FoundPage = patiently(lambda: index.work(doi))
    except ProviderError as error:
        if error.code not in _ABSENT:
            raise
        action.keep_absence(held=held, search=search, doi=doi, reason=error.code, is_last=is_last)
        return
    action.keep_page(
        held=held,
        search=search,
        asked_for=doi,
        page=page,
        following=len(search.dois) - place - 1,
    )


def patiently(ask: Callable[[], T]) -> T:
    """Ask again when that may help, a few times; raise the last `ProviderError`."""
    for attempt in range(1, ATTEMPTS + 1):
        try:
            return ask()
        except ProviderError as error:
            if not error.passes or attempt == ATTEMPTS:
                raise
        time.sleep(PAUSE_SECONDS * 2 ** (attempt - 1))
    raise AssertionError("unreachable")
