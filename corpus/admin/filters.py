"""Filters of the list of documents."""

from __future__ import annotations

from typing import Any

from django.contrib.admin.filters import AllValuesFieldListFilter, SimpleListFilter
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from corpus.admin_base import covered_documents
from corpus.models import Document
from corpus.waiting import claimed_retractions


class StandingFilter(SimpleListFilter):
    """What has been said about the work."""

    title = gettext_lazy("standing")
    parameter_name = "standing"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        """Return the choices."""
        return [
            ("retracted", _("Retracted")),
            ("concern", _("Expression of concern")),
            ("corrected", _("Corrected")),
            ("superseded", _("Superseded")),
            ("claimed", _("Title says retracted, nothing asserts it")),
            ("changed", _("Changed since taken in")),
        ]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """Keep the documents of the chosen standing."""
        conditions = {
            "retracted": Q(source__is_retracted=True),
            "concern": Q(source__has_concern=True),
            "corrected": Q(source__is_corrected=True),
            "superseded": Q(status=Document.Status.SUPERSEDED),
            "claimed": Q(pk__in=claimed_retractions().values("pk")),
            "changed": ~Q(fixity=Document.Fixity.UNCHANGED),
        }
        return queryset.filter(conditions.get(self.value() or "", Q()))


class BucketFilter(AllValuesFieldListFilter):
    """Buckets of the documents the viewer may see, and no others."""

    def __init__(self, field: Any, request: HttpRequest, *args: Any, **kwargs: Any) -> None:
        super().__init__(field, request, *args, **kwargs)
        buckets = covered_documents(request).values_list("bucket", flat=True)
        self.lookup_choices = buckets.distinct().order_by("bucket")
