"""What one request may see: the scope, its meet with a ceiling, and its one rendering."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from datetime import date
from typing import Any, TypeVar

from django.db.models import Q

from corpus.days import InvalidDay, last_day_of
from corpus.identifiers import fold, normalise_doi
from corpus.rights import ALL_CLASSES, LicenseClass, parse_class

T = TypeVar("T")


class InvalidScope(ValueError):
    """A scope that names something which does not exist or contradicts itself."""


@dataclass(frozen=True, slots=True)
class RetrievalScope:
    """The rights and filters of one request.

    None means not restricted; an empty tuple means nothing is allowed, except for the two
    exclusion lists, where empty excludes nothing. Build it with `scope()`, which checks and sorts.
    """

    license_classes: tuple[LicenseClass, ...] | None = None
    buckets: tuple[str, ...] | None = None
    authors: tuple[str, ...] | None = None
    journals: tuple[str, ...] | None = None
    year_min: int | None = None
    year_max: int | None = None
    exclude_document_ids: tuple[str, ...] = ()
    exclude_dois: tuple[str, ...] = ()
    exclude_retracted: bool = False
    # Leaves out nothing: it says which version of a work comes first, the one in force that day.
    as_of: date | None = None

    @property
    def denied(self) -> bool:
        """True when the scope allows nothing, whatever the corpus holds."""
        return () in (self.license_classes, self.buckets, self.authors, self.journals)

    @property
    def selection(self) -> RetrievalScope:
        """Return what of the scope decides which documents are eligible, written in one way only."""
        classes = None if self.license_classes == ALL_CLASSES else self.license_classes
        return replace(self, license_classes=classes, as_of=None)

    @property
    def restricted(self) -> bool:
        """True when anything at all may be left out. Every class, or a day, leaves out nothing."""
        return self.selection != RetrievalScope()

    def digest(self) -> str:
        """Return a stable key of the scope, for caches and stored answers."""
        return hashlib.sha256(json.dumps(self.as_dict(), sort_keys=True).encode()).hexdigest()

    def as_dict(self) -> dict[str, Any]:
        """Return the scope as JSON values."""
        return {name: _as_json(value) for name, value in asdict(self).items()}

    def within(self, ceiling: Ceiling) -> RetrievalScope:
        """Return the part of this scope that `ceiling` allows."""
        return replace(
            self,
            license_classes=_meet(self.license_classes, ceiling.license_classes),
            buckets=_meet(self.buckets, ceiling.buckets),
        )


@dataclass(frozen=True, slots=True)
class Ceiling:
    """The widest scope somebody may have. `buckets=None` means every bucket; classes are listed."""

    license_classes: tuple[LicenseClass, ...] = ()
    buckets: tuple[str, ...] | None = ()

    def union(self, other: Ceiling) -> Ceiling:
        """Return what either allows: a member of two groups has the rights of both."""
        classes = {*self.license_classes, *other.license_classes}
        buckets = (
            None
            if self.buckets is None or other.buckets is None
            else tuple(sorted({*self.buckets, *other.buckets}))
        )
        return Ceiling(tuple(c for c in ALL_CLASSES if c in classes), buckets)

    def meet(self, other: Ceiling) -> Ceiling:
        """Return what both allow."""
        return Ceiling(
            tuple(c for c in self.license_classes if c in other.license_classes),
            _meet(self.buckets, other.buckets),
        )

    @property
    def covers_what_is_gone(self) -> bool:
        """Whether something may be seen of which nobody can look class and bucket up any more."""
        return LicenseClass.UNKNOWN in self.license_classes and self.buckets is None

    def covers(self, license_class: str, bucket: str) -> bool:
        """Say whether a document of this class and bucket may be seen at all."""
        return license_class in self.license_classes and (self.buckets is None or bucket in self.buckets)


NOTHING = Ceiling()
EVERYTHING = Ceiling(ALL_CLASSES, None)


def _meet(wanted: tuple[T, ...] | None, allowed: tuple[T, ...] | None) -> tuple[T, ...] | None:
    if wanted is None or allowed is None:
        return allowed if wanted is None else wanted
    return tuple(item for item in wanted if item in allowed)


def scope(  # noqa: PLR0913 - it names the ten fields of one value
    *,
    license_classes: Iterable[str] | None = None,
    buckets: Iterable[str] | None = None,
    authors: Iterable[str] | None = None,
    journals: Iterable[str] | None = None,
    year_min: int | None = None,
    year_max: int | None = None,
    exclude_document_ids: Iterable[str] = (),
    exclude_dois: Iterable[str] = (),
    exclude_retracted: bool = False,
    as_of: date | str | None = None,
) -> RetrievalScope:
    """Check and normalise a request's scope.

    Raises `UnknownLicenseClass` for a class that does not exist and `InvalidScope` for a DOI that is
    none, a name no text column can hold, years the wrong way round or a day that does not exist: a typing
    error must never widen or silently empty a scope. `as_of` may name a year or a month: its last day.
    """
    if year_min is not None and year_max is not None and year_min > year_max:
        raise InvalidScope(f"The first year, {year_min}, is after the last, {year_max}.")
    dois = []
    for text in exclude_dois:
        doi = normalise_doi(text)
        if doi is None:
            raise InvalidScope(f"{text!r} is not a DOI. A DOI looks like 10.1234/abc.")
        dois.append(doi)
    classes = None if license_classes is None else {parse_class(name) for name in license_classes}
    return RetrievalScope(
        license_classes=None if classes is None else tuple(c for c in ALL_CLASSES if c in classes),
        buckets=_sorted(buckets),
        authors=None if authors is None else _sorted(fold(name) for name in authors),
        journals=None if journals is None else _sorted(fold(name) for name in journals),
        year_min=year_min,
        year_max=year_max,
        exclude_document_ids=tuple(sorted(set(exclude_document_ids))),
        exclude_dois=tuple(sorted(set(dois))),
        exclude_retracted=exclude_retracted,
        as_of=_day(as_of),
    )


def _day(named: date | str | None) -> date | None:
    if named is None or isinstance(named, date):
        return named
    try:
        return last_day_of(named)
    except InvalidDay as error:
        raise InvalidScope(str(error)) from None


def _as_json(value: Any) -> Any:
    if isinstance(value, tuple):
        return [str(item) for item in value]
    return value.isoformat() if isinstance(value, date) else value


def _sorted(items: Iterable[str] | None) -> tuple[str, ...] | None:
    if items is None:
        return None
    names = tuple(sorted(set(items)))
    for name in names:
        if "\0" in name or not _encodes(name):
            raise InvalidScope(f"{name!a} is not a name: it holds a zero byte or broken Unicode.")
    return names


def _encodes(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def eligible(scope: RetrievalScope) -> Q:
    """Return the condition on `Document` that `scope` means. The only rendering of a scope.

    Querysets filter with it; SQL written by hand takes the compiled form from
    `DocumentQuerySet.eligible_sql`, so both always agree.
    """
    condition = Q(state="ready")
    if scope.license_classes is not None:
        condition &= Q(license_class__in=scope.license_classes)
    if scope.buckets is not None:
        condition &= Q(bucket__in=scope.buckets)
    if scope.year_min is not None:
        condition &= Q(year__gte=scope.year_min)
    if scope.year_max is not None:
        condition &= Q(year__lte=scope.year_max)
    if scope.authors is not None:
        condition &= _any(Q(authors_folded__contains=name) for name in scope.authors)
    if scope.journals is not None:
        condition &= Q(journal_folded__in=scope.journals)
    if scope.exclude_document_ids:
        condition &= ~Q(id__in=scope.exclude_document_ids)
    if scope.exclude_dois:
        condition &= ~Q(doi_normalised__in=scope.exclude_dois)
    if scope.exclude_retracted:
        condition &= Q(source__isnull=True) | Q(source__is_retracted=False)
    return condition


def _any(conditions: Iterable[Q]) -> Q:
    combined = Q(pk__in=[])
    for condition in conditions:
        combined |= condition
    return combined
