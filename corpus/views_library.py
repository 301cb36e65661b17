"""Importing the library of a reference manager in the browser: first a preview, then the run."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from django.conf import settings
from django.contrib.auth.decorators import login_required, permission_required
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from corpus import library_upload, uploads
from corpus.bibliography.unpacking import LIBRARY_EXTENSIONS, Unusable
from corpus.forms import LibraryForm
from corpus.gateways.embedding import EmbeddingError
from corpus.library_upload import EMPTY, Examined, Taken
from corpus.signed_in import person
from corpus.uploads import Sent


@login_required
@permission_required(uploads.PERMISSION, raise_exception=True)
@require_http_methods(["GET", "HEAD", "POST"])
def upload_library(request: HttpRequest) -> HttpResponse:
    """Show what importing a library would do; import it when asked, and go to the run."""
    if request.method != "POST":
        return _page(request, LibraryForm(), EMPTY)
    user = person(request)
    form = LibraryForm(request.POST)
    token, file, error = _chosen(request)
    if file is None or not form.is_valid():
        known = Examined(name=file.name if file else "", token=token, error=error)
        return _page(request, form, known, status=422)
    encoding = form.cleaned_data["encoding"]
    if request.POST.get("do") == "take":
        return _take(request, form, file, token)
    found = library_upload.examine(file, token=token, encoding=encoding, by=user)
    return _page(request, form, found, status=422 if found.error else 200)


def _take(request: HttpRequest, form: LibraryForm, file: Sent, token: str) -> HttpResponse:
    user, encoding = person(request), form.cleaned_data["encoding"]
    try:
        taken = library_upload.take(file, encoding=encoding, bucket=form.cleaned_data["bucket"], by=user)
    except Unusable as unusable:
        found = Examined(name=file.name, token=token, error=str(unusable), code=unusable.code)
        return _page(request, form, found, status=422)
    except EmbeddingError as failure:
        found = library_upload.examine(file, token=token, encoding=encoding, by=user)
        return _page(request, form, replace(found, error=str(failure)), status=503)
    if taken.run is not None:
        return HttpResponseRedirect(reverse("run", args=[taken.run.pk]))
    return _page(request, LibraryForm(), EMPTY, taken=taken)


def _chosen(request: HttpRequest) -> tuple[str, Sent | None, str]:
    """Return the file a form means, one sent now before one that is kept, and what is wrong about it."""
    user = person(request)
    wanted = request.POST.getlist("kept")[:1]
    kept = next(iter(uploads.kept(wanted, by=user).values()), None)
    files, away = uploads.sent(request, "library")
    if files and not away:
        return uploads.keep(files[0], by=user), files[0], ""
    if away:
        token = kept[0] if kept else ""
        return token, None, f"{away[0].name}: {away[0].detail}"
    if kept is not None:
        return *kept, ""
    if any(wanted):
        return "", None, _("The file is not kept any more. Choose it again.")
    return "", None, _("Choose the file of a library, or a ZIP of it with its files.")


def _page(
    request: HttpRequest,
    form: LibraryForm,
    found: Examined,
    *,
    taken: Taken | None = None,
    status: int = 200,
) -> HttpResponse:
    context: dict[str, Any] = {
        "form": form,
        "found": found,
        "taken": taken,
        "accept": ",".join([*LIBRARY_EXTENSIONS, ".zip"]),
        "max_mb": settings.SCI_RAG_MAX_UPLOAD_MB,
        "max_library_mb": library_upload.MOST_LIBRARY_BYTES // 1_000_000,
    }
    return render(request, "corpus/upload_library.html", context, status=status)
