"""Notes as one reader may see them today.

A note is read by whoever keeps it, and by everyone who signs in when it is shared; for anyone else it does
not exist. The works behind it are held against the reader's ceiling: title and document show where a
document of the work may be seen. Of any other work a note says what a person wrote to name it, and the
standing of the work so named, whether or not something of it is held; one that an answer brought is a number.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import quote
from uuid import UUID

from django.db.models import Exists, OuterRef, Q, QuerySet

from answers.notebook.models import Observation, ObservationSource
from corpus import browsing, ceilings
from corpus.enrichment.records import SourceCheck
from corpus.models import Document, Source
from corpus.scope import EVERYTHING, Ceiling, RetrievalScope

if TYPE_CHECKING:
    from datetime import datetime

    from django.contrib.auth.models import User

MINE, SHARED = "mine", "shared"
GRAVE = ("retracted", "concern")
_BEGINNING = 120
_LABELS = dict(Source.IdentifierType.choices)
_ADDRESSES = {
    "doi": "https://doi.org/",
    "arxiv": "https://arxiv.org/abs/",
    "pmid": "https://pubmed.ncbi.nlm.nih.gov/",
}


@dataclass(frozen=True, slots=True)
class ShownSource:
    """One numbered source. When it is not `available`, only number and relationship mean anything.

    `identifier` is one word, `doi:10.1234/abc`. `check_failed` and `checked_at` are about the last time an
    index was asked, where the reader may know of it.
    """

    number: int
    relationship: str
    relationship_label: str
    available: bool
    withdrawn: bool = False
    title: str = ""
    identifier: str = ""
    authors: tuple[str, ...] = ()
    year: int | None = None
    journal: str = ""
    document_id: str = ""
    badges: tuple[str, ...] = ()
    checked_at: datetime | None = None
    check_failed: bool = False

    @property
    def kind(self) -> str:
        """The kind of the identifier."""
        return self.identifier.partition(":")[0]

    @property
    def value(self) -> str:
        """The identifier without its kind."""
        return self.identifier.partition(":")[2]

    @property
    def kind_label(self) -> str:
        """The kind of the identifier as people write it."""
        return str(_LABELS.get(self.kind, "")) if self.identifier else ""

    @property
    def name(self) -> str:
        """What the work is called: its title, else its identifier; empty when it is out of reach."""
        return self.title or (f"{self.kind_label} {self.value}" if self.identifier else "")

    @property
    def address(self) -> str:
        """Where the identifier leads on the web; empty where it leads nowhere."""
        if self.kind == Source.IdentifierType.URL:
            return self.value
        return _ADDRESSES[self.kind] + quote(self.value) if self.kind in _ADDRESSES else ""

    @property
    def is_checkable(self) -> bool:
        """Whether an index can be asked about the work."""
        return self.available and self.kind == Source.IdentifierType.DOI

    @property
    def is_grave(self) -> bool:
        """Whether the work is not to be relied on."""
        return any(name in GRAVE for name in self.badges)


@dataclass(frozen=True, slots=True)
class ShownNote:
    """A note with its sources as far as the reader may see them. `note` serves its plain facts."""

    note: Observation
    sources: tuple[ShownSource, ...]
    is_own: bool

    @property
    def title(self) -> str:
        """The title its owner gave it, else how it begins."""
        if self.note.title:
            return self.note.title
        words = " ".join(self.note.text.split())
        return words if len(words) <= _BEGINNING else f"{words[: _BEGINNING - 1]}…"

    @property
    def warned(self) -> tuple[ShownSource, ...]:
        """The sources whose work was retracted or doubted: what a reader must know first."""
        return tuple(source for source in self.sources if source.is_grave)


def readable_by(user: User | None) -> QuerySet[Observation]:
    """Return the notes `user` may read at all: their own, and what is shared; nobody is the operator."""
    return Observation.objects.filter(_owned(user) | Q(is_shared=True)).select_related("owner")


def own(user: User | None) -> QuerySet[Observation]:
    """Return the notes that `user` keeps; nobody's are the operator's."""
    return Observation.objects.filter(_owned(user)).select_related("owner")


def _owned(user: User | None) -> Q:
    return Q(owner__isnull=True) if user is None else Q(owner=user)


def found(user: User | None, *, text: str = "", kind: str = "", whose: str = "") -> QuerySet[Observation]:
    """Return the notes `user` may read that hold `text`, the last changed first.

    Searched is what people wrote, never what is known of the works.
    """
    rows = readable_by(user)
    if whose == MINE:
        rows = own(user)
    elif whose == SHARED:
        rows = rows.filter(is_shared=True)
    if kind:
        rows = rows.filter(kind=kind)
    if text:
        named = ObservationSource.objects.filter(
            Q(named__icontains=text) | Q(named_title__icontains=text), observation=OuterRef("pk")
        )
        rows = rows.filter(Q(title__icontains=text) | Q(text__icontains=text) | Exists(named))
    return rows.order_by("-changed_at", "id")


def shown(notes: Iterable[Observation], user: User | None) -> list[ShownNote]:
    """Return `notes`, which `user` may read, with their sources as far as they may see those."""
    notes = list(notes)
    sources: dict[UUID, list[ShownSource]] = {note.pk: [] for note in notes}
    for link, source in _sources(sources, user):
        sources[link.observation_id].append(source)
    key = None if user is None else user.pk
    return [ShownNote(note, tuple(sources[note.pk]), is_own=note.owner_id == key) for note in notes]


def names(notes: Iterable[UUID], user: User) -> dict[tuple[object, object], str]:
    """Return what `user` may know the works in these notes of theirs are called, by note and work."""
    mine = own(user).filter(pk__in=list(notes)).order_by("pk").values_list("pk", flat=True)
    found = _sources(mine, user)
    return {(link.observation_id, link.source_id): source.name for link, source in found}


def _sources(notes: Iterable[UUID], user: User | None) -> list[tuple[ObservationSource, ShownSource]]:
    ceiling = EVERYTHING if user is None else ceilings.of(user)
    links = list(
        ObservationSource.objects.filter(observation__in=list(notes))
        .select_related("source")
        .prefetch_related("source__checks")
        .order_by("observation_id", "number")
    )
    held = _Held(links, RetrievalScope().within(ceiling))
    return [(link, _source(link, held.document_of(link), ceiling)) for link in links]


class _Held:
    """The documents of linked works that a scope allows."""

    def __init__(self, links: Sequence[ObservationSource], scope: RetrievalScope) -> None:
        wanted = Q(source__in=[link.source_id for link in links]) | Q(
            pk__in=[link.document_id for link in links if link.document_id]
        )
        # The current version of a work comes last, so that it is the one that stays.
        rows = list(
            Document.objects.within(scope)
            .filter(wanted)
            .select_related("source")
            .order_by("-status", "ingested_at", "id")
        )
        self._by_id = {row.pk: row for row in rows}
        self._by_source = {row.source_id: row for row in rows}

    def document_of(self, link: ObservationSource) -> Document | None:
        """Return the version the link was made in, else the current one."""
        met = self._by_id.get(link.document_id) if link.document_id else None
        return met or self._by_source.get(link.source_id)


def _source(link: ObservationSource, document: Document | None, ceiling: Ceiling) -> ShownSource:
    label = str(ObservationSource.Relationship(link.relationship).label)
    named = bool(link.named or link.named_title)
    withdrawn = not named and ceiling.covers(link.withdrawn_under, link.withdrawn_from)
    if document is None and not named and not withdrawn:
        return ShownSource(link.number, link.relationship, label, available=False)
    source = link.source
    known = link.named or _identifier(source)
    if document is None:
        # A record without an identifier was the document's own, and lost its words with it.
        title = link.named_title or (source.title if withdrawn and source.identifier_value else "")
        shown: dict[str, Any] = {"title": title, "badges": tuple(_standing(source)), "withdrawn": withdrawn}
    else:
        shown = {
            "title": document.title,
            "badges": tuple(dict.fromkeys([*browsing.badges(document), *_standing(source)])),
            "authors": tuple(str(name) for name in document.authors),
            "year": document.year,
            "journal": document.journal,
            "document_id": str(document.pk),
        }
    check = _check(link, is_held=document is not None)
    return ShownSource(
        link.number,
        link.relationship,
        label,
        available=True,
        identifier=known,
        checked_at=check.checked_at if check else None,
        check_failed=check is not None and check.outcome == SourceCheck.Outcome.FAILED,
        **shown,
    )


def _identifier(source: Source) -> str:
    return f"{source.identifier_type}:{source.identifier_value}" if source.identifier_value else ""


def _standing(source: Source) -> list[str]:
    flags = (
        ("retracted", source.is_retracted),
        ("concern", source.has_concern),
        ("corrected", source.is_corrected),
    )
    return [name for name, applies in flags if applies]


def _check(link: ObservationSource, *, is_held: bool) -> SourceCheck | None:
    """Return the last check, where it does not tell that the work was known before it was named here."""
    checks = sorted(link.source.checks.all(), key=lambda check: check.checked_at)
    told = [check for check in checks if is_held or check.checked_at >= link.added_at]
    return told[-1] if told else None
