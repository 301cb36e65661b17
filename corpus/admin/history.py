"""The history tab: what changed, who did it and why, from the events the database recorded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from django.apps import apps
from django.contrib.admin.utils import unquote
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db.models import Model
from django.http import Http404, HttpRequest
from django.template.response import TemplateResponse
from django.utils.translation import gettext as _

if TYPE_CHECKING:
    from django.contrib.admin import ModelAdmin as _Base
else:
    _Base = object

# Pages of history nobody turns; the log of decisions and the database hold the rest.
_LIMIT = 500


@dataclass(frozen=True, slots=True)
class Change:
    """One recorded event: when, by whom, why, and each field from what to what."""

    when: datetime
    what: str
    who: str
    why: str
    fields: tuple[tuple[str, Any, Any], ...]


class HistoryAdmin(_Base):  # type: ignore[type-arg]
    """Adds the history of the tracked fields to a screen. `event_model` names where it is kept."""

    event_model: str

    def history_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> TemplateResponse:
        """Show what was recorded about one row, the newest first."""
        row = self.get_object(request, unquote(object_id))
        if row is None:
            raise Http404
        if not self.has_view_or_change_permission(request, row):
            raise PermissionDenied
        context = {
            **self.admin_site.each_context(request),
            "title": _("History of %s") % row,
            "opts": self.opts,
            "object": row,
            "changes": list(reversed(list(_changes(apps.get_model(self.event_model), row)))),
            **(extra_context or {}),
        }
        return TemplateResponse(request, "admin/event_history.html", context)


def _changes(event_model: type[Any], row: Model) -> Iterator[Change]:
    events = event_model._default_manager.filter(pgh_obj_id=row.pk).select_related("pgh_context")
    newest_first = list(events.order_by("-pgh_id")[:_LIMIT])
    names = _names(newest_first)
    tracked = [field for field in event_model._meta.fields if not field.name.startswith(("pgh_", "id"))]
    previous: Any = None
    for event in reversed(newest_first):
        metadata = event.pgh_context.metadata if event.pgh_context else {}
        yield Change(
            when=event.pgh_created_at,
            what={"insert": _("Created"), "delete": _("Removed")}.get(event.pgh_label, _("Changed")),
            who=names.get(metadata.get("user")) or str(metadata.get("process") or _("the system")),
            why=str(metadata.get("reason") or ""),
            fields=() if previous is None else tuple(_differences(tracked, previous, event)),
        )
        previous = event


def _differences(tracked: Sequence[Any], before: Any, after: Any) -> Iterator[tuple[str, Any, Any]]:
    for field in tracked:
        old, new = getattr(before, field.attname), getattr(after, field.attname)
        if old != new:
            choices = dict(field.flatchoices)
            yield field.verbose_name, choices.get(old, old), choices.get(new, new)


def _names(events: Sequence[Any]) -> dict[Any, str]:
    ids = {event.pgh_context.metadata.get("user") for event in events if event.pgh_context}
    return dict(User.objects.filter(pk__in=ids - {None}).values_list("pk", "username"))
