"""The page that changes the licence class of one document or a thousand, after showing the effects."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode
from uuid import UUID

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.html import format_html
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from corpus.actions.rights import PERMISSION, RightsError, effects, set_license
from corpus.admin_base import TextareaWidget, TextInputWidget, covered_documents, license_badge
from corpus.models import LICENSE_CHOICES, Document, RightsDecision
from corpus.querysets import DocumentQuerySet
from corpus.rights import LicenseClass, parse_class, raises

if TYPE_CHECKING:
    from django.contrib.admin import AdminSite

# Far more than anybody reviews at once, and within what a form may carry.
LIMIT = 20_000
# Titles listed on the page; the rest is counted.
_LISTED = 50


class DocumentIds(forms.Field):
    """The documents the page was opened for: one field, since forms hold a thousand fields at most."""

    widget = forms.HiddenInput

    def to_python(self, value: Any) -> list[UUID]:
        """Read ids joined by commas."""
        try:
            return [UUID(text) for text in str(value or "").split(",") if text]
        except ValueError:
            raise ValidationError(_("These are not documents.")) from None


class LicenseForm(forms.Form):
    """What a person says when they decide on rights."""

    documents = DocumentIds(required=False)
    license_class = forms.ChoiceField(
        label=gettext_lazy("New licence class"), choices=LICENSE_CHOICES, widget=forms.RadioSelect
    )
    evidence = forms.CharField(
        label=gettext_lazy("Evidence"),
        required=False,
        max_length=4000,
        widget=TextareaWidget(attrs={"rows": 3}),
        help_text=gettext_lazy(
            "The address of the licence or a quotation of it. Needed when the change allows more than before."
        ),
    )
    note = forms.CharField(
        label=gettext_lazy("Reason"),
        required=False,
        max_length=1000,
        widget=TextInputWidget,
        help_text=gettext_lazy("For whoever reads the log later."),
    )


def ask(request: HttpRequest, site: AdminSite, documents: list[UUID]) -> HttpResponse:
    """Show what each class would do to `documents`, with the form to decide."""
    form = LicenseForm(initial={"documents": ",".join(str(pk) for pk in documents)})
    return _page(request, site, form, documents)


def change_license(request: HttpRequest, site: AdminSite) -> HttpResponse:
    """Show the form for the documents named in the address, or apply what was decided in it."""
    if not request.user.has_perm(PERMISSION):
        raise PermissionDenied
    if request.method != "POST":
        try:
            return ask(request, site, DocumentIds().to_python(request.GET.get("documents")))
        except ValidationError:
            raise Http404 from None
    form = LicenseForm(request.POST)
    form.full_clean()
    documents = form.cleaned_data.get("documents", [])
    if form.is_valid():
        try:
            return _apply(request, form.cleaned_data)
        except RightsError as refusal:
            form.add_error("evidence", str(refusal))
    return _page(request, site, form, documents)


def _apply(request: HttpRequest, decided: dict[str, Any]) -> HttpResponse:
    changed = set_license(
        documents=_documents(request, decided["documents"]),
        license_class=decided["license_class"],
        by=request.user,  # type: ignore[arg-type]
        evidence=decided["evidence"],
        note=decided["note"],
    )
    if changed:
        messages.success(request, _report(request, changed))
    else:
        messages.info(request, _("Every one of these documents had that class already."))
    return redirect("admin:corpus_document_changelist")


def _report(request: HttpRequest, changed: int) -> str:
    newest = RightsDecision.objects.filter(decided_by=request.user.pk).latest("decided_at", "id")
    log = reverse("admin:corpus_rightsdecision_changelist")
    batch = urlencode({"decided_at__exact": newest.decided_at.isoformat(), "decided_by": request.user.pk})
    return format_html(
        '{} <a href="{}?{}">{}</a>',
        ngettext(
            "The licence of %(count)d document was changed.",
            "The licences of %(count)d documents were changed.",
            changed,
        )
        % {"count": changed},
        log,
        batch,
        ngettext("See the decision", "See the decisions", changed),
    )


def _documents(request: HttpRequest, ids: list[UUID]) -> DocumentQuerySet:
    documents = covered_documents(request).filter(pk__in=ids)
    # One rule for what is not there and what may not be seen, and for one such among many.
    if not ids or documents.count() != len(set(ids)):
        raise Http404
    return documents


def _page(request: HttpRequest, site: AdminSite, form: LicenseForm, ids: list[UUID]) -> HttpResponse:
    documents = _documents(request, ids)
    classes = list(documents.values_list("license_class", flat=True))
    listed = documents.only("title", "license_class").order_by("license_class", "title", "id")[:_LISTED]
    context = {
        **site.each_context(request),
        "title": _("Change licences"),
        "opts": Document._meta,
        "form": form,
        "count": len(classes),
        "choices": [_choice(item, classes, form) for item in LicenseClass],
        "listed": [(document, license_badge(document.license_class)) for document in listed],
        "unlisted": max(0, len(classes) - _LISTED),
    }
    status = 422 if form.errors else 200
    return TemplateResponse(request, "admin/corpus/change_license.html", context, status=status)


def _choice(license_class: LicenseClass, classes: list[str], form: LicenseForm) -> dict[str, Any]:
    return {
        "value": license_class.value,
        "badge": license_badge(license_class),
        "effects": effects(classes, license_class),
        "checked": form["license_class"].value() == license_class.value,
        "needs_evidence": any(raises(parse_class(name), license_class) for name in set(classes)),
    }
