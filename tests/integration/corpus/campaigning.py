"""What the tests of campaigns share: somebody at the command line, and runs carried out here."""

from __future__ import annotations

from pathlib import Path

from corpus.actions.rights import Operator
from corpus.campaigns import carrying, screening, starting
from corpus.campaigns.actions import discovering as opening
from corpus.campaigns.actions import runs
from corpus.campaigns.actions import screening as rounds
from corpus.campaigns.actions.discovering import Question
from corpus.campaigns.models import Campaign, CampaignRun, CampaignSearch, Candidate
from corpus.campaigns.screening_models import Screening, Verdict
from corpus.gateways.records import FoundWork
from tests.unit.corpus.parsing.drawing import LEFT, TOP, Drawing

BY = Operator("tester")
CRITERIA = "Include works that report losses of stored straw."
TOPIC = "storage of straw bales"


def carried(run: CampaignRun, **options) -> CampaignRun:
    """Carry a run out to its end."""
    held = runs.claim(run=run.pk)
    assert held is not None
    with runs.holding(held):
        while not carrying.carry_out(held, **options):
            pass
    return CampaignRun.objects.get(pk=run.pk)


def campaign(name: str = "straw") -> Campaign:
    return opening.open_campaign(name=name, by=BY)


def search(row: Campaign, *, provider: str = "openalex", topic: str = TOPIC, **question) -> CampaignRun:
    asked = Question(CampaignSearch.Provider(provider), topic=topic, **question)
    return starting.discover(campaign=row, question=asked, by=BY, is_for_workers=False)


def with_candidates(row: Campaign, works: list[FoundWork]) -> list[Candidate]:
    """Give a campaign candidates as a finished search would."""
    asked = Question(CampaignSearch.Provider.OPENALEX, dois=tuple(work.doi or work.key for work in works))
    found = opening.open_search(campaign=row, question=asked)
    for number, work in enumerate(works, start=1):
        found.pages.create(number=number, asked_for=work.key, records=1, body=b"", body_sha256="0" * 64)
    opening._add(found, works)
    found.is_done = True
    found.save()
    return list(row.candidates.order_by("number"))


def screened(row: Campaign, criteria: str = CRITERIA, **options) -> CampaignRun:
    run = starting.screen(campaign=row, criteria=criteria, by=BY, is_for_workers=False, **options)
    return carried(run)


def include_all(row: Campaign, criteria: str = CRITERIA) -> None:
    """Have a person include every candidate."""
    last = rounds.open_round(campaign=row, criteria=criteria, by=BY)
    for candidate in screening.unscreened(last):
        rounds._keep(
            last, candidate, rounds.Judgement(Verdict.REVIEW, rounds.Code.NO_ABSTRACT), rounds.By.RULE
        )
    for standing in Screening.objects.filter(round=last, verdict=Verdict.REVIEW):
        rounds.decide(screening=standing, verdict=Verdict.INCLUDE, reason="", by=BY)


def pdf(folder: Path, words: str) -> bytes:
    """Return a small PDF that says `words`."""
    drawing = Drawing(title=words)
    drawing.column(
        LEFT, TOP, [f"{words}.", *["Straw was stored in bales and lost dry matter over months."] * 12]
    )
    return drawing.save(folder / "drawn.pdf").read_bytes()
