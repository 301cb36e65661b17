"""Recording what an index said about a work, or that it said nothing. One transaction a work."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime
from typing import TYPE_CHECKING, Any

import pghistory
from django.db import transaction
from django.utils import timezone

from corpus.actions import review
from corpus.actions.editorial import record_event
from corpus.enrichment import license_signals, references, updates
from corpus.enrichment.records import SourceCheck
from corpus.enrichment.updates import Assertion, Doubt
from corpus.gateways.crossref import Work
from corpus.models import Document, DocumentCitation, EditorialEvent, Source

if TYPE_CHECKING:
    from django.contrib.auth.models import User

CROSSREF = SourceCheck.Provider.CROSSREF
_DOUBTS = {
    "contradiction": "Two records each say that the other work was retracted or is under concern; which of "
    "them is the notice they do not say.",
    "before_publication": "A record says that this work was retracted or is under concern, on a day before "
    "it was published.",
    "unknown_word": "A record updates this work with a word that looks like a misspelt retraction.",
    "claimed_by_title": "The title says so, and nothing asserts it.",
}


@transaction.atomic
def apply_work(*, source: Source, work: Work, at: datetime) -> Counter[str]:
    """Record what Crossref says about `source`, and that it was asked; return what was done, counted.

    Events for every work its updates speak of and that has a record here; journal and reference list where
    they are missing; licences as far as software may; what a person has to look at as suggestions.
    """
    reading = updates.read(
        doi=work.doi, published=work.published, update_to=work.update_to, updated_by=work.updated_by
    )
    sources = _locked(source, {claim.about for claim in reading.assertions})
    locked = sources[work.doi]
    done: Counter[str] = Counter()
    with pghistory.context(process="crossref", reason="Crossref’s record of the work"):
        _describe(locked, work)
        before = EditorialEvent.objects.filter(source__in=sources.values()).count()
        for claim in reading.assertions:
            if claim.about in sources:
                _record(sources[claim.about], claim)
        done["events"] = EditorialEvent.objects.filter(source__in=sources.values()).count() - before
        documents = Document.objects.select_for_update().filter(source=locked).order_by("id")
        for document in documents:
            done.update(_enrich(document, work, at.date()))
            done["doubts"] += _open_doubts(document, locked, work, reading.doubts)
        _note_check(locked, at=at, cited_by=work.cited_by)
    done["retracted"] = int(locked.is_retracted)
    return done


@transaction.atomic
def record_failure(*, source: Source, reason: str, at: datetime) -> None:
    """Record that the check of `source` failed. Nothing else about it changes: a failure says nothing."""
    locked = Source.objects.select_for_update().get(pk=source.pk)
    SourceCheck.objects.update_or_create(
        source=locked,
        provider=CROSSREF,
        defaults={
            "outcome": SourceCheck.Outcome.FAILED,
            "reason": reason,
            "checked_at": at,
            "asked_for_at": None,
        },
    )


@transaction.atomic
def ask_again(*, sources: Iterable[Source], by: User | None) -> int:
    """Let the next run check `sources` whenever they were checked last; return for how many that is so.

    A work that was never checked is due anyway. `by` needs no record: nothing about a work changes.
    """
    rows = SourceCheck.objects.filter(source__in=[source.pk for source in sources], provider=CROSSREF)
    return rows.update(asked_for_at=timezone.now())


def _locked(source: Source, dois: set[str]) -> dict[str, Source]:
    """Return the works with these DOIs and `source`, locked in one order, by DOI."""
    wanted = dois | {source.identifier_value}
    rows = Source.objects.filter(identifier_type=Source.IdentifierType.DOI, identifier_value__in=wanted)
    found = {row.identifier_value: row for row in rows.select_for_update().order_by("id")}
    if source.identifier_value not in found:
        raise Source.DoesNotExist
    return found


def _record(source: Source, claim: Assertion) -> None:
    origins = EditorialEvent.Origin
    origin = origins.RETRACTION_WATCH if claim.by_retraction_watch else origins.CROSSREF
    happened_on = claim.on or _known_day(source, claim, origin)
    record_event(
        source=source, kind=claim.kind, origin=origin, happened_on=happened_on, notice_doi=claim.notice
    )


def _known_day(source: Source, claim: Assertion, origin: str) -> date:
    """Return the day an undated assertion was recorded under before, or today."""
    same = source.events.filter(kind=claim.kind, origin=origin, notice_doi=claim.notice)
    known = same.order_by("id").values_list("happened_on", flat=True).first()
    return known or timezone.localdate()


def _describe(source: Source, work: Work) -> None:
    said: Mapping[str, Any] = {
        "title": work.title,
        "container": work.container,
        "publisher": work.publisher,
        "year": work.year,
    }
    _fill(source, said)


def _fill(row: Source | Document, said: Mapping[str, Any], also: Sequence[str] = ()) -> None:
    """Save what `said` knows of `row` and nobody has written there."""
    new = {name: value for name, value in said.items() if value and not getattr(row, name)}
    for name, value in new.items():
        setattr(row, name, value)
    if new:
        row.save(update_fields=[*new, *also])


def _enrich(document: Document, work: Work, today: date) -> Counter[str]:
    _fill(document, {"journal": work.container}, also=["journal_folded", "updated_at"])
    done = Counter({"references": _refer(document, work)})
    if what := license_signals.apply(document, work=work, today=today):
        done[what] += 1
    return done


def _refer(document: Document, work: Work) -> int:
    """Keep the deposited references that the document's own list lacks; return how many there are."""
    rows = document.references.order_by("origin", "ordinal", "id")
    entries = list(rows.values_list("origin", "text", "doi_normalised"))
    origin = DocumentCitation.Origin.INDEX
    own = [(text, doi) for by, text, doi in entries if by != origin]
    wanted = [(entry.text, entry.doi) for entry in references.missing(own, work.references)]
    if wanted != [(text, doi) for by, text, doi in entries if by == origin]:
        rows.filter(origin=origin).delete()
        DocumentCitation.objects.bulk_create(
            [
                DocumentCitation(
                    citing=document, origin=origin, ordinal=number, text=text, doi_normalised=doi
                )
                for number, (text, doi) in enumerate(wanted, start=1)
            ],
            batch_size=200,
        )
    return len(wanted)


def _open_doubts(document: Document, source: Source, work: Work, doubts: Sequence[Doubt]) -> int:
    if source.is_retracted:
        return 0
    found = [(doubt.reason, doubt.other) for doubt in doubts]
    titles = [title for title in (document.title, work.title) if updates.claims_retraction(title)]
    if titles and not source.events.filter(kind__in=updates.RETRACTING).exists():
        found.append(("claimed_by_title", titles[0]))
    opened = [
        review.suggest_retraction(document=document, signal=signal, reason=_DOUBTS[reason])
        for reason, signal in found
    ]
    return sum(item is not None for item in opened)


def _note_check(source: Source, *, at: datetime, cited_by: int | None) -> None:
    SourceCheck.objects.update_or_create(
        source=source,
        provider=CROSSREF,
        defaults={
            "outcome": SourceCheck.Outcome.GOOD,
            "reason": "",
            "checked_at": at,
            "last_good_at": at,
            "asked_for_at": None,
            "cited_by": cited_by,
        },
    )
