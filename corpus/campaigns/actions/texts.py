"""Keeping where full texts may be had, what was refused and why, and what was fetched."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from django.utils import timezone

from corpus.campaigns.actions import runs
from corpus.campaigns.actions.runs import Held
from corpus.campaigns.downloads import Downloaded
from corpus.campaigns.included import LOOKUP_FAILED
from corpus.campaigns.locations import Choice
from corpus.campaigns.models import Candidate
from corpus.campaigns.text_models import FullText
from corpus.models import IngestionItem

State = FullText.State


def keep_choice(*, held: Held, candidate: Candidate, choice: Choice) -> None:
    """Keep where a candidate's text may be fetched, or the name of why nowhere. Raises `RunStopped`."""
    with runs.effect(held) as run:
        best = choice.places[0] if choice.places else None
        FullText.objects.update_or_create(
            candidate=candidate,
            defaults={
                "state": State.RESOLVED if best is not None else State.REFUSED,
                "code": choice.refusal,
                "places": [place.as_dict() for place in choice.places],
                "attempts": [],
                "url": "" if best is None else best.url,
                "license_source": "" if best is None else best.license_source,
                "license_class": "" if best is None else best.license_class.value,
                "version": "" if best is None else best.version,
                "resolved_at": timezone.now(),
            },
        )
        run.done += 1


def keep_failed_lookup(*, held: Held, candidate: Candidate, code: str) -> None:
    """Keep that it could not be asked where a text is: nothing is known of it."""
    with runs.effect(held) as run:
        FullText.objects.update_or_create(
            candidate=candidate,
            defaults={
                "state": State.REFUSED,
                "code": LOOKUP_FAILED,
                "places": [],
                "resolved_at": timezone.now(),
            },
        )
        run.done, run.failed, run.last_error_code = run.done + 1, run.failed + 1, code[:60]


def keep_file(
    *,
    held: Held,
    text: FullText,
    place: Mapping[str, Any],
    found: Downloaded,
    attempts: Sequence[Mapping[str, str]],
) -> None:
    """Keep that a text was fetched, with the licence of the very place it came from."""
    with runs.effect(held) as run:
        FullText.objects.filter(pk=text.pk).update(
            state=State.FETCHED,
            code="",
            url=place["url"],
            license_source=place["license_source"],
            license_class=place["license_class"],
            version=place["version"],
            sha256=found.sha256,
            size=found.size,
            attempts=list(attempts),
            fetched_at=timezone.now(),
        )
        run.done += 1


def refuse(*, held: Held, text: FullText, code: str, attempts: Sequence[Mapping[str, str]]) -> None:
    """Keep that no address gave the text, and what each came to."""
    with runs.effect(held) as run:
        FullText.objects.filter(pk=text.pk).update(
            state=State.REFUSED, code=code[:40], attempts=list(attempts)
        )
        run.done, run.failed, run.last_error_code = run.done + 1, run.failed + 1, code[:60]


def link(*, held: Held, ingestion: UUID, names: Mapping[str, int]) -> None:
    """Keep which item of an ingestion run each fetched file is; `names` are the texts by their file."""
    with runs.effect(held) as run:
        run.ingestion_id = ingestion
        for item in IngestionItem.objects.filter(run=ingestion, path__in=list(names)).order_by("id"):
            FullText.objects.filter(pk=names[item.path], item__isnull=True).update(item=item)
