"""What a scope means for one reader, in words and counts, for the chips above the question."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlencode

from django.contrib.auth.models import User
from django.utils.formats import date_format
from django.utils.translation import gettext as _

from answers.forms import pairs
from corpus import browsing, ceilings
from corpus.models import Chunk, Document
from corpus.rights import LABELS, LicenseClass
from corpus.scope import RetrievalScope


@dataclass(frozen=True, slots=True)
class Chip:
    """One condition in effect; `without` is the query string that drops it, None when it cannot go."""

    label: str
    value: str
    without: str | None = None
    denies: bool = False


@dataclass(frozen=True, slots=True)
class ScopeView:
    """Everything the scope line and its controls show."""

    chips: tuple[Chip, ...]
    documents: int
    passages: int
    classes: tuple[LicenseClass, ...]
    buckets: tuple[browsing.Facet, ...]
    corpus_documents: int
    query: str

    def license_choices(self, requested: RetrievalScope) -> list[dict[str, object]]:
        """Return a box for each class the reader may see, ticked as asked."""
        ticked = requested.license_classes or ()
        return [{"value": c.value, "label": LABELS[c], "checked": c in ticked} for c in self.classes]


def describe(user: User, requested: RetrievalScope) -> ScopeView:
    """Count and word what `user` would search with `requested`. Counts are within the ceiling."""
    ceiling = ceilings.effective_scope(user, RetrievalScope())
    effective = ceilings.effective_scope(user, requested)
    visible = Document.objects.within(ceiling)
    allowed = ceiling.license_classes
    return ScopeView(
        chips=tuple(_chips(requested, effective)),
        documents=Document.objects.within(effective).count(),
        passages=Chunk.objects.within(effective).count(),
        classes=tuple(LABELS) if allowed is None else allowed,
        buckets=tuple(browsing.bucket_facets(visible)),
        corpus_documents=visible.count(),
        query=urlencode(pairs(requested)),
    )


def _chips(requested: RetrievalScope, effective: RetrievalScope) -> list[Chip]:
    def dropping(*names: str) -> str:
        return urlencode(pairs(requested, without=names))

    chips = [_rights_chip(requested, effective, dropping("rights", "license_class"))]
    if requested.buckets is not None:
        without = dropping("collections", "bucket")
        names = ", ".join(effective.buckets or ())
        chips.append(Chip(_("Collections"), names or _("none chosen"), without, denies=not names))
    if (years := _years(requested)) is not None:
        chips.append(Chip(_("Years"), years, dropping("year_min", "year_max")))
    if requested.as_of is not None:
        chips.append(Chip(_("As of"), date_format(requested.as_of, "j F Y"), dropping("as_of")))
    if requested.exclude_retracted:
        chips.append(Chip(_("Retracted work"), _("left out")))
    else:
        chips.append(Chip(_("Retracted work"), _("included"), dropping("include_retracted")))
    return chips


def _rights_chip(requested: RetrievalScope, effective: RetrievalScope, without: str) -> Chip:
    removable = None if requested.license_classes is None else without
    if effective.license_classes is None:
        return Chip(_("Rights"), _("all classes"), removable)
    if not effective.license_classes:
        return Chip(_("Rights"), _("nothing allowed"), removable, denies=True)
    names = " · ".join(LABELS[item] for item in effective.license_classes)
    if requested.license_classes is None:
        everything = set(effective.license_classes) == set(LABELS)
        return Chip(
            _("Rights"),
            _("all classes") if everything else _("all you may see ({names})").format(names=names),
        )
    return Chip(_("Rights"), names, removable)


def _years(requested: RetrievalScope) -> str | None:
    first, last = requested.year_min, requested.year_max
    if first is None and last is None:
        return None
    if first is None:
        return _("up to {last}").format(last=last)
    return _("from {first}").format(first=first) if last is None else f"{first}–{last}"
