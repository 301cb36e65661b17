"""What pages and commands read of campaigns."""

from __future__ import annotations

import uuid
from collections import Counter
from typing import TYPE_CHECKING, Any

from django.db.models import Case, Count, OuterRef, Prefetch, Q, QuerySet, Subquery, Sum, Value, When
from django.db.models.functions import Coalesce
from django.utils.translation import gettext_lazy as _

from corpus import ceilings
from corpus.campaigns import included
from corpus.campaigns.models import Campaign, CampaignRun, Candidate, SearchPage
from corpus.campaigns.prisma import Flow
from corpus.campaigns.screening_models import Screening, ScreeningDecision, ScreeningRound, Verdict
from corpus.campaigns.text_models import FullText
from corpus.scope import EVERYTHING

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django_stubs_ext import StrOrPromise

VIEW, RUN, REVIEW = "corpus.view_campaign", "corpus.add_campaign", "corpus.change_campaign"

REFUSALS: dict[str, StrOrPromise] = {
    "no_doi": _("no DOI to look up"),
    "not_indexed": _("not known to Unpaywall"),
    "not_open_access": _("not open access"),
    "no_explicit_license": _("no explicit licence"),
    "no_direct_pdf": _("no direct PDF"),
    "lookup_failed": _("could not be looked up"),
    "bad_address": _("address not allowed"),
    "forbidden_address": _("address leads inside"),
    "too_many_redirects": _("too many redirects"),
    "wrong_type": _("no PDF by its type"),
    "wrong_signature": _("no PDF by its signature"),
    "too_large": _("too large"),
    "truncated": _("broke off"),
    "timeout": _("took too long"),
    "unreachable": _("host not reached"),
    "access_denied": _("access denied"),
    "not_found": _("not there"),
    "rate_limited": _("host is busy"),
    "unavailable": _("host failed"),
    "rejected": _("host refused"),
}
OUTCOMES: dict[str, StrOrPromise] = {
    "ready": _("in the corpus"),
    "duplicate": _("in the corpus before"),
    "needs_ocr": _("without readable text"),
    "removed": _("removed from the corpus since"),
    "failed": _("could not be read"),
    "waiting": _("being taken in"),
    "not_taken_in": _("not taken in yet"),
}


def labels() -> dict[str, str]:
    """Return the words for names of refusals and outcomes."""
    return {name: str(words) for name, words in (REFUSALS | OUTCOMES).items()}


def may_look(user: User) -> bool:
    """Whether `user` may see campaigns: what they take in may be anything, so a ceiling must cover it all."""
    return user.has_perm(VIEW) and ceilings.of(user) == EVERYTHING


def sizes() -> dict[str, int]:
    """Return how many works each campaign has, by name, the newest first."""
    counted = Campaign.objects.annotate(size=Count("candidates")).order_by("-created_at", "id")
    return dict(counted.values_list("name", "size"))


def campaigns() -> QuerySet[Campaign]:
    """Return all campaigns, the newest first, each with the number of its candidates."""
    counted = Campaign.objects.annotate(size=Count("candidates"))
    return counted.order_by("-created_at", "id")


def find(campaign_id: uuid.UUID) -> Campaign | None:
    """Return a campaign, None when there is none."""
    return Campaign.objects.filter(pk=campaign_id).first()


def flow(campaign: Campaign) -> Flow:
    """Return the numbers of a campaign as it stands, by the criteria of now."""
    found: Counter[str] = Counter()
    unreadable = 0
    pages = campaign.searches.annotate(records=Subquery(_sum("records")), lost=Subquery(_sum("unreadable")))
    for search in pages.order_by("number", "id"):
        found[str(search)] += search.records or 0
        unreadable += search.lost or 0
    candidates = campaign.candidates.count()
    verdicts = _verdicts(included.current_round(campaign))
    texts = _texts(campaign)
    refused = {code: count for (state, code), count in texts.items() if state == FullText.State.REFUSED}
    fetched = sum(count for (state, _code), count in texts.items() if state == FullText.State.FETCHED)
    in_round = sum(verdicts.values())
    return Flow(
        found_by=dict(found),
        duplicates=found.total() - unreadable - candidates,
        unreadable=unreadable,
        candidates=candidates,
        unscreened=candidates - in_round,
        included=verdicts[Verdict.INCLUDE],
        excluded=verdicts[Verdict.EXCLUDE],
        awaiting=verdicts[Verdict.REVIEW],
        refused=refused,
        not_sought=verdicts[Verdict.INCLUDE] - sum(refused.values()) - fetched,
        fetched=fetched,
        taken_in=_outcomes(campaign),
    )


def _sum(name: str) -> QuerySet[Any]:
    rows = SearchPage.objects.filter(search=OuterRef("pk")).order_by().values("search")
    return rows.annotate(total=Sum(name)).values("total")


def _verdicts(last: ScreeningRound | None) -> Counter[str]:
    if last is None:
        return Counter()
    return Counter(dict(last.screenings.order_by().values_list("verdict").annotate(n=Count("id"))))


def _texts(campaign: Campaign) -> dict[tuple[str, str], int]:
    rows = included.included(campaign).filter(full_text__isnull=False).order_by()
    counted = rows.values_list("full_text__state", "full_text__code").annotate(n=Count("id"))
    return {(state, code): count for state, code, count in counted}


def _outcomes(campaign: Campaign) -> dict[str, int]:
    rows = included.included(campaign).filter(full_text__state=FullText.State.FETCHED).order_by()
    item = "full_text__item"
    gone = Q(**{f"{item}__outcome__in": _WITH_DOCUMENT, f"{item}__document__isnull": True})
    named = Case(
        When(gone, then=Value("removed")), default=Coalesce(f"{item}__outcome", Value("not_taken_in"))
    )
    return dict(rows.annotate(outcome=named).values_list("outcome").annotate(n=Count("id")))


_WITH_DOCUMENT = ("ready", "duplicate", "needs_ocr")


def queue(last: ScreeningRound | None) -> QuerySet[Screening]:
    """Return what waits for a person in a round, in the order it was found, with what was decided so far."""
    rows = Screening.objects.none() if last is None else last.screenings.filter(verdict=Verdict.REVIEW)
    newest_first = ScreeningDecision.objects.order_by("-id")
    return (
        rows.select_related("candidate", "round")
        .prefetch_related(Prefetch("decisions", queryset=newest_first))
        .order_by("candidate__number", "id")
    )


def candidates(campaign: Campaign, *, verdict: str = "", refusal: str = "") -> QuerySet[Candidate]:
    """Return the works of a campaign in order, with where each stands now; only some when that is asked."""
    last = included.current_round(campaign)
    standing = Screening.objects.filter(round=last, candidate=OuterRef("pk"))
    newest = ScreeningDecision.objects.filter(screening__round=last, screening__candidate=OuterRef("pk"))
    rows = campaign.candidates.select_related("full_text", "full_text__item").annotate(
        verdict=Subquery(standing.values("verdict")[:1]),
        screening_id=Subquery(standing.values("pk")[:1]),
        reason=Subquery(newest.order_by("-id").values("reason")[:1]),
        made_by=Subquery(newest.order_by("-id").values("made_by")[:1]),
    )
    if verdict == "none":
        rows = rows.filter(verdict__isnull=True)
    elif verdict:
        rows = rows.filter(verdict=verdict)
    if refusal:
        rows = rows.filter(full_text__state=FullText.State.REFUSED, full_text__code=refusal)
    return rows.order_by("number", "id")


def runs(campaign: Campaign) -> QuerySet[CampaignRun]:
    """Return the runs over a campaign, the newest first."""
    return campaign.runs.select_related("campaign", "ingestion").order_by("-started_at", "id")


def find_run(run_id: uuid.UUID) -> CampaignRun | None:
    """Return a run, None when there is none."""
    return CampaignRun.objects.select_related("campaign", "ingestion").filter(pk=run_id).first()


def rounds(campaign: Campaign) -> QuerySet[ScreeningRound]:
    """Return the rounds of a campaign with what was decided in each, the newest first."""
    counted = {
        f"n_{verdict}": Count("screenings", filter=Q(screenings__verdict=verdict))
        for verdict in Verdict.values
    }
    return campaign.rounds.annotate(**counted).order_by("-number", "-id")


def text_of(candidate: Candidate) -> FullText | None:
    """Return what is known of a candidate's text, None before anything is."""
    return getattr(candidate, "full_text", None)
