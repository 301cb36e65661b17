"""Having a model decide on every candidate by written criteria. What it is not sure of is a person's."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from time import monotonic

import structlog
from django.db.models import Exists, OuterRef, QuerySet

from corpus.campaigns import replies
from corpus.campaigns.actions import runs
from corpus.campaigns.actions import screening as action
from corpus.campaigns.actions.runs import Held
from corpus.campaigns.actions.screening import Code, Judgement
from corpus.campaigns.models import Campaign, CampaignRun, Candidate
from corpus.campaigns.replies import MalformedReply
from corpus.campaigns.screening_models import Screening, ScreeningRound, Verdict
from corpus.connections import release
from corpus.egress import NOTHING_HELD
from corpus.gateways.llm import ChatModel, ModelError, Usage, complete, fast_model
from corpus.prompt_files import prompt_file, quoted
from corpus.usage import accounts, capping, estimating
from corpus.usage.estimating import Estimate
from corpus.usage.purposes import Purpose

logger = structlog.get_logger(__name__)

PROMPT = "screen"
# A decision is one line. What takes longer hangs.
REPLY_SECONDS = 60.0
_LONGEST_LINE, _LONGEST_ABSTRACT = 500, 8_000
# The model answered, and it is no decision; other failures are the provider's and say nothing of a work.
_NO_DECISION = frozenset({"garbage", "cut_off"})
_AT_ONCE = 500


class NoScreeningModel(Exception):
    """No model is set that could screen."""


@dataclass(frozen=True, slots=True)
class Asked:
    """Both parts of a request, and the hash of the file they were made from."""

    system: str
    user: str
    sha256: str


def configured_model() -> ChatModel:
    """Return the model of the settings for small work; raise `NoScreeningModel`."""
    model = fast_model()
    if model is None:
        raise NoScreeningModel(
            "No model is set that could screen. Set SCI_RAG_FAST_MODEL or SCI_RAG_LLM_MODEL."
        )
    return model


def unscreened(screening_round: ScreeningRound) -> QuerySet[Candidate]:
    """Return the candidates that nobody has looked at in this round, in order."""
    looked_at = Screening.objects.filter(round=screening_round, candidate=OuterRef("pk"))
    return Candidate.objects.filter(~Exists(looked_at), campaign=screening_round.campaign_id).order_by(
        "number", "id"
    )


def prompt(screening_round: ScreeningRound, candidate: Candidate) -> Asked:
    """Return what a model is asked: the criteria, the title and the abstract, and nothing else."""
    found = prompt_file(PROMPT)
    system, user = found.fill(
        {
            "nonce": secrets.token_hex(16),
            "criteria": quoted(screening_round.criteria, longest=action.LONGEST_CRITERIA),
            "title": _line(candidate.title),
            "year": "unknown" if candidate.year is None else str(candidate.year),
            "venue": _line(candidate.venue) or "unknown",
            "abstract": quoted(candidate.abstract, longest=_LONGEST_ABSTRACT),
        }
    )
    return Asked(system, user, found.sha256)


def _line(text: str) -> str:
    return " ".join(quoted(text, longest=_LONGEST_LINE).split())


def estimate(campaign: Campaign, criteria: str, *, model: ChatModel) -> Estimate:
    """Return what screening by `criteria` would come to. Asks nobody, writes nothing."""
    text = action.checked_criteria(criteria)
    last = campaign.rounds.order_by("-number", "-id").first()
    if last is not None and last.criteria == text:
        waiting = unscreened(last)
    else:
        last = ScreeningRound(campaign=campaign, criteria=text)
        waiting = campaign.candidates.order_by("number", "id")
    judged = list(waiting.exclude(abstract="").values_list("pk", flat=True))
    sample = Candidate.objects.filter(pk__in=estimating.spread(judged)).order_by("number", "id")
    prompts = [prompt(last, one) for one in sample]
    line = estimating.line(
        purpose=Purpose.SCREENING,
        model=model.name,
        calls=len(judged),
        prompts=[(one.system, one.user) for one in prompts],
    )
    return Estimate((line,))


def carry_out(
    held: Held, *, screening_round: ScreeningRound, model: ChatModel, until: float | None = None
) -> bool:
    """Screen what nobody has looked at; False when `until` came first.

    Raises `ModelError` when the provider cannot be asked, `CapReached`, and `RunStopped`.
    """
    with runs.effect(held) as run:
        run.total = screening_round.campaign.candidates.count()
        run.done = run.total - unscreened(screening_round).count()
    row = CampaignRun.objects.select_related("started_by").get(pk=held.run)
    budget = capping.budget_of(row)
    budget.check()
    for lot in _lots(unscreened(screening_round).filter(abstract="")):
        action.hand_to_people(held=held, screening_round=screening_round, candidates=lot)
    for identifier in list(unscreened(screening_round).values_list("pk", flat=True)):
        if until is not None and monotonic() > until:
            return False
        runs.still_mine(held)
        candidate = Candidate.objects.get(pk=identifier)
        with accounts.charged_to(row.started_by, collection=screening_round.campaign.name, budget=budget):
            try:
                judgement = judge(model, prompt(screening_round, candidate))
            finally:
                capping.keep(row, budget)
        action.keep(held=held, screening_round=screening_round, candidate=candidate, judgement=judgement)
        logger.info("campaign.screened", run=str(held.run), verdict=judgement.verdict.value)
        budget.check()
    return True


def _lots(rows: QuerySet[Candidate]) -> Iterator[list[Candidate]]:
    while lot := list(rows[:_AT_ONCE]):
        yield lot


def judge(model: ChatModel, asked: Asked) -> Judgement:
    """Return what `model` makes of one candidate; raise `ModelError` when it could not be asked."""
    release()
    usage = Usage()
    try:
        text, usage = complete(
            model,
            system=asked.system,
            user=asked.user,
            purpose=Purpose.SCREENING,
            # What an open index says of a work that is not held.
            carries=NOTHING_HELD,
            timeout=REPLY_SECONDS,
        )
        judged = replies.read(text)
    except MalformedReply:
        return Judgement(
            Verdict.REVIEW, Code.MALFORMED, model=model.name, prompt_sha256=asked.sha256, usage=usage
        )
    except ModelError as error:
        if error.code not in _NO_DECISION:
            raise
        return Judgement(Verdict.REVIEW, Code.MALFORMED, model=model.name, prompt_sha256=asked.sha256)
    return Judgement(
        verdict=Verdict(judged.decision) if judged.is_sure else Verdict.REVIEW,
        code=Code.CONFIDENT if judged.is_sure else Code.LOW_CONFIDENCE,
        reason=judged.reason,
        suggested=judged.decision,
        confidence=judged.confidence,
        model=model.name,
        prompt_sha256=asked.sha256,
        usage=usage,
    )
