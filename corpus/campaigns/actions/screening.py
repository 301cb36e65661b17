"""Rounds of screening and what is decided in them. A decision is added, never changed."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db import transaction
from django.db.models import Max

from corpus.campaigns.actions import runs
from corpus.campaigns.actions.discovering import CampaignError
from corpus.campaigns.actions.runs import Held
from corpus.campaigns.doers import account, named
from corpus.campaigns.models import Campaign, Candidate
from corpus.campaigns.screening_models import Screening, ScreeningDecision, ScreeningRound, Verdict
from corpus.gateways.llm import Usage

if TYPE_CHECKING:
    from corpus.campaigns.doers import Doer

By, Code = ScreeningDecision.By, ScreeningDecision.Code
LONGEST_CRITERIA = 20_000
LONGEST_REASON = 1_000
_BATCH = 500


class AlreadyDecided(Exception):
    """Somebody decided on the candidate since it was shown, or other criteria hold by now."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """What came of asking a model about one candidate."""

    verdict: Verdict
    code: ScreeningDecision.Code = Code.CONFIDENT
    reason: str = ""
    suggested: str = ""
    confidence: float | None = None
    model: str = ""
    prompt_sha256: str = ""
    usage: Usage = Usage()  # noqa: RUF009 - a frozen value


def checked_criteria(text: str) -> str:
    """Return criteria with their lines as they are; raise `CampaignError`."""
    found = "\n".join(line.rstrip() for line in text.replace("\r\n", "\n").split("\n")).strip()
    if not found:
        raise CampaignError("There are no criteria to screen by.")
    if len(found) > LONGEST_CRITERIA:
        raise CampaignError(
            f"The criteria have {len(found):,} characters; {LONGEST_CRITERIA:,} is the limit."
        )
    if "\x00" in found or not found.replace("\n", "").replace("\t", "").isprintable():
        raise CampaignError("The criteria hold characters that are no text.")
    return found


@transaction.atomic
def open_round(*, campaign: Campaign, criteria: str, by: Doer) -> ScreeningRound:
    """Return the round by these criteria: the last one when they are the same, else a new one.

    The rounds before stay as they are. Raises `CampaignError`.
    """
    text = checked_criteria(criteria)
    digest = hashlib.sha256(text.encode()).hexdigest()
    Campaign.objects.select_for_update().get(pk=campaign.pk)
    last = campaign.rounds.order_by("-number", "-id").first()
    if last is not None and last.criteria_sha256 == digest:
        return last
    return ScreeningRound.objects.create(
        campaign=campaign,
        number=1 if last is None else last.number + 1,
        criteria=text,
        criteria_sha256=digest,
        **named(by, "started_by"),
    )


def hand_to_people(*, held: Held, screening_round: ScreeningRound, candidates: Sequence[Candidate]) -> None:
    """Have people look at candidates that no model can judge, since they have no abstract."""
    with runs.effect(held) as run:
        judgement = Judgement(Verdict.REVIEW, Code.NO_ABSTRACT)
        run.done += sum(_keep(screening_round, one, judgement, By.RULE) for one in candidates)


def keep(*, held: Held, screening_round: ScreeningRound, candidate: Candidate, judgement: Judgement) -> None:
    """Keep what a model decided on a candidate. Raises `RunStopped`, and then keeps nothing."""
    with runs.effect(held) as run:
        run.done += _keep(screening_round, candidate, judgement, By.MODEL)


def _keep(
    screening_round: ScreeningRound, candidate: Candidate, judgement: Judgement, made_by: ScreeningDecision.By
) -> int:
    """Store a first decision; one that is there already stays. Return how many are new."""
    screening, is_new = Screening.objects.get_or_create(
        round=screening_round, candidate=candidate, defaults={"verdict": judgement.verdict}
    )
    if is_new:
        ScreeningDecision.objects.create(
            screening=screening,
            verdict=judgement.verdict,
            code=judgement.code,
            made_by=made_by,
            reason=judgement.reason,
            suggested=judgement.suggested,
            confidence=judgement.confidence,
            model=judgement.model[:200],
            prompt_sha256=judgement.prompt_sha256,
            prompt_tokens=judgement.usage.prompt_tokens,
            completion_tokens=judgement.usage.completion_tokens,
        )
    return int(is_new)


@transaction.atomic
def decide(
    *, screening: Screening, verdict: Verdict, reason: str, by: Doer, seen: int | None = None
) -> ScreeningDecision:
    """Record a person's decision; it takes the place of what was decided before, which stays on record.

    `seen` is the last decision that the person knew of. Raises `AlreadyDecided` when there is a newer one or
    the round is not the last any more, and `CampaignError`.
    """
    if verdict not in (Verdict.INCLUDE, Verdict.EXCLUDE):
        raise CampaignError("A person includes or excludes.")
    words = " ".join(reason.split())
    if len(words) > LONGEST_REASON or not words.isprintable():
        raise CampaignError(f"A reason is text of at most {LONGEST_REASON:,} characters.")
    row = _locked(screening)
    last = _last(row)
    if seen is not None and last.pk != seen:
        raise AlreadyDecided("Somebody has decided on this work since it was shown to you.")
    row.verdict = verdict
    row.save(update_fields=["verdict"])
    return ScreeningDecision.objects.create(
        screening=row,
        verdict=verdict,
        made_by=By.PERSON,
        reason=words,
        **named(by, "decided_by"),
    )


@transaction.atomic
def undo(*, campaign: Campaign, by: Doer) -> Screening | None:
    """Take back the last decision of `by` in the round that counts; None when there is none to take back.

    One that somebody else has decided over is not taken back. The candidate stands as it did before.
    """
    last_round = campaign.rounds.order_by("-number", "-id").first()
    mine = ScreeningDecision.objects.filter(
        screening__round=last_round,
        made_by=By.PERSON,
        decided_by=account(by),
        decided_by_name=by.get_username()[:200],
        undoes__isnull=True,
        undone_by__isnull=True,
    )
    for decision in mine.order_by("-id")[:1]:
        row = _locked(decision.screening)
        if _last(row).pk != decision.pk:
            return None
        before = row.decisions.filter(pk__lt=decision.pk).order_by("-id")[0]
        row.verdict = before.verdict
        row.save(update_fields=["verdict"])
        ScreeningDecision.objects.create(
            screening=row,
            verdict=before.verdict,
            code=before.code,
            made_by=By.PERSON,
            reason=before.reason,
            suggested=before.suggested,
            confidence=before.confidence,
            undoes=decision,
            **named(by, "decided_by"),
        )
        return row
    return None


def _locked(screening: Screening) -> Screening:
    row = Screening.objects.select_for_update(of=("self",)).select_related("round").get(pk=screening.pk)
    newest = ScreeningRound.objects.filter(campaign=row.round.campaign_id).aggregate(number=Max("number"))
    if row.round.number != newest["number"]:
        raise AlreadyDecided("The criteria were changed: this round does not count any more.")
    return row


def _last(row: Screening) -> ScreeningDecision:
    return row.decisions.order_by("-id")[0]
