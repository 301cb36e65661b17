"""The page that keeps a document restricted until a day, or takes the day away, with a reason."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.template.response import TemplateResponse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from corpus.actions import embargoes
from corpus.actions.rights import PERMISSION, RightsError
from corpus.admin_base import TextInputWidget, covered_documents, license_badge
from corpus.models import Document

if TYPE_CHECKING:
    from django.contrib.admin import AdminSite


class DayWidget(TextInputWidget):
    """The browser's own way to choose a day; without one, it is typed."""

    input_type = "date"


class EmbargoForm(forms.Form):
    """The day, and why."""

    until = forms.DateField(
        label=gettext_lazy("Restricted until"),
        required=False,
        widget=DayWidget,
        help_text=gettext_lazy("A day to come, such as 2027-01-31. Then a person is asked again."),
    )
    reason = forms.CharField(
        label=gettext_lazy("Reason"),
        max_length=1000,
        widget=TextInputWidget,
        help_text=gettext_lazy("For whoever reads the log later."),
    )


def edit(request: HttpRequest, site: AdminSite, document_id: UUID) -> HttpResponse:
    """Show the form, or do what was decided in it."""
    if not request.user.has_perm(PERMISSION):
        raise PermissionDenied
    document = get_object_or_404(covered_documents(request), pk=document_id)
    initial = {"until": document.embargoed_until}
    form = EmbargoForm(request.POST if request.method == "POST" else None, initial=initial)
    if form.is_valid():
        try:
            messages.success(request, _done(request, document, form))
        except RightsError as refusal:
            form.add_error("until", str(refusal))
        else:
            return redirect("admin:corpus_document_change", document.pk)
    context = {
        **site.each_context(request),
        "title": _("Embargo of “%s”") % document.title,
        "opts": Document._meta,
        "document": document,
        "held": license_badge(document.license_class),
        "form": form,
    }
    status = 422 if form.errors else 200
    return TemplateResponse(request, "admin/corpus/embargo.html", context, status=status)


def _done(request: HttpRequest, document: Document, form: EmbargoForm) -> str:
    until, reason = form.cleaned_data["until"], form.cleaned_data["reason"]
    if "lift" in request.POST:
        embargoes.lift(document=document, by=request.user, reason=reason)  # type: ignore[arg-type]
        return _("The embargo is lifted. The class stays as it is.")
    if until is None:
        raise RightsError(_("Say until which day."))
    embargoes.embargo(document=document, until=until, by=request.user, reason=reason)  # type: ignore[arg-type]
    return _("It is restricted until %s.") % f"{until:%Y-%m-%d}"
