"""Sending files to the corpus: many at once, one by one with progress, or with a manifest."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib.auth.decorators import login_required, permission_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from corpus import browsing, ceilings, manifest_upload, uploads
from corpus.actions import rights
from corpus.forms import UploadForm
from corpus.gateways.embedding import EmbeddingError
from corpus.models import Document, IngestionRun
from corpus.parsing.media_types import BY_EXTENSION
from corpus.scope import RetrievalScope
from corpus.signed_in import person
from corpus.upload_handlers import MOST_FILES
from corpus.uploads import Line, Verdict

_may_take_in = permission_required(uploads.PERMISSION, raise_exception=True)


@login_required
@_may_take_in
@require_http_methods(["GET", "HEAD", "POST"])
def upload(request: HttpRequest) -> HttpResponse:
    """Show the form; take the files of one post in and say what became of each."""
    user = person(request)
    form = _form(request)
    if request.method != "POST":
        return _page(request, form)
    files, lines = uploads.sent(request)
    if not files and not lines:
        form.add_error(None, _("No file was sent. Choose at least one."))
    if not form.is_valid():
        return _page(request, form, status=422)
    try:
        run, taken = uploads.take(files, described=form.described(with_title=len(files) == 1), by=user)
    except EmbeddingError as error:
        form.add_error(None, str(error))
        return _page(request, form, status=503)
    return _page(request, form, lines=[*taken, *lines], run=run)


@login_required
@_may_take_in
@require_POST
def upload_file(request: HttpRequest) -> HttpResponse:
    """Take one file in and answer with its line: what the upload page asks for each file with JavaScript."""
    user = person(request)
    form = _form(request)
    files, lines = uploads.sent(request)
    run = uploads.own_run(request.POST.get("run", ""), by=user)
    status = 200
    if not form.is_valid():
        words = " ".join(str(error) for errors in form.errors.values() for error in errors)
        lines, status = [_refused(files, "invalid_field", words)], 422
    elif files:
        described = form.described(with_title=request.POST.get("single") == "1")
        try:
            run, lines = uploads.take(files[:1], described=described, by=user, run=run)
        except EmbeddingError as error:
            lines, status = [_refused(files, "embedding_failed", str(error))], 503
    elif not lines:
        lines, status = [_refused([], "no_file", _("No file arrived."))], 422
    context = {"line": lines[0], "run": run, "run_address": run_address(run)}
    return render(request, "components/upload_line.html", context, status=status)


@login_required
@_may_take_in
@require_http_methods(["GET", "HEAD", "POST"])
def upload_manifest(request: HttpRequest) -> HttpResponse:
    """Check a manifest with the files it names; take them in when it is right, or its good lines if asked."""
    user = person(request)
    if request.method != "POST":
        return _manifest_page(request, manifest_upload.EMPTY)
    found = manifest_upload.examine(request, by=user)
    wish = request.POST.get("do", "check")
    if found.error or wish == "check" or not found.may_take(good_lines_only=wish == "take_good"):
        return _manifest_page(request, found, status=422 if found.error or found.has_problems else 200)
    try:
        run = uploads.take_entries(found.entries, by=user)
    except EmbeddingError as error:
        return _manifest_page(request, found.with_error(str(error)), status=503)
    return _manifest_page(request, found, run=run)


def run_address(run: IngestionRun | None) -> str:
    """Return where a run can be followed."""
    return "" if run is None else reverse("run", args=[run.pk])


def _form(request: HttpRequest) -> UploadForm:
    data = request.POST if request.method == "POST" else None
    return UploadForm(data, may_declare=person(request).has_perm(rights.PERMISSION))


def _refused(files: list[uploads.Sent], code: str, detail: str) -> Line:
    return Line(files[0].name if files else "", Verdict.REFUSED, code, detail)


def _page(
    request: HttpRequest,
    form: UploadForm,
    *,
    lines: list[Line] | None = None,
    run: IngestionRun | None = None,
    status: int = 200,
) -> HttpResponse:
    visible = Document.objects.within(ceilings.effective_scope(request.user, RetrievalScope()))
    context: dict[str, Any] = {
        "form": form,
        "lines": lines,
        "run": run,
        "run_address": run_address(run),
        "buckets": browsing.bucket_facets(visible),
        "may_declare": request.user.has_perm(rights.PERMISSION),
    }
    return render(request, "corpus/upload.html", context | _limits(), status=status)


def _manifest_page(
    request: HttpRequest,
    found: manifest_upload.Examined,
    *,
    run: IngestionRun | None = None,
    status: int = 200,
) -> HttpResponse:
    context = {"found": found, "run": run, "run_address": run_address(run)} | _limits()
    return render(request, "corpus/upload_manifest.html", context, status=status)


def _limits() -> dict[str, Any]:
    return {
        "max_mb": settings.SCI_RAG_MAX_UPLOAD_MB,
        "max_bytes": settings.SCI_RAG_MAX_UPLOAD_MB * 1_000_000,
        "max_files": MOST_FILES,
        "extensions": ",".join(sorted(BY_EXTENSION)),
        "extensions_in_words": ", ".join(sorted(BY_EXTENSION)),
    }
