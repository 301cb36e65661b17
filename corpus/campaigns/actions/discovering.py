"""Keeping what searches are asked and what they bring. A page and its candidates come in one transaction."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db import transaction
from django.db.models import Max

from corpus.campaigns.actions import runs
from corpus.campaigns.actions.runs import Held
from corpus.campaigns.doers import named
from corpus.campaigns.models import LONGEST_NAME, Campaign, CampaignSearch, Candidate, SearchPage
from corpus.gateways.records import FoundPage, FoundWork
from corpus.identifiers import normalise_doi

if TYPE_CHECKING:
    from corpus.campaigns.doers import Doer

MOST_RECORDS = 10_000
LONGEST_TOPIC = 300
_BATCH = 500


class CampaignError(ValueError):
    """Something that a campaign cannot be asked; the message says what and what to do."""


def checked_name(name: str) -> str:
    """Return a campaign's name in one line; raise `CampaignError`."""
    found = " ".join(name.split())
    if not found or not found.isprintable():
        raise CampaignError("A campaign needs a name, in letters that can be read.")
    if len(found) > LONGEST_NAME:
        raise CampaignError(f"The name has {len(found)} characters; {LONGEST_NAME} is the limit.")
    return found


def checked_topic(topic: str) -> str:
    """Return a topic in one line; raise `CampaignError`."""
    found = " ".join(topic.split())
    if not found or not found.isprintable():
        raise CampaignError("The topic is empty or holds characters that are no text.")
    if len(found) > LONGEST_TOPIC:
        raise CampaignError(f"The topic has {len(found)} characters; {LONGEST_TOPIC} is the limit.")
    return found


def checked_dois(text: str) -> list[str]:
    """Return the DOIs of a list, one a line, each once; raise `CampaignError` with the lines that are none.

    Empty lines and those that begin with `#` are left out.
    """
    found: dict[str, None] = {}
    wrong = []
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        doi = normalise_doi(line) if len(line) <= 600 else None
        if doi is None or len(doi) > 500:
            wrong.append(number)
        else:
            found[doi] = None
    if wrong:
        named_lines = ", ".join(map(str, wrong[:10])) + (" and more" if len(wrong) > 10 else "")
        raise CampaignError(f"No DOI in line {named_lines}. A DOI looks like 10.1234/abc, one to a line.")
    if not found:
        raise CampaignError("The list has no DOI.")
    if len(found) > MOST_RECORDS:
        raise CampaignError(f"The list has {len(found):,} DOIs; {MOST_RECORDS:,} is the limit.")
    return list(found)


@transaction.atomic
def open_campaign(*, name: str, by: Doer) -> Campaign:
    """Return the campaign called `name`, begun now when there is none. Raises `CampaignError`."""
    campaign, _ = Campaign.objects.get_or_create(name=checked_name(name), defaults=named(by, "created_by"))
    return campaign


@dataclass(frozen=True, slots=True)
class Question:
    """What an index is asked: a topic, or a list of DOIs."""

    provider: CampaignSearch.Provider
    topic: str = ""
    dois: tuple[str, ...] = ()
    most: int = MOST_RECORDS

    @property
    def key(self) -> str:
        """What the same question again has too, however many records are wanted."""
        said = "\n".join([self.provider.value, self.topic.casefold(), *sorted(self.dois)])
        return hashlib.sha256(said.encode()).hexdigest()


@transaction.atomic
def open_search(*, campaign: Campaign, question: Question, anew: bool = False) -> CampaignSearch:
    """Return the search for `question`: the one of before when there is one, to go on with.

    More records may be wanted of it than before. `anew` leaves that one as it is and begins another, for an
    index that does not know any more where it stopped. Raises `CampaignError`.
    """
    if bool(question.topic) == bool(question.dois):
        raise CampaignError("Give a topic or a list of DOIs, and not both.")
    if not 1 <= question.most <= MOST_RECORDS:
        raise CampaignError(f"Between 1 and {MOST_RECORDS:,} records can be read.")
    Campaign.objects.select_for_update().get(pk=campaign.pk)
    search = CampaignSearch.objects.filter(campaign=campaign, key=question.key).first()
    if search is not None and anew:
        search.is_done, search.key = True, hashlib.sha256(f"{search.key}{search.pk}".encode()).hexdigest()
        search.save(update_fields=["is_done", "key"])
        search = None
    if search is None:
        return _new_search(campaign, question)
    if not search.is_list and question.most > search.most:
        search.most, search.is_done = question.most, False
        search.save(update_fields=["most", "is_done"])
    return search


def _new_search(campaign: Campaign, question: Question) -> CampaignSearch:
    last = campaign.searches.aggregate(number=Max("number"))["number"] or 0
    return CampaignSearch.objects.create(
        campaign=campaign,
        number=last + 1,
        provider=question.provider,
        topic=question.topic,
        is_list=bool(question.dois),
        dois=list(question.dois),
        key=question.key,
        most=len(question.dois) or question.most,
    )


def keep_page(
    *,
    held: Held,
    search: CampaignSearch,
    asked_for: str,
    page: FoundPage,
    following: int,
) -> None:
    """Keep a page of a search with the candidates on it; so many pages are to follow.

    Raises `RunStopped`, and then keeps nothing.
    """
    with runs.effect(held) as run:
        number = search.pages.count() + 1
        SearchPage.objects.create(
            search=search,
            number=number,
            asked_for=asked_for,
            next_cursor=page.next_cursor,
            records=len(page.works) + page.unreadable,
            unreadable=page.unreadable,
            body=zlib.compress(page.body),
            body_sha256=hashlib.sha256(page.body).hexdigest(),
        )
        _add(search, page.works)
        if page.total is not None and not search.is_list:
            search.reported = page.total
        _save(search, is_last=following == 0)
        run.done += 1
        run.total = run.done + following


def keep_absence(*, held: Held, search: CampaignSearch, doi: str, reason: str, is_last: bool) -> None:
    """Keep that an index has no record of a listed DOI: the work is a candidate all the same."""
    with runs.effect(held) as run:
        SearchPage.objects.create(
            search=search,
            number=search.pages.count() + 1,
            asked_for=doi,
            records=1,
            reason=reason[:40],
            body=b"",
            body_sha256=hashlib.sha256(b"").hexdigest(),
        )
        _add(search, [FoundWork(key=doi, doi=doi)])
        _save(search, is_last=is_last)
        run.done, run.failed, run.last_error_code = run.done + 1, run.failed + 1, reason[:60]


def _save(search: CampaignSearch, *, is_last: bool) -> None:
    search.is_done = is_last
    search.save(update_fields=["is_done", "reported"])


def _add(search: CampaignSearch, works: Sequence[FoundWork]) -> None:
    """Add the works that the campaign does not have yet, numbered on."""
    found = {work.key: work for work in reversed(works)}
    there = Candidate.objects.filter(campaign=search.campaign_id, key__in=list(found))
    known = set(there.values_list("key", flat=True))
    first = search.campaign.candidates.aggregate(number=Max("number"))["number"] or 0
    new = [work for work in works if work.key not in known and found[work.key] is work]
    Candidate.objects.bulk_create(
        [
            Candidate(
                campaign_id=search.campaign_id,
                search=search,
                number=number,
                key=work.key,
                doi=work.doi,
                title=work.title,
                authors=list(work.authors),
                year=work.year,
                venue=work.venue,
                kind=work.kind,
                language=work.language,
                abstract=work.abstract,
            )
            for number, work in enumerate(new, start=first + 1)
        ],
        batch_size=_BATCH,
    )
