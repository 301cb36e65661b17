"""What waits for a decision about rights: the documents of the queue, filtered, with what speaks for each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from datetime import datetime, timedelta
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from django.db.models import DateTimeField, Exists, F, Max, Min, OuterRef, Q, QuerySet, Subquery, Value
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Coalesce
from django.db.models.lookups import LessThanOrEqual
from django.utils import timezone

from corpus import ceilings
from corpus.curation import ReviewItem
from corpus.models import Document, RightsDecision
from corpus.rights import LicenseClass, raises

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser, User

    from corpus.querysets import DocumentQuerySet

KINDS = (ReviewItem.Kind.LOOSER_LICENSE, ReviewItem.Kind.EMBARGO_OVER)
SIGNALS = ("own_words", "address", "text", "embargo", "none")
AGES = (1, 7, 30, 90)
_LONGEST_SEARCH = 200


@dataclass(frozen=True, slots=True)
class Filters:
    """What the list is narrowed to. Empty means not narrowed; what nobody offers is not narrowed by."""

    bucket: str = ""
    license_class: str = ""
    suggested: str = ""
    signal: str = ""
    age: str = ""
    q: str = ""

    @classmethod
    def of(cls, given: Mapping[str, str]) -> Filters:
        """Return the filters of a query string, without values that are none of those on offer."""
        classes = {item.value for item in LicenseClass}
        offered = {
            "license_class": classes,
            "suggested": classes,
            "signal": set(SIGNALS),
            "age": {str(days) for days in AGES},
        }
        values = {one.name: str(given.get(one.name, "")).replace("\0", "").strip() for one in fields(cls)}
        kept = {name: text for name, text in values.items() if text in offered.get(name, {text})}
        return cls(**kept | {"q": values["q"][:_LONGEST_SEARCH]})

    def query(self) -> str:
        """Return the filters as a query string."""
        return urlencode({one.name: value for one in fields(self) if (value := getattr(self, one.name))})


@dataclass(frozen=True, slots=True)
class Row:
    """A document of the queue. `seen` is the newest decision on it: whoever decides has seen up to there."""

    document: Document
    items: tuple[ReviewItem, ...]
    seen: int
    since: datetime

    @property
    def suggested(self) -> LicenseClass | None:
        """The class that is suggested, the one that allows least where there are several."""
        return suggested_class(self.items)

    @property
    def signal(self) -> str:
        """What the suggestion rests on, verbatim."""
        return signal_for(self.items, self.suggested)

    @property
    def reason(self) -> str:
        """Why it is suggested."""
        return self.items[0].reason if self.items else ""

    @property
    def statement(self) -> str:
        """What the document says of its rights, unless that is the signal already."""
        words = self.document.rights_statement.strip()
        return "" if words == self.signal.strip() else words


def suggested_class(items: Iterable[ReviewItem]) -> LicenseClass | None:
    """Return the strictest class that `items` suggest, None where they name none."""
    strictest: LicenseClass | None = None
    for item in items:
        name = item.suggestion.get("license_class")
        if name is not None and (strictest is None or raises(LicenseClass(name), strictest)):
            strictest = LicenseClass(name)
    return strictest


def signal_for(items: Iterable[ReviewItem], license_class: LicenseClass | None) -> str:
    """Return the signal by which one of `items` suggests `license_class`."""
    for item in items:
        if item.suggestion.get("license_class") == license_class:
            return str(item.suggestion.get("signal", ""))
    return ""


def open_items() -> QuerySet[ReviewItem]:
    """Return the suggestions about rights that nobody has decided on."""
    return ReviewItem.objects.filter(kind__in=KINDS, state=ReviewItem.State.OPEN)


def waiting(user: User | AnonymousUser) -> DocumentQuerySet:
    """Return the documents that wait for a decision about their rights and that `user` may know of."""
    return waiting_of(Document.objects.under(ceilings.of(user)))


def waiting_of(documents: DocumentQuerySet) -> DocumentQuerySet:
    """Return those of `documents` that wait for a decision about their rights.

    Those with an open suggestion, and those of unknown rights, unless a person left them so.
    """
    left_so = RightsDecision.objects.filter(
        ~Q(decided_by_name=""),
        document=OuterRef("pk"),
        to_class=LicenseClass.UNKNOWN,
        undoes__isnull=True,
        undone_by__isnull=True,
    )
    suggested = open_items().filter(document=OuterRef("pk"))
    return documents.order_by().filter(
        Exists(suggested) | (Q(license_class=LicenseClass.UNKNOWN) & ~Exists(left_so))
    )


def narrowed(documents: DocumentQuerySet, filters: Filters) -> DocumentQuerySet:
    """Keep the documents of the queue that `filters` leave, in order of how long they wait."""
    items = open_items().filter(document=OuterRef("pk"))
    if filters.bucket:
        documents = documents.filter(bucket=filters.bucket)
    if filters.license_class:
        documents = documents.filter(license_class=filters.license_class)
    if filters.suggested:
        documents = documents.filter(Exists(items.filter(suggestion__license_class=filters.suggested)))
    if filters.signal:
        documents = documents.filter(_of_signal(items, filters.signal))
    for word in filters.q.split():
        said = Exists(items.filter(Q(reason__icontains=word) | Q(suggestion__signal__icontains=word)))
        documents = documents.filter(Q(title__icontains=word) | Q(rights_statement__icontains=word) | said)
    oldest = items.order_by().values("document").annotate(first=Min("opened_at")).values("first")
    since = Coalesce(Subquery(oldest, output_field=DateTimeField()), F("ingested_at"))
    if filters.age:
        limit = timezone.now() - timedelta(days=int(filters.age))
        documents = documents.filter(LessThanOrEqual(since, Value(limit)))
    return documents.annotate(since=since).order_by(since, "id")


def _of_signal(items: QuerySet[ReviewItem], kind: str) -> Q:
    if kind == "none":
        return ~Q(Exists(items))
    if kind == "embargo":
        return Q(Exists(items.filter(kind=ReviewItem.Kind.EMBARGO_OVER)))
    licences = items.filter(kind=ReviewItem.Kind.LOOSER_LICENSE).annotate(
        words=KeyTextTransform("signal", "suggestion")
    )
    own, address = Q(words=F("document__rights_statement")), Q(words__istartswith="http")
    condition = {"own_words": own, "address": ~own & address, "text": ~own & ~address}[kind]
    return Q(Exists(licences.filter(condition)))


def rows(documents: Iterable[Document]) -> list[Row]:
    """Return `documents`, which `narrowed` gave, with their open suggestions and what was decided last."""
    listed = list(documents)
    ids = [document.pk for document in listed]
    items, decided = items_of(ids), newest_decisions(ids)
    return [
        Row(one, tuple(items.get(one.pk, ())), decided.get(one.pk, 0), one.since)  # type: ignore[attr-defined]
        for one in listed
    ]


def items_of(ids: Iterable[object]) -> dict[object, list[ReviewItem]]:
    """Return the open suggestions about rights of each of these documents, the oldest first."""
    found: dict[object, list[ReviewItem]] = {}
    for item in open_items().filter(document__in=list(ids)).order_by("opened_at", "id"):
        found.setdefault(item.document_id, []).append(item)
    return found


def newest_decisions(ids: Iterable[object]) -> dict[object, int]:
    """Return the newest decision about each of these documents that has one."""
    decisions = RightsDecision.objects.filter(document__in=list(ids)).order_by()
    return dict(decisions.values_list("document").annotate(Max("id")))
