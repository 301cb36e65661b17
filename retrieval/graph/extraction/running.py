"""Reading every passage that an extractor has not read yet, batch by batch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from time import monotonic
from typing import TYPE_CHECKING, TypeVar

import structlog
from django.db.models import Exists, OuterRef, QuerySet

from corpus import run_claims
from corpus.connections import release
from corpus.models import Chunk, Document
from corpus.run_claims import RunLost
from corpus.usage import accounts, capping
from corpus.usage.budget import Budget, Cap, CapReached
from retrieval.graph.actions import extraction as action
from retrieval.graph.extraction.types import (
    Batch,
    BatchFailed,
    Drops,
    Extractor,
    Passage,
    Verified,
    halves,
)
from retrieval.graph.extraction.verifying import verify
from retrieval.graph.models import ChunkStamp, ExtractionRun
from retrieval.graph.ontology import Ontology

if TYPE_CHECKING:
    from django.contrib.auth.models import User

logger = structlog.get_logger(__name__)

# A provider that is down is not asked about every passage of a library.
FAILURES_IN_A_ROW = 5

Advance = Callable[[int], None]
_Unit = TypeVar("_Unit")


@dataclass(frozen=True, slots=True)
class Reach:
    """What a run reads: at most `limit` passages, with `again` those read before too, of these documents.

    What was read `since` then is read already: a run that goes on does not read its own passages again.
    """

    limit: int | None = None
    again: bool = False
    since: datetime | None = None
    documents: QuerySet[Document] | None = None


EVERYTHING = Reach()


@dataclass(frozen=True, slots=True)
class Reading:
    """What was read of a batch or a piece of one; `failure` is the code of why nothing was."""

    verified: tuple[Verified, ...] = ()
    dropped: Drops = field(default_factory=Counter)
    failure: str = ""


@dataclass(slots=True)
class Rehearsal:
    """What a run would find, without writing any of it."""

    passages: int = 0
    batches_done: int = 0
    batches_failed: int = 0
    last_error_code: str = ""
    entities: set[tuple[str, str]] = field(default_factory=set)
    mentions: int = 0
    relationships: int = 0
    dropped: Drops = field(default_factory=Counter)

    def count(self, reading: Reading) -> None:
        """Count what would be kept."""
        if reading.failure:
            self.batches_failed += 1
            self.last_error_code = reading.failure
        else:
            self.batches_done += 1
        self.dropped += reading.dropped
        for page in reading.verified:
            self.passages += 1
            self.entities |= {(each.type, each.key) for each in page.entities}
            self.mentions += sum(len(each.spots) for each in page.entities)
            self.relationships += len(page.edges)


def unread(extractor: str, reach: Reach = EVERYTHING) -> QuerySet[Chunk]:
    """Return the passages of ready documents that `extractor` has not read as they are now."""
    chunks = Chunk.objects.filter(document__state=Document.State.READY)
    if reach.documents is not None:
        chunks = chunks.filter(document__in=reach.documents)
    stamps = ChunkStamp.objects.filter(
        chunk=OuterRef("pk"), extractor=extractor, content_sha256=OuterRef("content_sha256")
    )
    if reach.again:
        if reach.since is None:
            return chunks
        stamps = stamps.filter(stamped_at__gte=reach.since)
    return chunks.exclude(Exists(stamps))


def count(extractor: Extractor, reach: Reach = EVERYTHING) -> int:
    """Return how many passages a run would read."""
    waiting = unread(extractor.name, reach).count()
    return waiting if reach.limit is None else min(reach.limit, waiting)


def extract(
    *,
    extractor: Extractor,
    ontology: Ontology,
    reach: Reach = EVERYTHING,
    cap: Cap | None = None,
    by: User | None = None,
    advance: Advance = lambda _: None,
) -> ExtractionRun:
    """Read what is unread; return the run, which is failed when no batch could be read.

    One that used what `cap` allows is stopped at the cap, after a whole batch.
    """
    run = action.start(
        extractor=extractor.name,
        passages=count(extractor, reach),
        parameters={"limit": reach.limit, "again": reach.again},
        cap=cap,
        by=by,
    )
    return to_its_end(run, extractor=extractor, ontology=ontology, reach=reach, advance=advance)


def to_its_end(
    run: ExtractionRun,
    *,
    extractor: Extractor,
    ontology: Ontology,
    reach: Reach,
    advance: Advance = lambda _: None,
) -> ExtractionRun:
    """Carry a command's run out until nothing is left or its cap is reached; return it as it is then.

    Raises `RunLost` when somebody else carries it out.
    """
    claimed = run_claims.claim(ExtractionRun, run.pk, for_workers=False)
    if claimed is None:
        raise RunLost(f"Somebody else carries run {run.pk} out.")
    with run_claims.holding(claimed):
        try:
            carry_out(claimed, extractor=extractor, ontology=ontology, reach=reach, advance=advance)
        except CapReached:
            action.stop_at_the_cap(run=run.pk, claim=claimed.claim)
            return ExtractionRun.objects.get(pk=run.pk)
        except BaseException as error:
            action.fail(run=run.pk, code=type(error).__name__, claim=claimed.claim)
            raise
        return action.finish(run=run.pk, claim=claimed.claim)


def carry_out(
    run: ExtractionRun,
    *,
    extractor: Extractor,
    ontology: Ontology,
    reach: Reach,
    advance: Advance = lambda _: None,
    until: float | None = None,
) -> bool:
    """Read batches until nothing is left; False when `until` came first. Gives up on a dead provider.

    Raises `CapReached` before a batch that the run's cap does not allow any more, and `RunLost` when somebody
    else has taken the run.
    """
    budget = capping.budget_of(run)
    failed_in_a_row = 0
    for batch in batches(extractor, reach):
        if until is not None and monotonic() > until:
            return False
        budget.check()
        is_read = _read(run, batch, extractor, ontology, budget)
        failed_in_a_row = 0 if any(is_read) else failed_in_a_row + 1
        advance(len(batch.passages))
        if failed_in_a_row >= FAILURES_IN_A_ROW:
            logger.warning("graph.gave_up", run=str(run.pk), count=failed_in_a_row)
            break
    return True


def _read(
    run: ExtractionRun, batch: Batch, extractor: Extractor, ontology: Ontology, budget: Budget
) -> list[bool]:
    """Read a batch and keep what comes of it, and what it used with the run."""
    try:
        with accounts.charged_to(run.started_by, collection=batch.collection, budget=budget):
            return [_keep(run, reading, extractor) for reading in _readings(batch, extractor, ontology)]
    finally:
        capping.keep(run, budget)


def _keep(run: ExtractionRun, reading: Reading, extractor: Extractor) -> bool:
    if reading.failure:
        action.count_failure(run=run.pk, code=reading.failure, claim=run.claim)
        logger.warning("graph.batch_failed", run=str(run.pk), code=reading.failure)
        return False
    action.keep(
        run=run.pk,
        extractor=extractor.name,
        verified=reading.verified,
        dropped=reading.dropped,
        claim=run.claim,
    )
    return True


def rehearse(*, extractor: Extractor, ontology: Ontology, reach: Reach, advance: Advance) -> Rehearsal:
    """Read what a run would read and count what it would keep; write nothing."""
    found = Rehearsal()
    for batch in batches(extractor, reach):
        for reading in _readings(batch, extractor, ontology):
            found.count(reading)
        advance(len(batch.passages))
        if found.batches_failed >= FAILURES_IN_A_ROW and not found.passages:
            break
    return found


def batches(extractor: Extractor, reach: Reach = EVERYTHING) -> Iterator[Batch]:
    """Yield what is unread, document by document: what is read together may be seen by the same people."""
    chunks = unread(extractor.name, reach)
    documents = chunks.order_by("document_id").values_list("document_id", "document__bucket").distinct()
    left = reach.limit
    for document, bucket in list(documents):
        wanted = set(chunks.filter(document_id=document).values_list("pk", flat=True))
        rows = list(
            Chunk.objects.filter(document_id=document)
            .order_by("ordinal", "pk")
            .values_list("pk", "body", "content_sha256")
        )
        passages = list(islice((Passage(*row) for row in rows if row[0] in wanted), left))
        texts = tuple(body for _, body, _ in rows)
        for part in parts(passages, [len(passage.text) for passage in passages], extractor.batch_limits):
            yield Batch(str(document), part, texts, bucket)
        if left is not None:
            left -= len(passages)
            if left <= 0:
                return


def parts(
    units: Sequence[_Unit], lengths: Sequence[int], limits: tuple[int, int]
) -> Iterator[tuple[_Unit, ...]]:
    """Yield `units` in order, as many at once as the limits of number and characters allow, one at least."""
    most_units, most_characters = limits
    part: list[_Unit] = []
    characters = 0
    for unit, length in zip(units, lengths, strict=True):
        if part and (len(part) == most_units or characters + length > most_characters):
            yield tuple(part)
            part, characters = [], 0
        part.append(unit)
        characters += length
    if part:
        yield tuple(part)


def _readings(batch: Batch, extractor: Extractor, ontology: Ontology) -> Iterator[Reading]:
    """Yield what was read of a batch, in smaller pieces where the whole was too much for the extractor."""
    release()
    try:
        suggestions = extractor.read(batch)
    except BatchFailed as failure:
        if failure.may_be_smaller and len(batch.passages) > 1:
            for half in halves(batch):
                yield from _readings(half, extractor, ontology)
        else:
            yield Reading(failure=failure.code)
        return
    verified, dropped = verify(suggestions, batch, ontology)
    yield Reading(tuple(verified), dropped)
