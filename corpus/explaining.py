"""Why is this not here? Which rules keep a document from somebody, each in a sentence.

It says the same as `scope.eligible` does, rule by rule: a document is hidden when one of its rules hides.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import UUID

from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from corpus import ceilings
from corpus.identifiers import fold, normalise_doi
from corpus.models import Chunk, Document, DocumentCitation, IngestionItem
from corpus.rights import LABELS, LicenseClass
from corpus.scope import EVERYTHING, NOTHING, Ceiling, RetrievalScope

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from corpus.querysets import DocumentQuerySet

MOST_MATCHES = 5
_SHORTEST_TITLE = 3
ANSWERS = RetrievalScope(exclude_retracted=True)


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule that applies, with a stable code. One that does not hide only moves or marks."""

    code: str
    words: str
    hides: bool = True


@dataclass(frozen=True, slots=True)
class Person:
    """Whose view is explained."""

    name: str
    ceiling: Ceiling


@dataclass(frozen=True, slots=True)
class Explained:
    """One thing that was meant: a document that is held, or a file that did not become one."""

    title: str
    rules: tuple[Rule, ...]
    document: Document | None = None

    @property
    def is_hidden(self) -> bool:
        """Whether one of the rules keeps it from the person."""
        return any(rule.hides for rule in self.rules)


OPERATOR = Person("", EVERYTHING)


def of(user: User) -> Person:
    """Return whom a view of `user` is explained for."""
    return Person(user.get_username(), ceilings.of(user))


def explain(
    wanted: str,
    *,
    documents: DocumentQuerySet,
    person: Person,
    requested: RetrievalScope = ANSWERS,
    with_files: bool = False,
) -> list[Explained]:
    """Say of each of `documents` that `wanted` means (a DOI, an id, a title) what keeps it from `person`.

    `documents` are those that whoever asks may know of; `with_files` also looks among files that could not
    be taken in. Empty when nothing of these is meant.
    """
    found = list(_meant(wanted, documents))
    if found:
        return [
            Explained(one.title, tuple(rules(one, person=person, requested=requested)), one) for one in found
        ]
    return [_file(item) for item in _files(wanted)] if with_files else []


def not_held(wanted: str, *, documents: DocumentQuerySet, knows_all: bool) -> Rule:
    """Return what is said of a thing that none of `documents` is."""
    doi = normalise_doi(wanted)
    citing = DocumentCitation.objects.filter(doi_normalised=doi, citing__in=documents.order_by().values("id"))
    count = citing.order_by().values("citing").distinct().count() if doi else 0
    words = (
        _("Nothing of this DOI, title or id was taken in.")
        if knows_all
        else _("Nothing of this DOI, title or id was taken in, or it is beyond your own ceiling.")
    )
    if count:
        words += " " + ngettext(
            "%(n)s document that is held cites it.", "%(n)s documents that are held cite it.", count
        ) % {"n": count}
    return Rule("not_held", words)


def rules(document: Document, *, person: Person, requested: RetrievalScope = ANSWERS) -> Iterator[Rule]:
    """Yield what applies to `document` for `person`, from what hides it from everyone to what moves it."""
    yield from _reading(document)
    yield from _ceiling(document, person)
    yield from _filters(document, requested)
    yield from _years(document, requested)
    if document.source is not None and document.source.is_retracted and requested.exclude_retracted:
        yield Rule(
            "retracted",
            _("Its work is retracted. Answers leave retracted work out unless somebody includes it."),
        )
    if document.status == Document.Status.SUPERSEDED:
        yield Rule(
            "superseded",
            _("A newer version took its place. It stands lower than that and is named beneath it."),
            hides=False,
        )


def _meant(wanted: str, documents: DocumentQuerySet) -> DocumentQuerySet:
    wanted = wanted.strip().replace("\0", "")
    ordered = documents.select_related("source").order_by("title", "id")
    identifier = _uuid(wanted)
    if identifier is not None:
        chunks = Chunk.objects.filter(public_id=identifier).values("document")
        return ordered.filter(Q(pk=identifier) | Q(pk__in=chunks))
    doi = normalise_doi(wanted)
    if doi is not None:
        is_work = Q(source__identifier_type="doi", source__identifier_value=doi)
        return ordered.filter(Q(doi_normalised=doi) | is_work)[:MOST_MATCHES]
    if len(wanted) < _SHORTEST_TITLE:
        return ordered.none()
    exact = ordered.filter(title__iexact=wanted)
    return (exact if exact.exists() else ordered.filter(title__icontains=wanted))[:MOST_MATCHES]


def _uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None


def _files(wanted: str) -> list[IngestionItem]:
    """Return the files called `wanted` that did not become documents, the last attempt of each."""
    outcome = IngestionItem.Outcome
    wanted = wanted.strip().replace("\0", "")
    meant = Q(described__title__iexact=wanted) | Q(path__iendswith=wanted)
    if doi := normalise_doi(wanted):
        meant |= Q(described__doi__iexact=doi)
    if len(wanted) < _SHORTEST_TITLE:
        return []
    rows = IngestionItem.objects.filter(
        meant, document__isnull=True, outcome__in=[outcome.FAILED, outcome.NEEDS_OCR, outcome.WAITING]
    ).order_by("-pk")
    return list({row.path: row for row in reversed(rows[: 4 * MOST_MATCHES])}.values())[-MOST_MATCHES:]


def _file(item: IngestionItem) -> Explained:
    words = {
        IngestionItem.Outcome.FAILED: _("It could not be taken in."),
        IngestionItem.Outcome.NEEDS_OCR: _("It is a scan: its text has to be recognised first."),
        IngestionItem.Outcome.WAITING: _("It waits to be taken in."),
    }[IngestionItem.Outcome(item.outcome)]
    return Explained(item.path, (Rule(item.outcome, f"{words} {item.detail}".strip()),))


def _reading(document: Document) -> Iterator[Rule]:
    match document.state:
        case Document.State.READY:
            return
        case Document.State.NEEDS_OCR:
            yield Rule("needs_ocr", _("It is a scan: its text has to be recognised first."))
        case Document.State.QUARANTINED:
            yield Rule("quarantined", _("It is held back until a librarian has read it."))
        case Document.State.FAILED:
            reason = f" ({document.state_reason})" if document.state_reason else ""
            yield Rule("failed", _("It could not be taken in%(reason)s.") % {"reason": reason})
        case _:
            yield Rule("waiting", _("It is being taken in."))


def _ceiling(document: Document, person: Person) -> Iterator[Rule]:
    ceiling = person.ceiling
    if ceiling == NOTHING:
        yield Rule("no_ceiling", _("The account is closed, or in no group that may see anything."))
        return
    if document.license_class not in ceiling.license_classes:
        allowed = " · ".join(LABELS[item] for item in ceiling.license_classes) or _("nothing")
        yield Rule(
            "licence",
            _("Its licence class is “%(held)s”; the ceiling allows: %(allowed)s.")
            % {"held": LABELS[LicenseClass(document.license_class)], "allowed": allowed},
        )
        until = document.embargoed_until
        if until is not None and until > timezone.localdate():
            yield Rule(
                "embargo",
                _("It is under embargo until %(day)s; a person decides on that day.") % {"day": until},
            )
    if ceiling.buckets is not None and document.bucket not in ceiling.buckets:
        yield Rule(
            "bucket_ceiling",
            _("Its collection, “%(bucket)s”, is beyond the ceiling.") % {"bucket": document.bucket},
        )


def _filters(document: Document, requested: RetrievalScope) -> Iterator[Rule]:
    """Yield the filters of the request itself, other than years and retraction, that leave it out."""
    names = document.authors_folded
    checks = {
        "license_classes": requested.license_classes is not None
        and document.license_class not in requested.license_classes,
        "buckets": requested.buckets is not None and document.bucket not in requested.buckets,
        "authors": requested.authors is not None and not any(name in names for name in requested.authors),
        "journals": requested.journals is not None and fold(document.journal) not in requested.journals,
        "exclude_document_ids": str(document.pk) in requested.exclude_document_ids,
        "exclude_dois": document.doi_normalised in requested.exclude_dois,
    }
    left_out = [name for name, applies in checks.items() if applies]
    if left_out:
        yield Rule("filters", _("The request leaves it out: %(names)s.") % {"names": ", ".join(left_out)})


def _years(document: Document, requested: RetrievalScope) -> Iterator[Rule]:
    first, last, year = requested.year_min, requested.year_max, document.year
    if first is None and last is None:
        return
    if year is None:
        yield Rule("no_year", _("It has no year, and the request is bounded by years."))
    elif (first is not None and year < first) or (last is not None and year > last):
        yield Rule("year", _("It is of %(year)s, outside the years asked for.") % {"year": year})
