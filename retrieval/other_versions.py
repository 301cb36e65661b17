"""Naming the versions that a demotion moved out of sight: nothing demoted is ever hidden."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from corpus.identifiers import fold
from corpus.models import Chunk
from corpus.sentences import sentences
from retrieval import ordering
from retrieval.history import History
from retrieval.ordering import Placed
from retrieval.types import OtherVersion

_LONGEST = 240


@dataclass(frozen=True, slots=True)
class Named:
    """A line about another version, and the passage it stands under; None when there is none of its work."""

    line: OtherVersion
    under: int | None


def named(
    candidates: Sequence[Placed],
    shown: Sequence[Placed],
    *,
    passages: Mapping[int, Chunk],
    history: History,
    question: str,
) -> list[Named]:
    """Return a line for each demoted version that would have been shown, or stands behind a shown twin.

    `candidates` are all there are in their final order, `shown` the first of them. A version that is shown
    itself gets its line as well when a passage of its work comes before it.
    """
    wanted = _wanted(candidates, shown, lambda key: history.remark(passages[key].document).is_demoted)
    visible = {passages[one.fused.chunk_id].document_id for one in shown}
    found: list[Named] = []
    told: set[UUID] = set()
    for key in wanted:
        passage = passages[key]
        if passage.document_id in told:
            continue
        under = _host(passage, shown, passages, history.works)
        if under is None and passage.document_id in visible:
            continue
        told.add(passage.document_id)
        reason = history.remark(passage.document).words
        found.append(Named(line_of(passage, question, reason), under))
    return found


def _wanted(
    candidates: Sequence[Placed], shown: Sequence[Placed], is_demoted: Callable[[int], bool]
) -> Iterator[int]:
    for one in ordering.unadjusted(candidates)[: len(shown)]:
        if one.is_demoted:
            yield one.fused.chunk_id
    for one in shown:
        yield from (key for key in one.also if is_demoted(key))


def _host(
    passage: Chunk, shown: Iterable[Placed], passages: Mapping[int, Chunk], works: Mapping[UUID, UUID]
) -> int | None:
    """Return the first shown passage of another version of the same work, undemoted if possible."""
    work = works.get(passage.document_id)
    of_the_work = [
        one
        for one in shown
        if passages[one.fused.chunk_id].document_id != passage.document_id
        and works.get(passages[one.fused.chunk_id].document_id, one) == work
    ]
    of_the_work.sort(key=lambda one: one.is_demoted)
    return of_the_work[0].fused.chunk_id if of_the_work else None


def line_of(passage: Chunk, question: str, reason: str) -> OtherVersion:
    """Return what the version of `passage` says to `question`, and why it was demoted."""
    document = passage.document
    return OtherVersion(
        id=str(passage.public_id),
        document_id=str(document.pk),
        title=document.title,
        version_label=document.version_label,
        year=document.year,
        locator=passage.locator,
        says="" if passage.is_table else saying(passage.body, question),
        reason=reason,
    )


def saying(body: str, question: str) -> str:
    """Return the sentence of `body` that shares most words with `question`, cut when it is long."""
    asked = set(fold(question).split())
    best = max(sentences(body), key=lambda sentence: len(asked & set(fold(sentence).split())), default="")
    line = " ".join(best.split())
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1].rstrip()}…"
