"""Versions of a work that take each other's place, and which of them was in force on a day.

Versions out of scope are as if they did not exist: neither their dates nor that they are there may show in
what is said of the others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from typing import Any
from uuid import UUID

from django.db.models import Q

from corpus.models import Document
from corpus.scope import RetrievalScope


@dataclass(frozen=True, slots=True)
class Version:
    """One document among the versions of its work.

    `successor` is the next one that may be seen, `start` the day from which this one was in force, where
    that is known: the day of publication, or the first day of its year.
    """

    id: UUID
    successor: UUID | None
    start: date | None
    is_superseded: bool


class Standing(StrEnum):
    """What a version was on one day."""

    IN_FORCE = "in_force"
    PERHAPS = "perhaps_in_force"
    REPLACED = "replaced"
    NOT_YET = "not_yet_in_force"


def around(documents: Iterable[UUID], scope: RetrievalScope) -> dict[UUID, Version]:
    """Return all versions that `scope` allows of the works of `documents`, by id."""
    visible = Document.objects.within(scope).order_by()
    rows: dict[UUID, dict[str, Any]] = {}
    asked: set[UUID] = set()
    wanted = set(documents)
    while wanted:
        asked |= wanted
        found = visible.filter(Q(pk__in=wanted) | Q(superseded_by__in=wanted)).values(
            "id", "superseded_by_id", "status", "year", "source_id", "source__published_date"
        )
        fresh: dict[UUID, dict[str, Any]] = {row["id"]: dict(row) for row in found if row["id"] not in rows}
        rows |= fresh
        beside = {key for row in fresh.values() for key in (row["id"], row["superseded_by_id"])}
        wanted = beside - asked - {None}
    works = Counter(row["source_id"] for row in rows.values())
    return {key: _version(row, rows, is_alone=works[row["source_id"]] == 1) for key, row in rows.items()}


def standings(versions: Mapping[UUID, Version], day: date) -> dict[UUID, Standing]:
    """Return what each version was on `day`.

    A date that is missing is bounded by those of the versions before and after it. Where none of a work's
    versions was in force yet, none of them is called so.
    """
    earlier = _predecessors(versions)
    return {key: _standing(version, versions, earlier, day) for key, version in versions.items()}


def newest(versions: Mapping[UUID, Version]) -> frozenset[UUID]:
    """Return the versions that took the place of others and were not replaced themselves."""
    replacing = {version.successor for version in versions.values()} - {None}
    return frozenset(
        key
        for key, one in versions.items()
        if key in replacing and one.successor is None and not one.is_superseded
    )


def works(versions: Mapping[UUID, Version]) -> dict[UUID, UUID]:
    """Return for each version the last one of its work, which names the work."""
    return {key: [key, *(one.id for one in _later(key, versions))][-1] for key in versions}


def _version(row: Mapping[str, Any], rows: Mapping[UUID, object], *, is_alone: bool) -> Version:
    successor = row["superseded_by_id"]
    return Version(
        id=row["id"],
        successor=successor if successor in rows else None,
        # Versions that share a record share its date, which then is not that of each.
        start=_start(row["year"], row["source__published_date"] if is_alone else None),
        is_superseded=row["status"] == Document.Status.SUPERSEDED,
    )


def _start(year: int | None, published: date | None) -> date | None:
    if published is not None and year in (None, published.year):
        return published
    return date(year, 1, 1) if year is not None and 1 <= year <= date.max.year else None


def _later(key: UUID, versions: Mapping[UUID, Version]) -> Iterator[Version]:
    # No circle may be recorded; one that is there all the same ends where it begins.
    seen = {key}
    following = versions[key].successor
    while following is not None and following not in seen:
        seen.add(following)
        yield versions[following]
        following = versions[following].successor


def _predecessors(versions: Mapping[UUID, Version]) -> dict[UUID, list[Version]]:
    """Return for each version all that came before it, near and far."""
    found: dict[UUID, list[Version]] = {key: [] for key in versions}
    for key, version in versions.items():
        for later in _later(key, versions):
            found[later.id].append(version)
    return found


def _standing(
    version: Version, versions: Mapping[UUID, Version], earlier: Mapping[UUID, list[Version]], day: date
) -> Standing:
    later = list(_later(version.id, versions))
    if any(one.start is not None and one.start <= day for one in later):
        return Standing.REPLACED
    if version.start is not None:
        is_sure = not later or later[0].start is not None
        if version.start > day:
            return Standing.NOT_YET
        return Standing.IN_FORCE if is_sure else Standing.PERHAPS
    if any(one.start is not None and one.start > day for one in earlier[version.id]):
        return Standing.NOT_YET
    return Standing.PERHAPS
