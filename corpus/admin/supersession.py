"""The page that names a document's successor, or takes it back."""

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

from corpus.actions.supersession import SupersessionError, supersede, undo
from corpus.admin_base import AutocompleteWidget, TextInputWidget, covered_documents
from corpus.models import Document

if TYPE_CHECKING:
    from django.contrib.admin import AdminSite


class SuccessorForm(forms.Form):
    """Which document takes the place of this one, and why."""

    successor = forms.ModelChoiceField(label=gettext_lazy("Successor"), queryset=Document.objects.none())
    note = forms.CharField(
        label=gettext_lazy("Reason"), required=False, max_length=1000, widget=TextInputWidget
    )

    def __init__(self, *args: object, request: HttpRequest, site: AdminSite, old: Document) -> None:
        super().__init__(*args)  # type: ignore[arg-type]
        field = Document._meta.get_field("superseded_by")
        candidates = covered_documents(request).exclude(pk=old.pk)
        self.fields["successor"] = forms.ModelChoiceField(
            label=_("Successor"), queryset=candidates, widget=AutocompleteWidget(field, site)
        )


def choose_successor(request: HttpRequest, site: AdminSite, document_id: UUID) -> HttpResponse:
    """Show the form, or record or undo what was chosen in it."""
    if not request.user.has_perm("corpus.change_document"):
        raise PermissionDenied
    document = get_object_or_404(covered_documents(request), pk=document_id)
    if request.method == "POST" and "undo" in request.POST:
        undo(document=document, by=request.user)  # type: ignore[arg-type]
        messages.success(request, _("The document is current again."))
        return redirect("admin:corpus_document_change", document.pk)
    data = [request.POST] if request.method == "POST" else []
    form = SuccessorForm(*data, request=request, site=site, old=document)
    if data and form.is_valid():
        try:
            supersede(
                old=document,
                new=form.cleaned_data["successor"],
                by=request.user,  # type: ignore[arg-type]
                note=form.cleaned_data["note"],
            )
        except SupersessionError as refusal:
            form.add_error("successor", str(refusal))
        else:
            messages.success(request, _("Recorded. The document is shown after its successor from now on."))
            return redirect("admin:corpus_document_change", document.pk)
    context = {
        **site.each_context(request),
        "title": _("Successor of “%s”") % document.title,
        "opts": Document._meta,
        "document": document,
        "form": form,
        "media": form.media,
    }
    status = 422 if form.errors else 200
    return TemplateResponse(request, "admin/corpus/successor.html", context, status=status)
