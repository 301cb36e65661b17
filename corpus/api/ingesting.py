"""Sending files by key, and following the run that takes them in."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import Http404, HttpResponse, QueryDict
from pydantic import Field
from rest_framework.request import Request

from corpus import run_pages, uploads
from corpus.actions import rights
from corpus.api.problems import Code, Problem, invalid
from corpus.api.requests import FilesParser, Paging, Whole
from corpus.api.schema import Operation, describes
from corpus.api.shapes import FileLine, Ingested, Run, RunFile
from corpus.api.views import ApiView, reply
from corpus.forms import UploadForm
from corpus.gateways.embedding import EmbeddingError
from corpus.keys.permissions import Permission
from corpus.models import IngestionItem, IngestionRun
from corpus.rights import ALL_CLASSES
from corpus.upload_handlers import MOST_FILES

_TAG = "Taking in"
_SEE_RUNS = "corpus.view_ingestionrun"
_FILES = "files"
_FIELDS = ("title", "bucket", "license_class", "license_source")
_BODY = {
    "multipart/form-data": {
        "type": "object",
        "additionalProperties": False,
        "required": [_FILES],
        "properties": {
            _FILES: {
                "type": "array",
                "minItems": 1,
                "maxItems": MOST_FILES,
                "items": {"type": "string", "format": "binary"},
            },
            "title": {"type": "string", "description": "Of a single file."},
            "bucket": {"type": "string"},
            "license_class": {"type": "string", "enum": [str(item) for item in ALL_CLASSES]},
            "license_source": {"type": "string", "description": "The evidence for an open class."},
        },
    }
}


class IngestView(ApiView):
    """Where files go in."""

    permissions = {"POST": Permission.WRITE}
    parser_classes = (FilesParser,)

    @describes(
        Operation(
            "ingest",
            "Send files to the corpus",
            Ingested,
            _TAG,
            more="The key's owner must be allowed to take files in. Workers read the files; follow the run.",
            body=_BODY,
            status=202,
            codes=(Code.LLM_UNAVAILABLE, Code.NO_ROOM),
        )
    )
    def post(self, request: Request) -> HttpResponse:
        """Hand the good files to the workers, and say what became of each."""
        user = self.caller.user
        self.require_right(uploads.PERMISSION)
        form = self._form(request)
        files, away = uploads.sent(request, _FILES)
        if not files and not away:
            raise invalid("Send at least one file.", where=_FILES)
        try:
            run, lines = uploads.take(files, described=form.described(with_title=len(files) == 1), by=user)
        except EmbeddingError as error:
            raise Problem(Code.LLM_UNAVAILABLE, str(error)) from None
        told = [_line(line) for line in [*lines, *away]]
        return reply(Ingested(run=None if run is None else run.pk, files=told), status=202)

    def _form(self, request: Request) -> UploadForm:
        data = request.data
        if not isinstance(data, QueryDict):
            raise invalid("Send a form with files, with the content type multipart/form-data.")
        names = set(data)
        if unknown := sorted(names - {*_FIELDS, _FILES}):
            raise invalid("There is no such field.", where=ascii(unknown[0][:80])[1:-1])
        if any(len(data.getlist(name)) > 1 for name in names - {_FILES}):
            raise invalid("A field occurs more than once.")
        if set(request.FILES) - {_FILES}:
            raise invalid("Files go into this field.", where=_FILES)
        form = UploadForm(data, may_declare=self.caller.user.has_perm(rights.PERMISSION))
        if not form.is_valid():
            name, errors = next(iter(form.errors.items()))
            raise invalid(str(errors[0]), where=str(name))
        return form


class RunParameters(Paging):
    """Which of the run's files."""

    page_size: Whole = Field(default=100, ge=1, le=100, description="How many a page has.")


class OneRun(ApiView):
    """A run that takes files in."""

    permissions = {"GET": Permission.READ}
    parameters = RunParameters

    @describes(
        Operation(
            "get_run",
            "Follow a run",
            Run,
            _TAG,
            more="The key's owner must be allowed to see runs.",
            parameters=RunParameters,
            codes=(Code.NOT_FOUND,),
        )
    )
    def get(self, request: Request, run_id: UUID) -> HttpResponse:
        """Show how far it is, and what became of each file that the key may know of."""
        user, wanted = self.caller.user, self.wanted(RunParameters)
        if not user.has_perm(_SEE_RUNS):
            # As on the pages: to whom runs are closed, there are none.
            raise Http404
        run = run_pages.find(run_id)
        if run is None:
            raise Http404
        return reply(_run(run, run_pages.rows(run, user), run_pages.progress(run, user).counts, wanted))


def _run(run: IngestionRun, rows: Any, counts: dict[str, int], wanted: Paging) -> Run:
    return Run(
        id=run.pk,
        state=run.state,
        started_at=run.started_at,
        finished_at=run.finished_at,
        counts=counts,
        count=sum(counts.values()),
        page=wanted.page,
        page_size=wanted.page_size,
        items=[_file(item) for item in rows[wanted.part]],
    )


def _file(item: IngestionItem) -> RunFile:
    return RunFile(
        path=item.path,
        outcome=item.outcome,
        reason=item.reason,
        detail=item.detail,
        document=item.document_id,
    )


def _line(line: uploads.Line) -> FileLine:
    return FileLine(
        name=line.name,
        verdict=line.verdict.value,
        code=line.code,
        detail=line.detail,
        document=None if line.document is None else line.document.pk,
    )
