"""The page on which a librarian reads what a document says to machines, holds it back or lets it go."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.template.response import TemplateResponse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from corpus import places, resting
from corpus.actions import quarantine
from corpus.actions.quarantine import QuarantineError
from corpus.admin_base import TextInputWidget, covered_documents
from corpus.models import Document
from corpus.parsing.hidden import How
from corpus.places import Place
from corpus.signed_in import person
from corpus.suspicion import Kind

if TYPE_CHECKING:
    from django.contrib.admin import AdminSite

PERMISSION = "corpus.change_document"
MOST_SHOWN = 50
_KINDS = {
    Kind.ORDER: gettext_lazy("An order to a model"),
    Kind.ENCODED_ORDER: gettext_lazy("An order to a model, encoded"),
    Kind.DISGUISED_ORDER: gettext_lazy("An order to a model, disguised"),
    Kind.HIDDEN_CHARACTERS: gettext_lazy("Characters that nobody sees"),
    Kind.HIDDEN_TEXT: gettext_lazy("Text that nobody sees"),
}
_HOW = {
    How.SAME_COLOUR: gettext_lazy("in the colour of its ground"),
    How.NO_INK: gettext_lazy("without ink"),
    How.TINY: gettext_lazy("too small to be read"),
    How.OFF_PAGE: gettext_lazy("outside the page"),
    How.MARKED: gettext_lazy("marked as hidden"),
    How.NOT_DISPLAYED: gettext_lazy("not displayed"),
}


class ReasonForm(forms.Form):
    """Why."""

    reason = forms.CharField(
        label=gettext_lazy("Reason"),
        max_length=1000,
        widget=TextInputWidget,
        help_text=gettext_lazy("For whoever reads the history later."),
    )


def edit(request: HttpRequest, site: AdminSite, document_id: object) -> HttpResponse:
    """Show the places and the form, or do what was decided in it."""
    if not request.user.has_perm(PERMISSION):
        raise PermissionDenied
    document = get_object_or_404(covered_documents(request), pk=document_id)
    form = ReasonForm(request.POST if request.method == "POST" else None)
    if form.is_valid():
        try:
            messages.success(request, _done(request, document, form.cleaned_data["reason"]))
        except QuarantineError as refusal:
            form.add_error("reason", str(refusal))
        else:
            return redirect("admin:corpus_document_change", document.pk)
    rows, count = resting.on(document, person(request), most=MOST_SHOWN)
    context = {
        **site.each_context(request),
        "title": _("What “%s” says to machines") % document.title,
        "opts": Document._meta,
        "document": document,
        "is_held": document.state == Document.State.QUARANTINED,
        "places": _places(document),
        "resting": rows,
        "resting_count": count,
        "form": form,
    }
    status = 422 if form.errors else 200
    return TemplateResponse(request, "admin/corpus/quarantine.html", context, status=status)


def _places(document: Document) -> list[tuple[str, str, str]]:
    """Return the suspicious places: what it is, where it stands, and the words."""
    return [(str(_KINDS[one.kind]), _where(one), one.quote) for one in places.of(document)[:MOST_SHOWN]]


def _where(place: Place) -> str:
    """Say where a place stands, and how it was hidden."""
    page = _("page %(n)s") % {"n": place.page} if place.page is not None else ""
    how = str(_HOW[place.how]) if place.how is not None else ""
    return ", ".join(part for part in (place.locator, how, page) if part)


def _done(request: HttpRequest, document: Document, reason: str) -> str:
    by = request.user
    if "release" in request.POST:
        quarantine.release(document=document, by=by, reason=reason)  # type: ignore[arg-type]
        return _("It is searched again.")
    quarantine.hold(document=document, by=by, reason=reason)  # type: ignore[arg-type]
    return _(
        "It is held back from every search, page and answer. Answers that cite it do not show their text."
    )
