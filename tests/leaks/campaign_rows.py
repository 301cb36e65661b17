"""A campaign whose works, reasons and texts hold the words of every case, and its routes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.urls import reverse
from django.utils import timezone

from corpus.actions.rights import Operator
from corpus.campaigns.actions import discovering, screening
from corpus.campaigns.actions.discovering import Question
from corpus.campaigns.models import CampaignRun, CampaignSearch, Candidate
from corpus.campaigns.screening_models import Screening, ScreeningDecision, Verdict
from corpus.campaigns.text_models import FullText
from corpus.models import IngestionRun

if TYPE_CHECKING:
    from tests.leaks.routes import Call
    from tests.leaks.world import World

BY = Operator("somebody")


def furnish(world: World, words: dict[str, str]) -> None:
    """Make a campaign of works that became the documents of the world, and one that waits for a person."""
    campaign = discovering.open_campaign(name="Biochar", by=BY)
    dois = tuple(f"10.9999/campaign.{word}" for word in words.values())
    question = Question(CampaignSearch.Provider.OPENALEX, dois=dois)
    search = discovering.open_search(campaign=campaign, question=question)
    last = screening.open_round(campaign=campaign, criteria=f"Include {' '.join(words.values())}.", by=BY)
    run = IngestionRun.objects.create(origin="manifest.jsonl", state="finished", finished_at=timezone.now())
    for number, (case, word) in enumerate(words.items(), start=1):
        candidate = Candidate.objects.create(
            campaign=campaign,
            search=search,
            number=number,
            key=dois[number - 1],
            doi=dois[number - 1],
            title=f"Biochar and {word}",
            abstract=f"It holds {word}.",
        )
        verdict = Verdict.REVIEW if number == 1 else Verdict.INCLUDE
        standing = Screening.objects.create(round=last, candidate=candidate, verdict=verdict)
        ScreeningDecision.objects.create(
            screening=standing, verdict=verdict, made_by="model", reason=f"It speaks of {word}."
        )
        item = run.items.create(path=f"{word}.pdf", outcome="ready", document=world.documents.get(case))
        FullText.objects.create(
            candidate=candidate,
            state="fetched",
            url=f"https://host.example/{word}.pdf",
            license_source=f"cc-by {word}",
            sha256="0" * 64,
            item=item,
        )
    world.campaigns.append(campaign)
    world.campaign_runs.append(
        CampaignRun.objects.create(
            campaign=campaign, stage="build", state="finished", finished_at=timezone.now(), ingestion=run
        )
    )


def calls(world: World) -> dict[str, list[Call]]:
    """Return everything that can be asked of campaigns, by whoever has the addresses."""
    from tests.leaks.routes import Call

    def each(route: str, method: str = "get", **data: str) -> list[Call]:
        return [Call(reverse(route, args=[row.pk]), method, data) for row in world.campaigns]

    def of_runs(route: str, method: str = "get") -> list[Call]:
        return [Call(reverse(route, args=[run.pk]), method) for run in world.campaign_runs]

    new = reverse("campaign_new")
    return {
        "campaigns": [Call(reverse("campaigns")), Call(reverse("campaigns"), data={"page": "2"})],
        "campaign_new": [
            Call(new),
            Call(new, "post", {"name": "Biochar", "topic": "x", "provider": "openalex", "most": "1"}),
            Call(new, "post", {"name": "Mine", "dois": "10.9999/a", "provider": "crossref", "most": "1"}),
        ],
        "campaign": each("campaign"),
        "campaign_flow": each("campaign_flow"),
        "campaign_search": each("campaign_search")
        + each("campaign_search", "post", topic="Biochar", provider="openalex", most="100"),
        "campaign_works": [
            *each("campaign_works"),
            *each("campaign_works", show="include"),
            *each("campaign_works", show="review", page="2"),
            *each("campaign_works", refused="no_doi"),
        ],
        "campaign_screen": each("campaign_screen")
        + each("campaign_screen", "post", criteria="Include biochar.")
        + each("campaign_screen", "post", criteria="Include biochar.", do="start"),
        "campaign_review": [
            *each("campaign_review"),
            *each("campaign_review", work="2"),
            *each("campaign_review", "post", screening="1", seen="1", verdict="include"),
        ],
        "campaign_undo": each("campaign_undo", "post"),
        "campaign_build": each("campaign_build", "post") + each("campaign_build", "post", do="build"),
        "campaign_run": of_runs("campaign_run"),
        "campaign_run_events": of_runs("campaign_run_events"),
        "campaign_run_cancel": of_runs("campaign_run_cancel", "post"),
    }
