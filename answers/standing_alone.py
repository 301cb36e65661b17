"""The question that is searched when somebody follows up: made by a model, by a rule, or by the asker."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import structlog

from answers import followups
from corpus import connections
from corpus.egress import NOTHING_HELD
from corpus.gateways.llm import ChatModel, ModelError, complete, fast_model
from corpus.normalise import visible
from corpus.prompt_files import InvalidPrompt, prompt_file, quoted
from corpus.usage.purposes import Purpose
from retrieval.request import MAX_QUESTION

if TYPE_CHECKING:
    from answers.models import Answer

logger = structlog.get_logger(__name__)

MODEL_SECONDS = 8.0
# A rewriting needs the last few questions; an answer is never sent, its evidence may lie outside the
# scope of the turn that is being asked.
EARLIER_QUESTIONS = 4
ASKER, RULE, MODEL = "asker", "rule", "model"


@dataclass(frozen=True, slots=True)
class Standalone:
    """What is searched, and how it came about: `by` is empty when it is what was typed."""

    question: str
    record: dict[str, Any] = field(default_factory=dict)


def earlier_questions(answer: Answer) -> list[str]:
    """Return the questions, as they were searched, of the turns that `answer` follows, oldest first."""
    found: list[str] = []
    turn = answer.follows
    while turn is not None and len(found) < EARLIER_QUESTIONS:
        found.append(turn.searched)
        turn = turn.follows
    return found[::-1]


def made_by_the_asker(question: str) -> Standalone:
    """Return a question that the asker wrote in place of what would have been searched."""
    return Standalone(question, {"by": ASKER})


def make(question: str, *, earlier: list[str], with_model: bool) -> Standalone:
    """Return `question` so that it stands without `earlier`, the questions before it, oldest first.

    Never raises: what a model cannot do, the rule does, and the record says so.
    """
    model = fast_model() if with_model else None
    if model is None:
        return _by_rule(question, earlier)
    connections.release()
    try:
        return _by_model(model, question, earlier)
    except ModelError as failure:
        reason = failure.code
    except InvalidPrompt:
        reason = "invalid_prompt"
    except _Unusable:
        reason = "unusable"
    logger.warning("followup.not_rewritten", code=reason)
    fallen = _by_rule(question, earlier)
    return Standalone(fallen.question, fallen.record | {"fell_back": reason, "model": model.name})


class _Unusable(ValueError):
    """A reply that is no question made of the asker's words."""


def _by_model(model: ChatModel, question: str, said: list[str]) -> Standalone:
    prompt = prompt_file("followup")
    values = {
        "nonce": secrets.token_hex(16),
        "earlier": "\n".join(f"- {_line(text)}" for text in said),
        "question": _line(question),
    }
    system, user = prompt.fill(values)
    # The asker's own words, and no document's.
    reply, usage = complete(
        model,
        system=system,
        user=user,
        purpose=Purpose.FOLLOW_UP,
        carries=NOTHING_HELD,
        timeout=MODEL_SECONDS,
    )
    rewritten = followups.checked_rewriting(visible(reply), said=[question, *said])
    if rewritten is None:
        raise _Unusable
    record = {
        "by": MODEL if rewritten != question else "",
        "model": model.name,
        "parameters": dict(model.parameters),
        "prompt_sha256": prompt.sha256,
        "tokens": {"prompt": usage.prompt_tokens, "completion": usage.completion_tokens},
        "cost_usd": usage.cost_usd,
    }
    return Standalone(rewritten, record)


def _by_rule(question: str, earlier: list[str]) -> Standalone:
    if not earlier or not followups.leans_on_the_last(question):
        return Standalone(question)
    found = followups.with_topic(question, earlier[-1], longest=MAX_QUESTION)
    return Standalone(found, {"by": RULE}) if found != question else Standalone(question)


def _line(text: str) -> str:
    return " ".join(quoted(text, longest=MAX_QUESTION).split())
