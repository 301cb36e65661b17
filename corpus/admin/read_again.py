"""The page that has a document's original read again, by the usual parser or another."""

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

from corpus import reparsing
from corpus.admin_base import covered_documents
from corpus.models import Document
from corpus.parsing import parsers

if TYPE_CHECKING:
    from django.contrib.admin import AdminSite

# Reading again replaces text as taking in adds it.
PERMISSIONS = ("corpus.change_document", "corpus.add_ingestionrun")


class ParserForm(forms.Form):
    """Which parser is to read."""

    parser = forms.ChoiceField(label=gettext_lazy("Parser"), required=False)

    def __init__(self, *args: object, document: Document) -> None:
        super().__init__(*args)  # type: ignore[arg-type]
        choices = [("", _("The usual one")), *((name, name) for name in parsers.of(document.media_type))]
        self.fields["parser"] = forms.ChoiceField(label=_("Parser"), required=False, choices=choices)


def read_again(request: HttpRequest, site: AdminSite, document_id: UUID) -> HttpResponse:
    """Show the form, or hand the document to the workers."""
    if not request.user.has_perms(PERMISSIONS):
        raise PermissionDenied
    document = get_object_or_404(covered_documents(request), pk=document_id)
    data = [request.POST] if request.method == "POST" else []
    form = ParserForm(*data, document=document)
    if data and form.is_valid():
        run = reparsing.enqueue(
            document_ids=[document.pk],
            parser=form.cleaned_data["parser"],
            by=request.user,  # type: ignore[arg-type]
        )
        messages.success(request, _("The worker reads it again. What becomes of it stands on the run."))
        return redirect("admin:corpus_ingestionrun_change", run.pk)
    context = {
        **site.each_context(request),
        "title": _("Read “%s” again") % document.title,
        "opts": Document._meta,
        "document": document,
        "form": form,
    }
    return TemplateResponse(
        request, "admin/corpus/read_again.html", context, status=422 if form.errors else 200
    )
