"""Proposing questions from passages, by a model or by what somebody brings of one. All of them are drafts."""

from __future__ import annotations

import json
import secrets
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import structlog

from corpus.connections import release
from corpus.egress import classes_of
from corpus.gateways.llm import ChatModel, ModelError, complete
from corpus.models import Chunk
from corpus.prompt_files import prompt_file, quoted
from corpus.scope import RetrievalScope
from corpus.usage import accounts, estimating
from corpus.usage.estimating import Estimate
from corpus.usage.purposes import Purpose
from evaluation.actions import questions as action
from evaluation.actions.questions import Origin, Provenance, QuestionError, Writing
from evaluation.drafting import replies
from evaluation.drafting.choosing import eligible
from evaluation.drafting.replies import Dropped, Proposal
from evaluation.ground_truth.models import QuestionSet
from evaluation.questions import Pointer, Problem, SeedQuestion

logger = structlog.get_logger(__name__)

_SECONDS = 60.0
_LONGEST_TITLE = 300
_MOST_BYTES = 20_000_000
TAG = "proposed"
# From a passage to what a model replied about it; raises `Dropped`.
Ask = Callable[[Chunk], str]


@dataclass(slots=True)
class Drafted:
    """What came of the passages: the keys of new drafts, and how many were dropped for which reason.

    `stopped` says what of a cap was in the way of the others.
    """

    keys: list[str] = field(default_factory=list)
    dropped: Counter[str] = field(default_factory=Counter)
    stopped: str = ""


class InvalidReplies(ValueError):
    """A file of replies with mistakes; all of them are named by line."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__("; ".join(str(problem) for problem in problems))
        self.problems = tuple(problems)


def prompt_of(chunk: Chunk) -> tuple[str, str]:
    """Return both parts of what a model is asked about a passage."""
    return prompt_file("draft_question").fill(
        {
            "nonce": secrets.token_hex(16),
            "title": " ".join(quoted(chunk.document.title, longest=_LONGEST_TITLE).split()),
            "passage": quoted(chunk.body, longest=len(chunk.body) + 1),
        }
    )


def estimate(model: ChatModel, chunks: Sequence[Chunk]) -> Estimate:
    """Return what asking about these passages comes to."""
    prompts = [prompt_of(chunk) for chunk in estimating.spread(chunks)]
    line = estimating.line(
        purpose=Purpose.DRAFTING, model=model.name, calls=len(chunks), prompts=prompts, reply_tokens=90
    )
    return Estimate((line,))


def by_model(model: ChatModel) -> Ask:
    """Return what asks `model`; no connection is held meanwhile."""

    def ask(chunk: Chunk) -> str:
        system, user = prompt_of(chunk)
        release()
        try:
            with accounts.charged_to(collection=chunk.document.bucket):
                reply, _ = complete(
                    model,
                    system=system,
                    user=user,
                    purpose=Purpose.DRAFTING,
                    carries=classes_of([chunk.document.license_class]),
                    timeout=_SECONDS,
                )
        except ModelError as error:
            raise Dropped(error.code) from None
        return reply

    return ask


def propose(
    *,
    passages: Iterable[Chunk],
    ask: Ask,
    question_set: QuestionSet,
    scope: RetrievalScope,
    author: str,
    advance: Callable[[int], None] = lambda _: None,
) -> Drafted:
    """Add a draft for each passage whose reply holds; count the others by reason. Nobody has signed any."""
    drafted = Drafted()
    budget = accounts.current().budget
    for chunk in passages:
        drafted.stopped = "" if budget is None else budget.reached
        if drafted.stopped:
            break
        try:
            proposal = replies.read(ask(chunk), chunk.body)
            seed = _seed(chunk, proposal, author)
            action.add(
                question_set=question_set,
                seed=seed,
                writing=Writing(scope),
                provenance=Provenance(Origin.PROPOSED, note=f"proposed by {author}"[:300]),
                by=None,
            )
        except Dropped as dropped:
            drafted.dropped[dropped.code] += 1
        except action.NameTaken:
            drafted.dropped["there_already"] += 1
        except QuestionError:
            drafted.dropped["passage_gone"] += 1
        else:
            drafted.keys.append(seed.id)
        advance(1)
    logger.info("draft.ended", drafted=len(drafted.keys), dropped=sum(drafted.dropped.values()))
    return drafted


def _seed(chunk: Chunk, proposal: Proposal, author: str) -> SeedQuestion:
    pointer = Pointer(
        phrase=proposal.phrase,
        document_sha256=chunk.document.content_sha256,
        doi=chunk.document.doi_normalised,
        passage_sha256=chunk.content_sha256,
        locator=chunk.locator,
    )
    return SeedQuestion(
        id=f"{TAG}-{chunk.content_sha256[:16]}",
        question=proposal.question,
        reference_answer=proposal.reference_answer,
        evidence_phrases=(proposal.phrase,),
        pointers=(pointer,),
        tags=(TAG,),
        kind=proposal.kind,
        author=author,
    )


def prompts_written(passages: Iterable[Chunk]) -> str:
    """Return what a model would be asked as JSONL, each line with the hash of its passage."""
    lines = []
    for chunk in passages:
        system, user = prompt_of(chunk)
        lines.append(
            json.dumps({"passage": chunk.content_sha256, "system": system, "user": user}, ensure_ascii=False)
        )
    return "".join(f"{line}\n" for line in lines)


def replies_read(path: Path, *, key: str = "passage") -> dict[str, str]:
    """Return replies by what `key` names, from JSONL; raise `InvalidReplies` with every mistake."""
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise InvalidReplies([Problem(1, f"larger than {_MOST_BYTES // 1_000_000} MB")])
        lines = path.read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError:
        raise InvalidReplies([Problem(1, "not UTF-8 text")]) from None
    found: dict[str, str] = {}
    problems = []
    for number, line in enumerate(lines, start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        row = _row(line, key)
        if row is None:
            problems.append(Problem(number, f'not of the form {{"{key}": "...", "reply": "..."}}'))
        else:
            found[row[0]] = row[1]
    if problems:
        raise InvalidReplies(problems)
    return found


def _row(line: str, key: str) -> tuple[str, str] | None:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict) or set(value) - {key, "reply", "system", "user"}:
        return None
    about, reply = value.get(key), value.get("reply")
    return (about, reply) if isinstance(about, str) and isinstance(reply, str) else None


def passages_of(given: Mapping[str, str], scope: RetrievalScope) -> list[Chunk]:
    """Return the passages that replies are about, as far as they are in scope, one for each hash."""
    rows = eligible(scope).filter(content_sha256__in=list(given)).select_related("document")
    found: dict[str, Chunk] = {}
    for chunk in rows.order_by("rank_key", "pk"):
        found.setdefault(chunk.content_sha256, chunk)
    return list(found.values())
